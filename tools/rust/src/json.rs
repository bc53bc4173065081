// SPDX-License-Identifier: Apache-2.0
//! A small reader of JSON, for the library's answers. Integers keep all 64 bits.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Index;

use crate::error::{Error, Result};

const MAX_DEPTH: usize = 128;

/// A value of JSON.
///
/// ```
/// use tracesmith::Value;
///
/// let answer = Value::parse(r#"{"longest": [{"stream": 7, "end_ns": 18446744073709551615}]}"#)?;
/// assert_eq!(answer["longest"][0]["stream"].as_u64(), Some(7));
/// assert_eq!(answer["longest"][0]["end_ns"].as_u64(), Some(u64::MAX));
/// assert!(answer["nothing"][3]["of the kind"].is_null());
/// # Ok::<(), tracesmith::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// `null`, and what is not there.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number without a sign, a point or an exponent.
    Unsigned(u64),
    /// A negative number without a point or an exponent.
    Signed(i64),
    /// Another number.
    Float(f64),
    /// A text.
    String(String),
    /// A list.
    Array(Vec<Value>),
    /// Keys and values, in the text's order.
    Object(Vec<(String, Value)>),
}

static NULL: Value = Value::Null;

impl Value {
    /// Reads a text that is one value.
    pub fn parse(text: &str) -> Result<Value> {
        let mut parser = Parser { bytes: text.as_bytes(), at: 0 };
        let value = parser.value(0)?;
        parser.blanks();
        if parser.at < parser.bytes.len() {
            return Err(parser.error("one value"));
        }
        Ok(value)
    }

    /// Reads a text with a value on each line.
    pub fn parse_lines(text: &str) -> Result<Vec<Value>> {
        text.lines().map(Value::parse).collect()
    }

    /// Returns the value of a key; None: no such key, or no object.
    pub fn get(&self, key: &str) -> Option<&Value> {
        match self {
            Value::Object(members) => members.iter().find(|(own, _)| own == key).map(|(_, value)| value),
            _ => None,
        }
    }

    /// Returns whether the value is `null` or not there.
    pub fn is_null(&self) -> bool {
        matches!(self, Value::Null)
    }

    /// Returns a boolean.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Value::Bool(value) => Some(*value),
            _ => None,
        }
    }

    /// Returns an integer that is not negative.
    pub fn as_u64(&self) -> Option<u64> {
        match self {
            Value::Unsigned(value) => Some(*value),
            _ => None,
        }
    }

    /// Returns an integer.
    pub fn as_i64(&self) -> Option<i64> {
        match self {
            Value::Unsigned(value) => i64::try_from(*value).ok(),
            Value::Signed(value) => Some(*value),
            _ => None,
        }
    }

    /// Returns a number.
    pub fn as_f64(&self) -> Option<f64> {
        match self {
            Value::Unsigned(value) => Some(*value as f64),
            Value::Signed(value) => Some(*value as f64),
            Value::Float(value) => Some(*value),
            _ => None,
        }
    }

    /// Returns a text.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Value::String(value) => Some(value),
            _ => None,
        }
    }

    /// Returns the items of a list; another value has none.
    pub fn items(&self) -> &[Value] {
        match self {
            Value::Array(items) => items,
            _ => &[],
        }
    }

    /// Returns the keys and values of an object; another value has none.
    pub fn members(&self) -> &[(String, Value)] {
        match self {
            Value::Object(members) => members,
            _ => &[],
        }
    }
}

impl Index<&str> for Value {
    type Output = Value;

    /// Returns the value of a key, or [`Value::Null`].
    fn index(&self, key: &str) -> &Value {
        self.get(key).unwrap_or(&NULL)
    }
}

impl Index<usize> for Value {
    type Output = Value;

    /// Returns an item of a list, or [`Value::Null`].
    fn index(&self, index: usize) -> &Value {
        self.items().get(index).unwrap_or(&NULL)
    }
}

impl fmt::Display for Value {
    /// Prints the value as JSON.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Null => f.write_str("null"),
            Value::Bool(value) => write!(f, "{value}"),
            Value::Unsigned(value) => write!(f, "{value}"),
            Value::Signed(value) => write!(f, "{value}"),
            Value::Float(value) if value.is_finite() => write!(f, "{value:?}"),
            Value::Float(_) => f.write_str("null"),
            Value::String(value) => write_text(f, value),
            Value::Array(items) => {
                f.write_str("[")?;
                for (i, item) in items.iter().enumerate() {
                    write!(f, "{}{item}", if i > 0 { ", " } else { "" })?;
                }
                f.write_str("]")
            }
            Value::Object(members) => {
                f.write_str("{")?;
                for (i, (key, value)) in members.iter().enumerate() {
                    f.write_str(if i > 0 { ", " } else { "" })?;
                    write_text(f, key)?;
                    write!(f, ": {value}")?;
                }
                f.write_str("}")
            }
        }
    }
}

fn write_text(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    f.write_str("\"")?;
    for character in text.chars() {
        match character {
            '"' => f.write_str("\\\"")?,
            '\\' => f.write_str("\\\\")?,
            character if (character as u32) < 32 => write!(f, "\\u{:04x}", character as u32)?,
            character => write!(f, "{character}")?,
        }
    }
    f.write_str("\"")
}

struct Parser<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Parser<'_> {
    fn error(&self, expected: &str) -> Error {
        Error::json(format!("JSON: expected {expected} at byte {}", self.at))
    }

    fn blanks(&mut self) {
        while matches!(self.bytes.get(self.at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn take(&mut self, byte: u8) -> bool {
        self.blanks();
        let is_there = self.bytes.get(self.at) == Some(&byte);
        self.at += usize::from(is_there);
        is_there
    }

    fn word(&mut self, word: &str, value: Value) -> Result<Value> {
        if self.bytes[self.at..].starts_with(word.as_bytes()) {
            self.at += word.len();
            return Ok(value);
        }
        Err(self.error("a value"))
    }

    fn value(&mut self, depth: usize) -> Result<Value> {
        self.blanks();
        if depth > MAX_DEPTH {
            return Err(self.error("fewer levels"));
        }
        match self.bytes.get(self.at) {
            Some(b'{') => self.object(depth),
            Some(b'[') => self.array(depth),
            Some(b'"') => self.string().map(Value::String),
            Some(b't') => self.word("true", Value::Bool(true)),
            Some(b'f') => self.word("false", Value::Bool(false)),
            Some(b'n') => self.word("null", Value::Null),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ => Err(self.error("a value")),
        }
    }

    fn object(&mut self, depth: usize) -> Result<Value> {
        let mut members = Vec::new();
        self.at += 1;
        if self.take(b'}') {
            return Ok(Value::Object(members));
        }
        loop {
            self.blanks();
            if self.bytes.get(self.at) != Some(&b'"') {
                return Err(self.error("a key"));
            }
            let key = self.string()?;
            if !self.take(b':') {
                return Err(self.error("\":\""));
            }
            members.push((key, self.value(depth + 1)?));
            if self.take(b'}') {
                return Ok(Value::Object(members));
            }
            if !self.take(b',') {
                return Err(self.error("\",\" or \"}\""));
            }
        }
    }

    fn array(&mut self, depth: usize) -> Result<Value> {
        let mut items = Vec::new();
        self.at += 1;
        if self.take(b']') {
            return Ok(Value::Array(items));
        }
        loop {
            items.push(self.value(depth + 1)?);
            if self.take(b']') {
                return Ok(Value::Array(items));
            }
            if !self.take(b',') {
                return Err(self.error("\",\" or \"]\""));
            }
        }
    }

    fn number(&mut self) -> Result<Value> {
        let start = self.at;
        while matches!(self.bytes.get(self.at), Some(b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9')) {
            self.at += 1;
        }
        let text = std::str::from_utf8(&self.bytes[start..self.at]).unwrap_or("");
        if let Ok(value) = text.parse() {
            return Ok(Value::Unsigned(value));
        }
        if let Ok(value) = text.parse() {
            return Ok(Value::Signed(value));
        }
        match text.parse::<f64>() {
            Ok(value) if value.is_finite() => Ok(Value::Float(value)),
            _ => {
                self.at = start;
                Err(self.error("a number"))
            }
        }
    }

    fn string(&mut self) -> Result<String> {
        let mut bytes = Vec::new();
        self.at += 1;
        loop {
            let byte = *self.bytes.get(self.at).ok_or_else(|| self.error("the end of a text"))?;
            self.at += 1;
            match byte {
                b'"' => break,
                b'\\' => {
                    let character = self.escape()?;
                    bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                }
                byte if byte < 32 => return Err(self.error("no control character")),
                byte => bytes.push(byte),
            }
        }
        // The text was UTF-8, and only whole characters were added.
        String::from_utf8(bytes).map_err(|_| self.error("UTF-8"))
    }

    fn escape(&mut self) -> Result<char> {
        let byte = *self.bytes.get(self.at).ok_or_else(|| self.error("an escape"))?;
        self.at += 1;
        Ok(match byte {
            b'"' | b'\\' | b'/' => char::from(byte),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                let mut code = self.hex()?;
                if (0xd800..0xdc00).contains(&code) && self.bytes[self.at..].starts_with(b"\\u") {
                    self.at += 2;
                    let low = self.hex()?;
                    code = 0x10000 + ((code - 0xd800) << 10) + (low.wrapping_sub(0xdc00) & 0x3ff);
                }
                char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)
            }
            _ => return Err(self.error("an escape")),
        })
    }

    fn hex(&mut self) -> Result<u32> {
        let digits = self.bytes.get(self.at..self.at + 4).and_then(|digits| std::str::from_utf8(digits).ok());
        let code = digits
            .and_then(|digits| u32::from_str_radix(digits, 16).ok())
            .ok_or_else(|| self.error("four hex digits"))?;
        self.at += 4;
        Ok(code)
    }
}

/// Reads a field of an answer from its value. `answers.rs` uses it.
pub(crate) trait FromValue: Sized {
    fn from_value(value: &Value) -> Option<Self>;
}

macro_rules! scalars {
    ($($type:ty: $read:expr;)*) => {
        $(impl FromValue for $type {
            fn from_value(value: &Value) -> Option<Self> {
                let read: fn(&Value) -> Option<$type> = $read;
                read(value)
            }
        })*
    };
}

scalars! {
    bool: Value::as_bool;
    u64: Value::as_u64;
    u32: |value| value.as_u64().and_then(|value| u32::try_from(value).ok());
    i64: Value::as_i64;
    i32: |value| value.as_i64().and_then(|value| i32::try_from(value).ok());
    f64: Value::as_f64;
    String: |value| value.as_str().map(str::to_string);
    Value: |value| Some(value.clone());
}

impl<T: FromValue> FromValue for Option<T> {
    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Null => Some(None),
            value => T::from_value(value).map(Some),
        }
    }
}

impl<T: FromValue> FromValue for Vec<T> {
    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Null => Some(Vec::new()),
            Value::Array(items) => items.iter().map(T::from_value).collect(),
            _ => None,
        }
    }
}

impl<T: FromValue> FromValue for BTreeMap<String, T> {
    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Null => Some(BTreeMap::new()),
            Value::Object(members) => {
                members.iter().map(|(key, value)| T::from_value(value).map(|value| (key.clone(), value))).collect()
            }
            _ => None,
        }
    }
}

/// Puts an option of a question into an object, unless it is not set.
pub(crate) trait PutMember {
    fn put(&self, key: &str, object: &mut Vec<(String, Value)>);
}

pub(crate) trait ToValue {
    fn to_value(&self) -> Value;
}

impl ToValue for bool {
    fn to_value(&self) -> Value {
        Value::Bool(*self)
    }
}

impl ToValue for u32 {
    fn to_value(&self) -> Value {
        Value::Unsigned(u64::from(*self))
    }
}

impl ToValue for u64 {
    fn to_value(&self) -> Value {
        Value::Unsigned(*self)
    }
}

impl ToValue for String {
    fn to_value(&self) -> Value {
        Value::String(self.clone())
    }
}

impl<T: ToValue> PutMember for Option<T> {
    fn put(&self, key: &str, object: &mut Vec<(String, Value)>) {
        if let Some(value) = self {
            object.push((key.to_string(), value.to_value()));
        }
    }
}

impl<T: ToValue> PutMember for Vec<T> {
    fn put(&self, key: &str, object: &mut Vec<(String, Value)>) {
        if !self.is_empty() {
            object.push((key.to_string(), Value::Array(self.iter().map(ToValue::to_value).collect())));
        }
    }
}
