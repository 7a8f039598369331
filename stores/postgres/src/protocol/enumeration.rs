//! Types of CREATE TYPE ... AS ENUM.
//!
//! A type is passed by copy, so its definition lives as long as the process. The same definition is kept once: a process that makes the same
//! type in each of its runs keeps one.

use std::sync::{Arc, Mutex, PoisonError};

/// The definition of such a type. Its values have the order of their labels.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Enumeration {
    pub(crate) oid: u32,
    pub(crate) name: String,
    /// The name of its arrays.
    pub(super) array_name: String,
    pub(crate) labels: Vec<Arc<str>>,
}

static KNOWN: Mutex<Vec<&Enumeration>> = Mutex::new(Vec::new());

impl Enumeration {
    /// The type with this OID; its arrays have the next one.
    pub(crate) fn of(oid: u32, name: &str, labels: &[&str]) -> &'static Enumeration {
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        let is_same = |other: &&&Enumeration| {
            other.oid == oid
                && other.name == name
                && other.labels.iter().map(|label| &**label).eq(labels.iter().copied())
        };
        if let Some(found) = known.iter().find(is_same) {
            return found;
        }
        let labels = labels.iter().map(|label| Arc::from(*label)).collect();
        let made = Enumeration { oid, name: name.to_owned(), array_name: format!("{name}[]"), labels };
        let made: &'static Enumeration = Box::leak(Box::new(made));
        known.push(made);
        made
    }

    /// The place of a label, and the label.
    pub(super) fn label(&self, text: &str) -> Option<(u32, Arc<str>)> {
        let at = self.labels.iter().position(|label| **label == *text)?;
        Some((u32::try_from(at).ok()?, Arc::clone(&self.labels[at])))
    }
}
