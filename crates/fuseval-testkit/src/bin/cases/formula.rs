//! The Python expressions of generators: arithmetic with Python's rules, comparisons, conditionals, texts, lists, and the
//! functions that such formulas use. What is not known is an error.

mod evaluate;
mod functions;
mod parse;
mod token;
mod value;

use std::ops::Range;

pub use value::Value;

use parse::Node;

/// A formula in the row number `i`.
pub struct Formula {
    root: Node,
}

impl Formula {
    /// Reads a formula.
    pub fn parse(text: &str) -> Result<Self, String> {
        parse::parse(text).map(|root| Self { root }).map_err(|error| format!("formula `{text}`: {error}"))
    }

    /// The value in row `i`.
    pub fn value(&self, i: u64) -> Result<Value, String> {
        self.values(i..i + 1).next().unwrap_or(Err("no row".to_string()))
    }

    /// The values of some rows.
    pub fn values(&self, rows: Range<u64>) -> impl Iterator<Item = Result<Value, String>> + '_ {
        let mut names = vec![("i".to_string(), Value::None)];
        rows.map(move |i| {
            names.truncate(1);
            names[0].1 = Value::Int(i128::from(i));
            evaluate::evaluate(&self.root, &mut names)
        })
    }

    /// Whether the row number does not occur.
    pub fn is_constant(&self) -> bool {
        !self.root.mentions("i")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, i: u64) -> String {
        Formula::parse(text).and_then(|formula| formula.value(i)).map_or_else(|error| error, |value| value.repr())
    }

    #[test]
    fn python_s_rules_hold() {
        for (text, value) in [
            ("-7 // 2", "-4"),
            ("-7 % 3", "2"),
            ("7 % -3", "-2"),
            ("-7.5 % 2", "0.5"),
            ("7 / 2", "3.5"),
            ("4 / 2", "2.0"),
            ("2 ** 10", "1024"),
            ("2 ** -1", "0.5"),
            ("-2 ** 2", "-4"),
            ("2 ** 3 ** 2", "512"),
            ("1 < 2 < 2", "False"),
            ("not 1 == 2 and 3 or 4", "3"),
            ("1 if i % 5 >= 3 else 0", "0"),
            ("float(4 - i % 5 if (i // 5) % 3 == 0 else i % 5)", "2.0"),
            ("(i // 5) * 2654435761 % 4294967296", "1013904226"),
            ("('k' + str(i % 3)) + 'x' * 3", "'k0xxx'"),
            ("'%03d-%s' % (i, \"a\")", "'012-a'"),
            ("f'u{i % 7}-{i:04d}'", "'u5-0012'"),
            ("[0.1, 0.5][i % 2]", "0.1"),
            ("'abc'[-1]", "'c'"),
            ("'a' in 'bac' and 3 not in [1, 2]", "True"),
            ("1e16", "1e+16"),
            ("1.5e-5", "1.5e-05"),
            ("0.0001", "0.0001"),
            ("str(1.0)", "'1.0'"),
            ("float('nan')", "nan"),
            ("round(2.5) + round(3.5)", "6"),
            ("round(2.675, 2)", "2.67"),
            ("min(3, i, 5) + max([1, 2])", "5"),
            ("int(2.9) + int(-2.9) + int('7')", "7"),
            ("[j * j for j in range(1, 4) if j != 2]", "[1, 9]"),
            ("sum(range(i))", "66"),
            ("len(str(i)) + abs(-3)", "5"),
            ("None if i == 12 else 1", "None"),
            ("True + 1", "2"),
            ("i & 4 | 1 ^ 3 << 1", "7"),
            ("math.sqrt(16) + math.floor(2.5)", "6.0"),
            ("str(i).zfill(4)", "'0012'"),
        ] {
            assert_eq!(shown(text, 12), value, "{text}");
        }
    }

    #[test]
    fn what_is_unknown_is_refused() {
        for text in ["j", "hash(i)", "i +", "(i", "'a", "1 +* 2", "'a' + 1", "1 // 0", "i.real", "i i"] {
            let value = Formula::parse(text).and_then(|formula| formula.value(1));
            assert!(value.is_err(), "{text}");
        }
    }
}
