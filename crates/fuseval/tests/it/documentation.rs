//! The texts beside the code: the page of metrics is what the catalogue prints, every metric's page has the same headings, and
//! the README names metrics that there are. `make golden` writes `docs/metrics.md` anew.

use fuseval::RunFile;
use fuseval::run_file::MetricEntry;
use fuseval_core::{Defaults, MetricId};
use fuseval_metrics::ALL;

use crate::common::root;

/// The headings of a metric's page, in their order; other headings may stand among them.
const HEADINGS: [&str; 7] = ["Definition", "Relevant", "Ties", "Weights", "Undefined", "State", "Oracle"];

fn text(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap()
}

/// The text between the heading of this name and the next of its level.
fn section<'a>(text: &'a str, heading: &str) -> &'a str {
    let (_, rest) = text.split_once(&format!("\n## {heading}\n")).unwrap();
    rest.split("\n## ").next().unwrap()
}

/// The texts in back quotes of a line.
fn quoted(line: &str) -> impl Iterator<Item = &str> {
    line.split('`').skip(1).step_by(2)
}

/// Makes the metrics of a list, as a run does.
fn make(list: &str) {
    for id in MetricId::parse_list(list).unwrap() {
        fuseval_metrics::metric(&id, &Defaults::default()).unwrap_or_else(|error| panic!("{list}: {error}"));
    }
}

#[test]
fn golden_page_of_metrics() {
    let (path, made) = (root().join("docs/metrics.md"), fuseval::catalogue::document());
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, made).unwrap();
        return;
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    let other = made.lines().zip(kept.lines()).find(|(made, kept)| made != kept);
    assert!(made == kept, "docs/metrics.md is not what the catalogue says; run `make golden`: {other:?}");
}

#[test]
fn the_page_of_each_metric_has_the_headings() {
    for entry in ALL {
        let page = entry.page();
        let headings: Vec<&str> = page
            .lines()
            .filter_map(|line| line.strip_prefix("**")?.split_once("**"))
            .map(|(heading, _)| heading)
            .filter(|heading| HEADINGS.contains(heading))
            .collect();
        assert_eq!(headings, HEADINGS, "{}", entry.name);
    }
}

#[test]
fn the_readme_names_every_metric_and_no_other() {
    let readme = text("README.md");
    let rows = section(&readme, "Metrics").lines().filter(|line| line.starts_with("| ")).skip(1);
    let named: Vec<&str> = rows
        .flat_map(quoted)
        .filter(|name| !name.starts_with('@'))
        .map(|name| name.split(['@', '[']).next().unwrap())
        .collect();
    for entry in ALL {
        assert!(named.contains(&entry.name), "README: `{}` is missing", entry.name);
    }
    for name in named {
        assert!(ALL.iter().any(|entry| entry.name == name), "README: `{name}` is no metric");
    }
}

#[test]
fn the_metrics_of_all_examples_can_be_made() {
    for path in ["README.md", "docs/trec_eval.md"] {
        let text = text(path);
        let commands = text.lines().filter_map(|line| line.split_once(" -m ")).map(|(_, rest)| rest);
        commands.for_each(|rest| make(rest.split_whitespace().next().unwrap()));
        for yaml in text.split("```yaml\n").skip(1).map(|rest| rest.split("```").next().unwrap()) {
            for metric in RunFile::parse(yaml, &[]).unwrap().metrics {
                if let MetricEntry::Name(name) = metric {
                    make(&name);
                }
            }
        }
    }
}
