//! What has to wait for a later issue, told from what a case asks for.

use serde_json::Value;

use crate::case::{Input, Question};

/// Why a question has to wait, if it has to.
pub fn reason(input: &Input, question: &Question) -> Option<&'static str> {
    let option = |name: &str| question.options.get(name).and_then(Value::as_str);
    if option("scope") == Some("within_request") {
        return Some("permutations within requests");
    }
    if option("average_over") == Some("all_permutations") {
        return Some("the mean over all permutations");
    }
    let partial = option("completeness") == Some("allow_partial");
    (input.expectation.is_some() && !partial).then_some("a declared set of rows")
}
