//! The tree of a formula.

use super::token::{Token, tokens};
use super::value::Value;

/// A part of a formula.
#[derive(Debug, Clone)]
pub enum Node {
    Constant(Value),
    Name(String),
    Unary(&'static str, Box<Node>),
    Binary(&'static str, Box<Node>, Box<Node>),
    /// `a < b <= c`, also `in` and `not in`.
    Compare(Box<Node>, Vec<(&'static str, Node)>),
    And(Box<Node>, Box<Node>),
    Or(Box<Node>, Box<Node>),
    /// Condition, then, else.
    If(Box<Node>, Box<Node>, Box<Node>),
    List(Vec<Node>),
    /// Item, name, source, condition.
    Comprehension(Box<Node>, String, Box<Node>, Option<Box<Node>>),
    Index(Box<Node>, Box<Node>),
    Call(String, Vec<Node>),
    Method(Box<Node>, String, Vec<Node>),
    /// Parts of an f-string: texts, and values with their format.
    Format(Vec<Part>),
}

/// A text, and the value with its format that follows it.
pub type Part = (String, Option<(Node, String)>);

impl Node {
    /// Whether a name occurs.
    pub fn mentions(&self, name: &str) -> bool {
        let any = |nodes: &[Self]| nodes.iter().any(|node| node.mentions(name));
        match self {
            Self::Constant(_) => false,
            Self::Name(own) => own == name,
            Self::Unary(_, one) => one.mentions(name),
            Self::Binary(_, one, two) | Self::And(one, two) | Self::Or(one, two) | Self::Index(one, two) => {
                one.mentions(name) || two.mentions(name)
            }
            Self::Compare(first, rest) => first.mentions(name) || rest.iter().any(|(_, node)| node.mentions(name)),
            Self::If(one, two, three) => one.mentions(name) || two.mentions(name) || three.mentions(name),
            Self::List(nodes) | Self::Call(_, nodes) => any(nodes),
            Self::Comprehension(item, _, source, condition) => {
                item.mentions(name) || source.mentions(name) || condition.iter().any(|node| node.mentions(name))
            }
            Self::Method(of, _, nodes) => of.mentions(name) || any(nodes),
            Self::Format(parts) => {
                parts.iter().filter_map(|(_, value)| value.as_ref()).any(|(node, _)| node.mentions(name))
            }
        }
    }
}

/// Reads a whole formula.
pub fn parse(text: &str) -> Result<Node, String> {
    let mut parser = Parser { tokens: tokens(text)?, next: 0 };
    let node = parser.condition()?;
    match parser.tokens.get(parser.next) {
        None => Ok(node),
        Some(token) => Err(format!("{token:?} after the end")),
    }
}

struct Parser {
    tokens: Vec<Token>,
    next: usize,
}

/// Binary operators by strength, the weakest first; `**` is apart, as it binds to the right.
const LEVELS: &[&[&str]] = &[&["|"], &["^"], &["&"], &["<<", ">>"], &["+", "-"], &["*", "/", "//", "%"]];

impl Parser {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.next)
    }

    fn take_sign(&mut self, among: &[&'static str]) -> Option<&'static str> {
        let sign = match self.peek() {
            Some(Token::Sign(sign)) => among.iter().copied().find(|known| known == sign)?,
            _ => return None,
        };
        self.next += 1;
        Some(sign)
    }

    fn take_word(&mut self, word: &str) -> bool {
        let found = matches!(self.peek(), Some(Token::Name(name)) if name == word);
        self.next += usize::from(found);
        found
    }

    fn expect(&mut self, sign: &'static str) -> Result<(), String> {
        match self.take_sign(&[sign]) {
            Some(_) => Ok(()),
            None => Err(format!("`{sign}` expected, found {:?}", self.peek())),
        }
    }

    fn condition(&mut self) -> Result<Node, String> {
        let then = self.or()?;
        if !self.take_word("if") {
            return Ok(then);
        }
        let condition = self.or()?;
        if !self.take_word("else") {
            return Err("an `if` without `else`".to_string());
        }
        Ok(Node::If(Box::new(condition), Box::new(then), Box::new(self.condition()?)))
    }

    fn or(&mut self) -> Result<Node, String> {
        let mut node = self.and()?;
        while self.take_word("or") {
            node = Node::Or(Box::new(node), Box::new(self.and()?));
        }
        Ok(node)
    }

    fn and(&mut self) -> Result<Node, String> {
        let mut node = self.not()?;
        while self.take_word("and") {
            node = Node::And(Box::new(node), Box::new(self.not()?));
        }
        Ok(node)
    }

    fn not(&mut self) -> Result<Node, String> {
        if self.take_word("not") {
            return Ok(Node::Unary("not", Box::new(self.not()?)));
        }
        let first = self.level(0)?;
        let mut rest = Vec::new();
        while let Some(sign) = self.comparison() {
            rest.push((sign, self.level(0)?));
        }
        Ok(if rest.is_empty() { first } else { Node::Compare(Box::new(first), rest) })
    }

    fn comparison(&mut self) -> Option<&'static str> {
        if self.take_word("in") {
            return Some("in");
        }
        if self.take_word("is") {
            return Some(if self.take_word("not") { "!=" } else { "==" });
        }
        if self.take_word("not") {
            return self.take_word("in").then_some("not in");
        }
        self.take_sign(&["<=", ">=", "==", "!=", "<", ">"])
    }

    fn level(&mut self, level: usize) -> Result<Node, String> {
        let Some(signs) = LEVELS.get(level) else { return self.unary() };
        let mut node = self.level(level + 1)?;
        while let Some(sign) = self.take_sign(signs) {
            node = Node::Binary(sign, Box::new(node), Box::new(self.level(level + 1)?));
        }
        Ok(node)
    }

    fn unary(&mut self) -> Result<Node, String> {
        if let Some(sign) = self.take_sign(&["-", "+", "~"]) {
            return Ok(Node::Unary(sign, Box::new(self.unary()?)));
        }
        let base = self.postfix()?;
        match self.take_sign(&["**"]) {
            Some(sign) => Ok(Node::Binary(sign, Box::new(base), Box::new(self.unary()?))),
            None => Ok(base),
        }
    }

    fn postfix(&mut self) -> Result<Node, String> {
        let mut node = self.atom()?;
        loop {
            if self.take_sign(&["["]).is_some() {
                let index = self.condition()?;
                self.expect("]")?;
                node = Node::Index(Box::new(node), Box::new(index));
            } else if self.take_sign(&["."]).is_some() {
                let Some(Token::Name(name)) = self.peek().cloned() else { return Err("a name after `.`".to_string()) };
                self.next += 1;
                self.expect("(")?;
                let arguments = self.items(")")?;
                // Functions of `math` are called by their own name.
                node = match node {
                    Node::Name(module) if module == "math" => Node::Call(name, arguments),
                    of => Node::Method(Box::new(of), name, arguments),
                };
            } else {
                return Ok(node);
            }
        }
    }

    fn atom(&mut self) -> Result<Node, String> {
        let token = self.peek().cloned().ok_or("more expected")?;
        self.next += 1;
        match token {
            Token::Int(number) => Ok(Node::Constant(Value::Int(number))),
            Token::Float(number) => Ok(Node::Constant(Value::Float(number))),
            Token::Text(text) => Ok(Node::Constant(Value::text(text))),
            Token::Format(text) => format_parts(&text).map(Node::Format),
            Token::Name(name) => Ok(match name.as_str() {
                "True" => Node::Constant(Value::Bool(true)),
                "False" => Node::Constant(Value::Bool(false)),
                "None" => Node::Constant(Value::None),
                _ if self.take_sign(&["("]).is_some() => Node::Call(name, self.items(")")?),
                _ => Node::Name(name),
            }),
            Token::Sign("(") => {
                let mut items = self.items(")")?;
                // A comma makes a tuple of one.
                let comma = matches!(self.tokens.get(self.next.saturating_sub(2)), Some(Token::Sign(",")));
                Ok(if items.len() == 1 && !comma { items.remove(0) } else { Node::List(items) })
            }
            Token::Sign("[") => {
                let mut items = self.items("]")?;
                let whole = matches!(items.as_slice(), [Node::Comprehension(..)]);
                Ok(if whole { items.remove(0) } else { Node::List(items) })
            }
            Token::Sign(sign) => Err(format!("a value expected, found `{sign}`")),
        }
    }

    /// Values with commas between them, up to the closing sign; or a comprehension.
    fn items(&mut self, close: &'static str) -> Result<Vec<Node>, String> {
        let mut items = Vec::new();
        while self.take_sign(&[close]).is_none() {
            let item = self.condition()?;
            if self.take_word("for") {
                let Some(Token::Name(name)) = self.peek().cloned() else {
                    return Err("a name after `for`".to_string());
                };
                self.next += 1;
                if !self.take_word("in") {
                    return Err("`in` expected".to_string());
                }
                let source = self.or()?;
                let condition = if self.take_word("if") { Some(Box::new(self.or()?)) } else { None };
                items.push(Node::Comprehension(Box::new(item), name, Box::new(source), condition));
            } else {
                items.push(item);
            }
            if self.take_sign(&[","]).is_none() {
                self.expect(close)?;
                break;
            }
        }
        Ok(items)
    }
}

/// The parts of an f-string: each a text, and the value with its format that follows.
fn format_parts(text: &str) -> Result<Vec<Part>, String> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        let (inside, after) = after.split_once('}').ok_or("a `{` without `}`")?;
        let (value, format) = inside.split_once(':').unwrap_or((inside, ""));
        parts.push((before.to_string(), Some((parse(value)?, format.to_string()))));
        rest = after;
    }
    parts.push((rest.to_string(), None));
    Ok(parts)
}
