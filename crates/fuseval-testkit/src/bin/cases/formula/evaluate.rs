//! The value of a formula.

use std::cmp::Ordering;
use std::rc::Rc;

use super::functions::{call, formatted, method, percent};
use super::parse::Node;
use super::value::Value;

/// Names with their values, the innermost last.
type Names = Vec<(String, Value)>;

/// Computes a node.
pub fn evaluate(node: &Node, names: &mut Names) -> Result<Value, String> {
    match node {
        Node::Constant(value) => Ok(value.clone()),
        Node::Name(name) => match names.iter().rev().find(|(known, _)| known == name) {
            Some((_, value)) => Ok(value.clone()),
            None => Err(format!("the name `{name}`")),
        },
        Node::Unary(sign, one) => unary(sign, &evaluate(one, names)?),
        Node::Binary(sign, one, two) => binary(sign, &evaluate(one, names)?, &evaluate(two, names)?),
        Node::Compare(first, rest) => {
            let mut left = evaluate(first, names)?;
            for (sign, node) in rest {
                let right = evaluate(node, names)?;
                if !compare(sign, &left, &right)? {
                    return Ok(Value::Bool(false));
                }
                left = right;
            }
            Ok(Value::Bool(true))
        }
        Node::And(one, two) => {
            let left = evaluate(one, names)?;
            if left.is_true() { evaluate(two, names) } else { Ok(left) }
        }
        Node::Or(one, two) => {
            let left = evaluate(one, names)?;
            if left.is_true() { Ok(left) } else { evaluate(two, names) }
        }
        Node::If(condition, then, other) => {
            evaluate(if evaluate(condition, names)?.is_true() { then } else { other }, names)
        }
        Node::List(items) => list(items, names).map(|items| Value::List(Rc::new(items))),
        Node::Comprehension(item, name, source, condition) => {
            comprehension(item, name, source, condition.as_deref(), names)
        }
        Node::Index(of, index) => at(&evaluate(of, names)?, &evaluate(index, names)?),
        Node::Call(name, arguments) => call(name, &list(arguments, names)?),
        Node::Method(of, name, arguments) => method(&evaluate(of, names)?, name, &list(arguments, names)?),
        Node::Format(parts) => {
            let mut out = String::new();
            for (text, value) in parts {
                out.push_str(text);
                if let Some((node, format)) = value {
                    out.push_str(&formatted(&evaluate(node, names)?, format)?);
                }
            }
            Ok(Value::text(out))
        }
    }
}

fn list(nodes: &[Node], names: &mut Names) -> Result<Vec<Value>, String> {
    nodes.iter().map(|node| evaluate(node, names)).collect()
}

fn comprehension(
    item: &Node,
    name: &str,
    source: &Node,
    condition: Option<&Node>,
    names: &mut Names,
) -> Result<Value, String> {
    let source = match evaluate(source, names)? {
        Value::List(items) => items,
        other => return Err(format!("items of {}", other.repr())),
    };
    let mut out = Vec::new();
    for value in source.iter() {
        names.push((name.to_string(), value.clone()));
        let keep = condition.map_or(Ok(true), |condition| evaluate(condition, names).map(|truth| truth.is_true()));
        if keep? {
            out.push(evaluate(item, names)?);
        }
        names.pop();
    }
    Ok(Value::List(Rc::new(out)))
}

fn at(of: &Value, index: &Value) -> Result<Value, String> {
    let place = |length: usize| {
        let index = index.int().ok_or_else(|| format!("the index {}", index.repr()))?;
        let place = if index < 0 { index + length as i128 } else { index };
        usize::try_from(place).map_err(|_| format!("the index {index}"))
    };
    let found = match of {
        Value::List(items) => items.get(place(items.len())?).cloned(),
        Value::Text(text) => text.chars().nth(place(text.chars().count())?).map(|c| Value::text(c.to_string())),
        _ => None,
    };
    found.ok_or_else(|| format!("no place {} in {}", index.repr(), of.repr()))
}

fn unary(sign: &str, value: &Value) -> Result<Value, String> {
    let wrong = || format!("{sign}{}", value.repr());
    match (sign, value) {
        ("not", value) => Ok(Value::Bool(!value.is_true())),
        ("-", Value::Float(number)) => Ok(Value::Float(-number)),
        ("+", Value::Float(number)) => Ok(Value::Float(*number)),
        ("-", value) => value.int().map(|number| Value::Int(-number)).ok_or_else(wrong),
        ("+", value) => value.int().map(Value::Int).ok_or_else(wrong),
        (_, value) => value.int().map(|number| Value::Int(!number)).ok_or_else(wrong),
    }
}

fn binary(sign: &str, one: &Value, two: &Value) -> Result<Value, String> {
    let result = match (one, two) {
        (Value::Text(format), values) if sign == "%" => return percent(format, values),
        (Value::Text(text), count) | (count, Value::Text(text)) if sign == "*" => {
            let count = count.int().and_then(|count| usize::try_from(count.max(0)).ok());
            count.map(|count| Value::text(text.repeat(count)))
        }
        (Value::Text(one), Value::Text(two)) if sign == "+" => Some(Value::text(format!("{one}{two}"))),
        (Value::List(one), Value::List(two)) if sign == "+" => {
            Some(Value::List(Rc::new([&one[..], &two[..]].concat())))
        }
        (Value::List(items), count) if sign == "*" => {
            let count = count.int().and_then(|count| usize::try_from(count.max(0)).ok());
            count.map(|count| Value::List(Rc::new(std::iter::repeat_n(&items[..], count).flatten().cloned().collect())))
        }
        _ => match (one.int(), two.int()) {
            (Some(one), Some(two)) => integers(sign, one, two),
            _ => one.float().zip(two.float()).and_then(|(one, two)| floats(sign, one, two)),
        },
    };
    result.ok_or_else(|| format!("no value of {} {sign} {}", one.repr(), two.repr()))
}

fn integers(sign: &str, one: i128, two: i128) -> Option<Value> {
    let floored = |one: i128, two: i128| {
        let (quotient, remainder) = (one.checked_div(two)?, one.checked_rem(two)?);
        let below = remainder != 0 && (remainder < 0) != (two < 0);
        Some(if below { (quotient - 1, remainder + two) } else { (quotient, remainder) })
    };
    let number = match sign {
        "+" => one.checked_add(two),
        "-" => one.checked_sub(two),
        "*" => one.checked_mul(two),
        "//" => floored(one, two).map(|(quotient, _)| quotient),
        "%" => floored(one, two).map(|(_, remainder)| remainder),
        "/" if two != 0 => return Some(Value::Float(one as f64 / two as f64)),
        "**" if two < 0 => return floats("**", one as f64, two as f64),
        "**" => one.checked_pow(u32::try_from(two).ok()?),
        "&" => Some(one & two),
        "|" => Some(one | two),
        "^" => Some(one ^ two),
        "<<" => u32::try_from(two).ok().filter(|bits| *bits < 100).and_then(|bits| one.checked_mul(1 << bits)),
        ">>" => u32::try_from(two).ok().map(|bits| one >> bits.min(127)),
        _ => None,
    };
    number.map(Value::Int)
}

fn floats(sign: &str, one: f64, two: f64) -> Option<Value> {
    let remainder = || {
        let remainder = one % two;
        if remainder != 0.0 && (remainder < 0.0) != (two < 0.0) { remainder + two } else { remainder }
    };
    let number = match sign {
        "+" => one + two,
        "-" => one - two,
        "*" => one * two,
        "/" if two != 0.0 => one / two,
        "//" if two != 0.0 => ((one - remainder()) / two).round(),
        "%" if two != 0.0 => remainder(),
        "**" => one.powf(two),
        _ => return None,
    };
    Some(Value::Float(number))
}

fn compare(sign: &str, one: &Value, two: &Value) -> Result<bool, String> {
    let inside = || match two {
        Value::List(items) => Ok(items.iter().any(|item| equal(item, one))),
        Value::Text(text) => match one {
            Value::Text(part) => Ok(text.contains(&**part)),
            other => Err(format!("{} in a text", other.repr())),
        },
        other => Err(format!("`in {}`", other.repr())),
    };
    match sign {
        "in" => return inside(),
        "not in" => return inside().map(|found| !found),
        "==" => return Ok(equal(one, two)),
        "!=" => return Ok(!equal(one, two)),
        _ => {}
    }
    let order = order(one, two)?;
    Ok(match sign {
        "<" => order == Some(Ordering::Less),
        "<=" => matches!(order, Some(Ordering::Less | Ordering::Equal)),
        ">" => order == Some(Ordering::Greater),
        _ => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
    })
}

fn equal(one: &Value, two: &Value) -> bool {
    match (one.int(), two.int(), one.float(), two.float()) {
        (Some(one), Some(two), ..) => one == two,
        (.., Some(one), Some(two)) => one == two,
        _ => one == two,
    }
}

/// Which value is less; none beside a NaN.
pub fn order(one: &Value, two: &Value) -> Result<Option<Ordering>, String> {
    match (one, two) {
        (Value::Text(one), Value::Text(two)) => Ok(Some(one.cmp(two))),
        _ => match (one.int(), two.int(), one.float(), two.float()) {
            (Some(one), Some(two), ..) => Ok(Some(one.cmp(&two))),
            (.., Some(one), Some(two)) => Ok(one.partial_cmp(&two)),
            _ => Err(format!("the order of {} and {}", one.repr(), two.repr())),
        },
    }
}
