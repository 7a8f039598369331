//! TOML read with the place of every value, and turned into the one text form that parameters are given in.
//!
//! Shared by scenario and expectation files. Entries are visited in the order of the file, so that the first mistake
//! of a file is the one that is reported.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use crate::error::{Problem, Spot};

/// No scenario or expectation file is larger.
pub const MAX_BYTES: u64 = 1 << 20;

/// Parses a text of bounded size.
pub fn table(text: &str) -> Result<Spanned<DeTable<'_>>, Spot> {
    if text.len() as u64 > MAX_BYTES {
        let problem = Problem::TooLarge { bytes: text.len() as u64, limit: MAX_BYTES };
        return Err(Spot::new(0..0, problem));
    }
    DeTable::parse(text).map_err(|error| {
        let message = error.message().lines().collect::<Vec<_>>().join(", ");
        Spot::new(error.span().unwrap_or(text.len()..text.len()), Problem::Syntax(message))
    })
}

/// One key and its value.
pub struct Entry<'t, 'i> {
    /// The key.
    pub key: &'t str,
    /// The bytes of the key.
    pub key_span: Range<usize>,
    /// The value, with its bytes.
    pub value: &'t Spanned<DeValue<'i>>,
}

/// The entries of a table in the order of the file.
pub fn entries<'t, 'i>(table: &'t DeTable<'i>) -> Vec<Entry<'t, 'i>> {
    let entry = |(key, value): (&'t Spanned<DeString<'i>>, &'t Spanned<DeValue<'i>>)| Entry {
        key: key.get_ref(),
        key_span: key.span(),
        value,
    };
    let mut entries: Vec<Entry<'t, 'i>> = table.iter().map(entry).collect();
    entries.sort_by_key(|entry| entry.key_span.start);
    entries
}

impl<'t, 'i> Entry<'t, 'i> {
    /// The problem that the value has another type than `wanted`.
    pub fn wrong_type(&self, wanted: impl Into<String>) -> Spot {
        let found = article(self.value.get_ref());
        Spot::new(self.value.span(), Problem::Type { key: self.key.to_owned(), found, wanted: wanted.into() })
    }

    /// The value as a text.
    pub fn text(&self) -> Result<&'t str, Spot> {
        match self.value.get_ref() {
            DeValue::String(text) => Ok(text),
            _ => Err(self.wrong_type("a text in quotes")),
        }
    }

    /// The value as a table.
    pub fn table(&self) -> Result<&'t DeTable<'i>, Spot> {
        match self.value.get_ref() {
            DeValue::Table(table) => Ok(table),
            _ => Err(self.wrong_type(format!("it as a table, `[{}]`", self.key))),
        }
    }

    /// The value as a list of tables, each with its place.
    pub fn tables(&self) -> Result<Vec<(Range<usize>, &'t DeTable<'i>)>, Spot> {
        let wrong = || self.wrong_type(format!("each as a table, `[[{}]]`", self.key));
        let DeValue::Array(items) = self.value.get_ref() else { return Err(wrong()) };
        items
            .iter()
            .map(|item| match item.get_ref() {
                DeValue::Table(table) => Ok((item.span(), table)),
                _ => Err(wrong()),
            })
            .collect()
    }

    /// The value as a list of texts, each with its place.
    pub fn texts(&self) -> Result<Vec<(Range<usize>, &'t str)>, Spot> {
        let wrong = || self.wrong_type("a list of texts, `[\"...\"]`");
        let DeValue::Array(items) = self.value.get_ref() else { return Err(wrong()) };
        items
            .iter()
            .map(|item| match item.get_ref() {
                DeValue::String(text) => Ok((item.span(), text.as_ref())),
                _ => Err(wrong()),
            })
            .collect()
    }

    /// The value in the text form of parameters: `["1s", "2s"]` becomes `1s..2s`.
    pub fn parameter(&self, wanted: impl Fn() -> String) -> Result<String, Spot> {
        let scalar = |value: &Spanned<DeValue<'i>>| match value.get_ref() {
            DeValue::String(text) => Some(text.to_string()),
            DeValue::Integer(number) if number.radix() == 10 => Some(number.as_str().replace('_', "")),
            _ => None,
        };
        match self.value.get_ref() {
            DeValue::Array(ends) if ends.len() == 2 => {
                let ends: Option<Vec<String>> = ends.iter().map(scalar).collect();
                ends.map(|ends| ends.join("..")).ok_or_else(|| self.wrong_type(wanted()))
            }
            _ => scalar(self.value).ok_or_else(|| self.wrong_type(wanted())),
        }
    }
}

fn article(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a text",
        DeValue::Integer(_) => "a whole number",
        DeValue::Float(_) => "a number with a point",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}
