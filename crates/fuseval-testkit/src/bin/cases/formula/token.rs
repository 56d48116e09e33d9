//! Tokens of a formula.

/// A token.
#[derive(Debug, Clone, PartialEq)]
pub enum Token {
    Int(i128),
    Float(f64),
    Text(String),
    /// An f-string, as written between the quotes.
    Format(String),
    Name(String),
    Sign(&'static str),
}

/// Longer signs first.
const SIGNS: &[&str] = &[
    "**", "//", "<<", ">>", "<=", ">=", "==", "!=", "+", "-", "*", "/", "%", "<", ">", "(", ")", "[", "]", ",", ".",
    "&", "|", "^", "~", ":",
];

/// Splits a text.
pub fn tokens(text: &str) -> Result<Vec<Token>, String> {
    let mut rest = text;
    let mut found = Vec::new();
    loop {
        rest = rest.trim_start();
        let Some(first) = rest.chars().next() else { return Ok(found) };
        let number = first.is_ascii_digit() || first == '.' && rest[1..].starts_with(|c: char| c.is_ascii_digit());
        let (token, after) = if number {
            number_token(rest)?
        } else if first == '\'' || first == '"' {
            let (text, after) = quoted(rest)?;
            (Token::Text(text), after)
        } else if rest.starts_with("f'") || rest.starts_with("f\"") {
            let (text, after) = quoted(&rest[1..])?;
            (Token::Format(text), after)
        } else if first.is_alphabetic() || first == '_' {
            let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            (Token::Name(rest[..end].to_string()), &rest[end..])
        } else {
            let sign = SIGNS.iter().find(|sign| rest.starts_with(**sign));
            let sign = sign.ok_or_else(|| format!("the sign `{first}`"))?;
            (Token::Sign(sign), &rest[sign.len()..])
        };
        // Texts that stand side by side are one.
        match (found.last_mut(), token) {
            (Some(Token::Text(before)), Token::Text(text)) => before.push_str(&text),
            (_, token) => found.push(token),
        }
        rest = after;
    }
}

fn number_token(text: &str) -> Result<(Token, &str), String> {
    for (prefix, radix) in [("0x", 16), ("0b", 2), ("0o", 8)] {
        if let Some(digits) = text.strip_prefix(prefix) {
            let end = digits.find(|c: char| !c.is_ascii_hexdigit() && c != '_').unwrap_or(digits.len());
            let number = i128::from_str_radix(&digits[..end].replace('_', ""), radix);
            return Ok((Token::Int(number.map_err(|error| error.to_string())?), &digits[end..]));
        }
    }
    let bytes = text.as_bytes();
    let mut end = 0;
    let mut float = false;
    while let Some(byte) = bytes.get(end) {
        match byte {
            b'0'..=b'9' | b'_' => {}
            b'.' => float = true,
            b'e' | b'E' => {
                let next = bytes.get(end + 1);
                let signed = matches!(next, Some(b'+' | b'-')) && bytes.get(end + 2).is_some_and(u8::is_ascii_digit);
                if !signed && !next.is_some_and(u8::is_ascii_digit) {
                    break;
                }
                float = true;
                end += usize::from(signed);
            }
            _ => break,
        }
        end += 1;
    }
    let digits = text[..end].replace('_', "");
    let wrong = || format!("the number `{digits}`");
    let token = match float {
        true => Token::Float(digits.parse().map_err(|_| wrong())?),
        false => Token::Int(digits.parse().map_err(|_| wrong())?),
    };
    Ok((token, &text[end..]))
}

/// The text between quotes, and what follows.
fn quoted(text: &str) -> Result<(String, &str), String> {
    let mut characters = text.char_indices();
    let Some((_, quote)) = characters.next() else { return Err("a text".to_string()) };
    let mut out = String::new();
    while let Some((place, character)) = characters.next() {
        if character == quote {
            return Ok((out, &text[place + 1..]));
        }
        if character != '\\' {
            out.push(character);
            continue;
        }
        match characters.next().map(|(_, escaped)| escaped) {
            Some('n') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some(same @ ('\\' | '\'' | '"')) => out.push(same),
            Some('u') => {
                let digits: String = characters.by_ref().take(4).map(|(_, digit)| digit).collect();
                let code = u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32);
                out.push(code.ok_or_else(|| format!("the escape \\u{digits}"))?);
            }
            other => return Err(format!("the escape {other:?}")),
        }
    }
    Err(format!("no end of the text {text}"))
}
