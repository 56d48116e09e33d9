//! The documents of each topic, as one file has them: with grades in the qrels, with scores in a run.

use std::collections::BTreeMap;

use fuseval_core::{Error, Result};

use super::lines::{Line, TextFile, short};

/// A document of a topic.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Document<'a, V> {
    /// The id.
    pub(crate) docno: &'a str,
    /// Its grade or its score.
    pub(crate) value: V,
    /// The line that says so, from 1.
    pub(crate) line: u64,
}

/// Topics in ascending order, each with its documents by ascending id; no topic is empty, no id comes twice in one.
pub(crate) type Topics<'a, V> = BTreeMap<&'a str, Vec<Document<'a, V>>>;

/// The grades of a qrels file.
pub(crate) fn qrels(file: &TextFile) -> Result<Topics<'_, i32>> {
    topics(file, "a judgement", |line| {
        let [topic, _, docno, grade] = line.fields("topic iteration docno grade", true)?;
        let value = grade.parse().map_err(|_| {
            let help = "write grades as integers; those below 0 mark documents that were not judged";
            Error::data("an integer as grade, the fourth field", format!("`{}`", short(grade)), help)
        })?;
        Ok((topic, docno, value))
    })
}

/// The scores of a run file.
pub(crate) fn run(file: &TextFile) -> Result<Topics<'_, f64>> {
    topics(file, "a retrieved document", |line| {
        let [topic, _, docno, _, score, _] = line.fields("topic Q0 docno rank score run-id", false)?;
        let value = score.parse().ok().filter(|value: &f64| !value.is_nan()).ok_or_else(|| {
            let expected = "a number as score, the fifth field";
            Error::data(expected, format!("`{}`", short(score)), "correct the line")
        })?;
        Ok((topic, docno, value))
    })
}

fn topics<'a, V>(
    file: &'a TextFile,
    entry: &str,
    parse: impl Fn(Line<'a>) -> Result<(&'a str, &'a str, V)>,
) -> Result<Topics<'a, V>> {
    let mut topics: Topics<'a, V> = BTreeMap::new();
    for line in file.lines() {
        let (topic, docno, value) = parse(line).map_err(|error| error.at(file.place(line.number)))?;
        topics.entry(topic).or_default().push(Document { docno, value, line: line.number });
    }
    if topics.is_empty() {
        let error = Error::data(format!("a line with {entry}"), "none", "check that this is the right file");
        return Err(error.at(file.shown.clone()));
    }
    for (topic, documents) in &mut topics {
        // Stable, so that the lines of a document that comes twice stay in order.
        documents.sort_by(|a, b| a.docno.cmp(b.docno));
        if let Some((first, second)) =
            documents.iter().zip(documents.iter().skip(1)).find(|(one, next)| one.docno == next.docno)
        {
            let found =
                format!("`{}` of topic `{}` again, after line {}", short(second.docno), short(topic), first.line);
            let error = Error::data("each document once in a topic", found, "remove one of the lines");
            return Err(error.at(file.place(second.line)));
        }
    }
    Ok(topics)
}
