//! Merging the partials of shards: the same results as one process would give, or the reason why they do not belong together.

use std::path::{Path, PathBuf};

use fuseval_core::{Error, Partial, Result};

use crate::evaluation::{Computed, Facts, evaluated};
use crate::partial_file::{Description, PartialFile};
use crate::{Evaluation, RunDirectory};

/// Merges the partials in files, and reports. With a directory the results are written there too, as a run would write them.
pub fn merge(paths: &[PathBuf], threads: usize, directory: Option<&Path>) -> Result<Evaluation> {
    let computed = states(paths)?;
    match directory {
        Some(place) => RunDirectory::fresh(place)?.finish(computed, threads),
        None => evaluated(computed, threads),
    }
}

/// The states of all shards.
pub(crate) fn states(paths: &[PathBuf]) -> Result<Computed> {
    let mut files = paths.iter().map(|path| PartialFile::read(path)).collect::<Result<Vec<_>>>()?;
    files.sort_by_key(|file| file.description.share.shard);
    let Some(first) = files.first() else {
        return Err(Error::usage("one partial or more", "none", "give the files that `--shard` wrote"));
    };
    files.iter().try_for_each(|file| refuse_foreign(first, file))?;
    refuse_gaps(&files)?;
    refuse_split_segments(&files)?;
    let plan = first.description.outline.plan()?;
    let mut description = first.description.clone();
    description.facts = facts(&files)?;
    description.share.shard = 0;
    description.share.shards = 1;
    let mut partial = Partial::new(&description.plan);
    files.iter().try_for_each(|file| file.add_to(&mut partial, &plan))?;
    Ok(Computed { plan, partial, segments: None, description })
}

/// Refuses a partial of another plan, other data, or another division.
fn refuse_foreign(first: &PartialFile, other: &PartialFile) -> Result<()> {
    let (first_name, name) = (first.name(), other.name());
    let (first, description) = (&first.description, &other.description);
    let differing = |what: &str, one: String, other: String| {
        let help = "merge only the shards of one run file, one model and one data set";
        Err(Error::partials(format!("{what} of {first_name}, {one}"), other, help).at(name.clone()))
    };
    if first.plan != description.plan {
        return differing("the plan", first.plan.clone(), description.plan.clone());
    }
    if first.share.shards != description.share.shards {
        let shards = |shards: u64| format!("{shards} shards");
        return differing("the division", shards(first.share.shards), shards(description.share.shards));
    }
    if first.share.by_key != description.share.by_key {
        let by = |by_key: bool| if by_key { "by segment key" } else { "by place" }.to_string();
        return differing("the division", by(first.share.by_key), by(description.share.by_key));
    }
    // A copy on another machine has another time of change, so files are told apart by name and size here.
    let files = |description: &Description| -> Vec<(String, u64)> {
        let short = |name: &String| name.rsplit('/').next().unwrap_or(name).to_string();
        description.files.iter().map(|(name, size, _)| (short(name), *size)).collect()
    };
    let (one, other) = (files(first), files(description));
    if one.len() != other.len() {
        return differing("the data", format!("{} files", one.len()), format!("{} files", other.len()));
    }
    if let Some(((a, b), (c, d))) = one.iter().zip(&other).find(|(one, other)| one != other) {
        return differing("the data", format!("{a} of {b} bytes"), format!("{c} of {d} bytes"));
    }
    if first.outline != description.outline {
        return differing("the plan", "as it is there".to_string(), "another one of the same fingerprint".to_string());
    }
    Ok(())
}

/// Refuses shards that are missing or doubled, and names them.
fn refuse_gaps(files: &[PartialFile]) -> Result<()> {
    let shards = files.first().map_or(1, |file| file.description.share.shards);
    let mut next = 0;
    let mut missing = Vec::new();
    let mut count = 0_u64;
    let mut lacks = |from: u64, to: u64| {
        count += to.saturating_sub(from);
        missing.extend((from..to).take(SHOWN.saturating_sub(missing.len())).map(|shard| format!("{shard}/{shards}")));
    };
    let mut before: Option<(String, u64)> = None;
    for file in files {
        let (name, shard) = (file.name(), file.description.share.shard);
        if shard >= shards {
            return Err(
                Error::partials(format!("shards below {shards}"), format!("shard {shard}"), "write it again").at(name)
            );
        }
        if let Some((other, _)) = before.filter(|(_, last)| *last == shard) {
            let found = format!("shard {shard}/{shards} twice: {other} and {name}");
            return Err(Error::partials("each shard once", found, "leave one of them out"));
        }
        lacks(next, shard);
        next = shard + 1;
        before = Some((name, shard));
    }
    lacks(next, shards);
    if missing.is_empty() {
        return Ok(());
    }
    let others = count - missing.len() as u64;
    let more = if others > 0 { format!(" and {others} more") } else { String::new() };
    let found = format!("none of {}{more}", missing.join(", "));
    Err(Error::partials(format!("all {shards} shards"), found, "run them: `--shard I/N --partials DIR`"))
}

/// How many missing shards are named.
const SHOWN: usize = 8;

/// Refuses shards that share a segment, where a metric needs segments whole.
fn refuse_split_segments(files: &[PartialFile]) -> Result<()> {
    let Some(first) = files.first() else { return Ok(()) };
    if !first.description.outline.plan()?.needs_whole_segments() {
        return Ok(());
    }
    let mut keys: Vec<(u128, usize)> = Vec::new();
    for (place, file) in files.iter().enumerate() {
        keys.extend(file.keys.iter().map(|key| (*key, place)));
    }
    keys.sort_unstable();
    let split = keys.windows(2).find_map(|pair| match pair {
        [(a, one), (b, other)] if a == b => Some((*one, *other)),
        _ => None,
    });
    let name = |place: usize| files.get(place).map(PartialFile::name).unwrap_or_default();
    match split {
        None => Ok(()),
        Some((one, other)) => Err(Error::partials(
            "segments that lie in one shard each",
            format!("one that is in {} and in {}", name(one), name(other)),
            "run the shards anew with `--set data.clustered=no`, which deals out segments by their keys",
        )),
    }
}

/// Facts about all shards together.
fn facts(files: &[PartialFile]) -> Result<Facts> {
    let mut all = files.iter().map(|file| &file.description.facts);
    let Some(first) = all.next() else { return Err(Error::defect("a partial", "none")) };
    let mut sum = first.clone();
    for facts in all {
        sum.rows = sum.rows.saturating_add(facts.rows);
        sum.buckets = sum.buckets.saturating_add(facts.buckets);
        sum.resumed_buckets = sum.resumed_buckets.saturating_add(facts.resumed_buckets);
        sum.segments = sum.segments.zip(facts.segments).map(|(one, other)| one.saturating_add(other));
        sum.threads = sum.threads.max(facts.threads);
        sum.wall_s += facts.wall_s;
        sum.read_s += facts.read_s;
        sum.perturb_s += facts.perturb_s;
        sum.infer_s += facts.infer_s;
        sum.metric_s += facts.metric_s;
        for (feature, rows) in &facts.missing {
            match sum.missing.iter_mut().find(|(name, _)| name == feature) {
                Some((_, all)) => *all = all.saturating_add(*rows),
                None => sum.missing.push((feature.clone(), *rows)),
            }
        }
    }
    // A segment of which each shard has a part counts once.
    if let (Some(_), true) = (sum.segments, files.iter().any(|file| !file.keys.is_empty())) {
        let mut keys: Vec<u128> = files.iter().flat_map(|file| file.keys.iter().copied()).collect();
        keys.sort_unstable();
        keys.dedup();
        sum.segments = Some(keys.len() as u64);
    }
    Ok(sum)
}
