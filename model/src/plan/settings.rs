//! Parameters of a kind of store, by name: what a plan says of the stores without knowing of which kind they are.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::time::nanos;

/// What ends the name of a span in a file.
const NANOSECONDS: &str = "_ns";

/// The parameters that a plan gives to its stores; what it does not give has the default that the kind of store declares.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings(BTreeMap<String, Setting>);

/// The value of one parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Setting {
    /// A span of time.
    Span(Duration),
    /// A whole number.
    Count(u64),
    /// A word.
    Word(String),
}

/// As it is written in a scenario.
impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Setting::Span(span) => write!(f, "{}ns", span.as_nanos()),
            Setting::Count(count) => write!(f, "{count}"),
            Setting::Word(word) => f.write_str(word),
        }
    }
}

impl Settings {
    /// True if nothing is given.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Gives a parameter a value.
    pub fn put(&mut self, name: &str, value: Setting) {
        self.0.insert(name.to_owned(), value);
    }

    /// The same with a parameter given as a word.
    #[must_use]
    pub fn with_word(mut self, name: &str, word: &str) -> Settings {
        self.put(name, Setting::Word(word.to_owned()));
        self
    }

    /// The same with a parameter given as a number.
    #[must_use]
    pub fn with_count(mut self, name: &str, count: u64) -> Settings {
        self.put(name, Setting::Count(count));
        self
    }

    /// The same with a parameter given as a span.
    #[must_use]
    pub fn with_span(mut self, name: &str, span: Duration) -> Settings {
        self.put(name, Setting::Span(span));
        self
    }

    /// What is given, in order of names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Setting)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// The value of a parameter, if it is given.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Setting> {
        self.0.get(name)
    }

    /// The value of a span.
    ///
    /// # Panics
    /// When no span of this name is given; so for the methods below and their kinds. A server's settings are complete: it
    /// asks for what its kind declares.
    #[must_use]
    pub fn span(&self, name: &str) -> Duration {
        match self.get(name) {
            Some(Setting::Span(span)) => *span,
            other => unreachable!("`{name}` is declared as a span and is {other:?}"),
        }
    }

    /// The value of a number.
    #[must_use]
    pub fn count(&self, name: &str) -> u64 {
        match self.get(name) {
            Some(Setting::Count(count)) => *count,
            other => unreachable!("`{name}` is declared as a number and is {other:?}"),
        }
    }

    /// The value of a word.
    #[must_use]
    pub fn word(&self, name: &str) -> &str {
        match self.get(name) {
            Some(Setting::Word(word)) => word,
            other => unreachable!("`{name}` is declared as a word and is {other:?}"),
        }
    }
}

impl Serialize for Settings {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(self.0.iter().map(|(name, value)| match value {
            Setting::Span(span) => (format!("{name}{NANOSECONDS}"), Raw::Number(nanos(*span))),
            Setting::Count(count) => (name.clone(), Raw::Number(*count)),
            Setting::Word(word) => (name.clone(), Raw::Word(word.clone())),
        }))
    }
}

impl<'de> Deserialize<'de> for Settings {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Settings, D::Error> {
        let mut settings = Settings::default();
        for (name, value) in BTreeMap::<String, Raw>::deserialize(from)? {
            let (name, value) = match (name.strip_suffix(NANOSECONDS), value) {
                (Some(name), Raw::Number(ns)) => (name, Setting::Span(Duration::from_nanos(ns))),
                (Some(_), Raw::Word(_)) => {
                    return Err(D::Error::custom(format!("`{name}` is a number of nanoseconds")));
                }
                (None, Raw::Number(count)) => (name.as_str(), Setting::Count(count)),
                (None, Raw::Word(word)) => (name.as_str(), Setting::Word(word)),
            };
            settings.put(name, value);
        }
        Ok(settings)
    }
}

/// A value as it stands in a file.
#[derive(Serialize, Deserialize)]
#[serde(untagged, expecting = "a number or a word")]
enum Raw {
    Number(u64),
    Word(String),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_read_as_they_were_written() {
        let settings = Settings::default()
            .with_word("persistence", "always")
            .with_count("replicas", 2)
            .with_span("down_after", Duration::from_millis(200));
        let text = serde_json::to_string(&settings).unwrap();
        assert_eq!(text, r#"{"down_after_ns":200000000,"persistence":"always","replicas":2}"#);
        assert_eq!(serde_json::from_str::<Settings>(&text).unwrap(), settings);
    }

    #[test]
    fn a_span_that_is_a_word_is_refused() {
        let error = serde_json::from_str::<Settings>(r#"{"down_after_ns":"soon"}"#).unwrap_err();
        assert!(error.to_string().contains("`down_after_ns` is a number of nanoseconds"), "{error}");
    }
}
