//! Parameters of a kind of store, by name: what a plan says of the stores without knowing of which kind they are.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::time::nanos;

/// The end of the name of a span in a file.
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

/// A declared parameter, by which settings are read and given.
pub trait Declared: Copy {
    /// The type of its values.
    type Value<'s>;

    /// Its name.
    fn name(self) -> &'static str;

    /// Its value; `None` if the setting is one of another type.
    fn read(setting: &Setting) -> Option<Self::Value<'_>>;

    /// The setting that has this value.
    fn write(value: Self::Value<'_>) -> Setting;
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

    /// Gives the parameter of this name a value.
    pub fn put(&mut self, name: &str, value: Setting) {
        self.0.insert(name.to_owned(), value);
    }

    /// Gives a declared parameter a value.
    pub fn set<K: Declared>(&mut self, param: K, value: K::Value<'_>) {
        self.put(param.name(), K::write(value));
    }

    /// The same with a declared parameter given.
    #[must_use]
    pub fn with<K: Declared>(mut self, param: K, value: K::Value<'_>) -> Settings {
        self.set(param, value);
        self
    }

    /// The values that are given, in order of names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Setting)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// The value of the parameter of this name, if it is given.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<&Setting> {
        self.0.get(name)
    }

    /// The value of a declared parameter.
    ///
    /// # Panics
    /// When it is not given. A server's settings are complete: it asks for what its kind declares.
    #[must_use]
    pub fn get<K: Declared>(&self, param: K) -> K::Value<'_> {
        let setting = self.find(param.name());
        let value = setting.and_then(|setting| K::read(setting));
        value.unwrap_or_else(|| unreachable!("`{}` is declared and is {setting:?}", param.name()))
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
        let mut settings = Settings::default();
        settings.put("persistence", Setting::Word("always".to_owned()));
        settings.put("replicas", Setting::Count(2));
        settings.put("down_after", Setting::Span(Duration::from_millis(200)));
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
