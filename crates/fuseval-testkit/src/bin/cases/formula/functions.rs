//! The functions of Python that formulas call, and how texts are formatted.

use std::cmp::Ordering;
use std::rc::Rc;

use super::evaluate::order;
use super::value::Value;

/// A function by name; those of `math` without the module.
pub fn call(name: &str, arguments: &[Value]) -> Result<Value, String> {
    let wrong = || format!("no value of {name}({})", arguments.iter().map(Value::repr).collect::<Vec<_>>().join(", "));
    let float = |place: usize| arguments.get(place).and_then(Value::float).ok_or_else(wrong);
    match (name, arguments) {
        ("float", [Value::Text(text)]) => text.trim().parse().map(Value::Float).map_err(|_| wrong()),
        ("float", [_]) => float(0).map(Value::Float),
        ("int", [Value::Text(text)]) => text.trim().parse().map(Value::Int).map_err(|_| wrong()),
        ("int" | "trunc", [Value::Float(number)]) => whole(number.trunc()).ok_or_else(wrong),
        ("floor", [Value::Float(number)]) => whole(number.floor()).ok_or_else(wrong),
        ("ceil", [Value::Float(number)]) => whole(number.ceil()).ok_or_else(wrong),
        ("round", [Value::Float(number)]) => whole(number.round_ties_even()).ok_or_else(wrong),
        ("int" | "trunc" | "floor" | "ceil" | "round", [value]) => value.int().map(Value::Int).ok_or_else(wrong),
        ("round", [value, digits]) => {
            let digits = digits.int().and_then(|digits| usize::try_from(digits).ok()).ok_or_else(wrong)?;
            match value {
                // Rounding the decimal digits of the exact value, as Python does.
                Value::Float(number) => format!("{number:.digits$}").parse().map(Value::Float).map_err(|_| wrong()),
                other => Ok(other.clone()),
            }
        }
        ("str", [value]) => Ok(Value::text(value.shown())),
        ("repr", [value]) => Ok(Value::text(value.repr())),
        ("bool", [value]) => Ok(Value::Bool(value.is_true())),
        ("abs", [Value::Float(number)]) => Ok(Value::Float(number.abs())),
        ("abs", [value]) => value.int().map(|number| Value::Int(number.abs())).ok_or_else(wrong),
        ("len", [Value::Text(text)]) => Ok(Value::Int(text.chars().count() as i128)),
        ("len", [Value::List(items)]) => Ok(Value::Int(items.len() as i128)),
        ("list" | "tuple", [Value::List(items)]) => Ok(Value::List(items.clone())),
        ("min" | "max", [Value::List(items)]) => extreme(name, items),
        ("min" | "max", [_, _, ..]) => extreme(name, arguments),
        ("sum", [Value::List(items)]) => {
            let whole: Option<Vec<i128>> = items.iter().map(Value::int).collect();
            match whole {
                Some(numbers) => Ok(Value::Int(numbers.iter().sum())),
                None => items.iter().map(Value::float).sum::<Option<f64>>().map(Value::Float).ok_or_else(wrong),
            }
        }
        ("range", _) => range(arguments).ok_or_else(wrong),
        ("chr", [value]) => {
            let code = value.int().and_then(|code| u32::try_from(code).ok()).and_then(char::from_u32);
            code.map(|character| Value::text(character.to_string())).ok_or_else(wrong)
        }
        ("ord", [Value::Text(text)]) => {
            text.chars().next().map(|c| Value::Int(i128::from(u32::from(c)))).ok_or_else(wrong)
        }
        ("pow", [_, _]) => Ok(Value::Float(float(0)?.powf(float(1)?))),
        ("sqrt", [_]) => Ok(Value::Float(float(0)?.sqrt())),
        ("exp", [_]) => Ok(Value::Float(float(0)?.exp())),
        ("log", [_]) => Ok(Value::Float(float(0)?.ln())),
        ("log2", [_]) => Ok(Value::Float(float(0)?.log2())),
        ("log10", [_]) => Ok(Value::Float(float(0)?.log10())),
        ("sin", [_]) => Ok(Value::Float(float(0)?.sin())),
        ("cos", [_]) => Ok(Value::Float(float(0)?.cos())),
        ("tanh", [_]) => Ok(Value::Float(float(0)?.tanh())),
        _ => Err(wrong()),
    }
}

fn whole(number: f64) -> Option<Value> {
    (number.abs() < 1e38).then_some(Value::Int(number as i128))
}

fn extreme(name: &str, values: &[Value]) -> Result<Value, String> {
    let wanted = if name == "min" { Ordering::Less } else { Ordering::Greater };
    let (first, rest) = values.split_first().ok_or_else(|| format!("{name} of nothing"))?;
    let mut best = first;
    for value in rest {
        if order(value, best)? == Some(wanted) {
            best = value;
        }
    }
    Ok(best.clone())
}

fn range(arguments: &[Value]) -> Option<Value> {
    let numbers: Option<Vec<i128>> = arguments.iter().map(Value::int).collect();
    let (from, to, step) = match numbers?.as_slice() {
        [to] => (0, *to, 1),
        [from, to] => (*from, *to, 1),
        [from, to, step] if *step != 0 => (*from, *to, *step),
        _ => return None,
    };
    let mut items = Vec::new();
    let mut at = from;
    while (step > 0 && at < to) || (step < 0 && at > to) {
        items.push(Value::Int(at));
        at += step;
    }
    Some(Value::List(Rc::new(items)))
}

/// A method of a text.
pub fn method(of: &Value, name: &str, arguments: &[Value]) -> Result<Value, String> {
    let wrong = || format!("no value of {}.{name}()", of.repr());
    let Value::Text(text) = of else { return Err(wrong()) };
    let width =
        || arguments.first().and_then(Value::int).and_then(|width| usize::try_from(width).ok()).ok_or_else(wrong);
    Ok(Value::text(match name {
        "upper" => text.to_uppercase(),
        "lower" => text.to_lowercase(),
        "zfill" => padded(text, width()?, true),
        "rjust" => format!("{text:>width$}", width = width()?),
        "ljust" => format!("{text:<width$}", width = width()?),
        _ => return Err(wrong()),
    }))
}

/// A number filled up on the left, with zeros after the sign.
fn padded(text: &str, width: usize, zeros: bool) -> String {
    if !zeros {
        return format!("{text:>width$}");
    }
    let (sign, digits) = text.strip_prefix('-').map_or(("", text), |digits| ("-", digits));
    format!("{sign}{digits:0>width$}", width = width.saturating_sub(sign.len()))
}

/// A value in a format such as `04d`, `.3f` or nothing.
pub fn formatted(value: &Value, format: &str) -> Result<String, String> {
    let wrong = || format!("{} in the format `{format}`", value.repr());
    let kind = format.chars().last().filter(char::is_ascii_alphabetic);
    let numbers = format.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let (width, digits) = numbers.split_once('.').map_or((numbers, None), |(width, digits)| (width, Some(digits)));
    let zeros = width.starts_with('0');
    let width: usize = if width.is_empty() { 0 } else { width.parse().map_err(|_| wrong())? };
    let digits: usize = digits.map_or(Ok(6), |digits| digits.parse().map_err(|_| wrong()))?;
    let text = match kind {
        None | Some('s') if numbers.contains('.') => return Err(wrong()),
        None | Some('s') => value.shown(),
        Some('d') => value.int().ok_or_else(wrong)?.to_string(),
        Some('x') => format!("{:x}", value.int().ok_or_else(wrong)?),
        Some('f') => format!("{:.digits$}", value.float().ok_or_else(wrong)?),
        _ => return Err(wrong()),
    };
    Ok(padded(&text, width, zeros))
}

/// `'…%d…' % values`.
pub fn percent(format: &str, values: &Value) -> Result<Value, String> {
    let values = match values {
        Value::List(items) => items.to_vec(),
        one => vec![one.clone()],
    };
    let mut values = values.iter();
    let mut out = String::new();
    let mut rest = format;
    while let Some((before, after)) = rest.split_once('%') {
        out.push_str(before);
        if let Some(after) = after.strip_prefix('%') {
            out.push('%');
            rest = after;
            continue;
        }
        let end = after.find(|c: char| c.is_ascii_alphabetic()).ok_or("a `%` without a letter")?;
        let value = values.next().ok_or("too few values for `%`")?;
        let kind = after[..=end].replace('i', "d");
        // `%d` cuts floats.
        let cut = match value {
            Value::Float(number) if kind.ends_with('d') => Value::Int(number.trunc() as i128),
            other => other.clone(),
        };
        out.push_str(&formatted(&cut, &kind)?);
        rest = &after[end + 1..];
    }
    out.push_str(rest);
    Ok(Value::text(out))
}
