//! The nearest known name to one that is not known, for error messages.

/// The candidate that is closest to `name`, if any is close enough to be meant.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wanted = name.to_lowercase();
    candidates
        .into_iter()
        .map(|candidate| (similarity(&wanted, &candidate.to_lowercase()), candidate))
        .filter(|(similarity, _)| *similarity > 0.75)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
}

/// 1 for equal names, 0 for names that have nothing in common. A name that is part of the other is likely meant (`auc`).
fn similarity(wanted: &str, candidate: &str) -> f64 {
    let contained =
        wanted.len() > 2 && (candidate.contains(wanted) || wanted.contains(candidate) && candidate.len() > 2);
    // Two letters exchanged are one slip, which weighs too much in short names.
    let slips = strsim::normalized_damerau_levenshtein(wanted, candidate) + 0.1;
    let letters = strsim::jaro_winkler(wanted, candidate).max(slips);
    if contained { letters.max(0.9) } else { letters }
}

/// What to do about an unknown name: the nearest one, or the list of known ones.
pub fn suggestion<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    let candidates: Vec<&str> = candidates.into_iter().collect();
    match nearest(name, candidates.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None if candidates.is_empty() => "there is none to choose from".to_string(),
        None => format!("choose one of {}", listed(&candidates)),
    }
}

/// Names in back quotes, at most twenty of them.
pub fn listed(names: &[&str]) -> String {
    let shown: Vec<String> = names.iter().take(20).map(|name| format!("`{name}`")).collect();
    let more = names.len().saturating_sub(20);
    let tail = if more > 0 { format!(" and {more} more") } else { String::new() };
    shown.join(", ") + &tail
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggests_what_was_probably_meant() {
        assert_eq!(nearest("roc_acu", ["roc_auc", "rmse"]), Some("roc_auc"));
        assert_eq!(nearest("Click", ["click", "score"]), Some("click"));
        assert_eq!(nearest("auc", ["mae", "roc_auc"]), Some("roc_auc"));
        assert_eq!(nearest("dri", ["dir", "predictions"]), Some("dir"));
        assert_eq!(nearest("zzz", ["click", "score"]), None);
        assert_eq!(suggestion("zzz", ["click", "score"]), "choose one of `click`, `score`");
    }
}
