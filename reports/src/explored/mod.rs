//! Reports of explorations: how much was tried, and the failures that were found.

mod data;
mod explorations;
mod markdown;
mod text;
mod words;

use crate::format::Format;

pub use self::explorations::Explorations;

/// The formats of explorations, the one for people first.
pub const ALL: &[Format<Explorations>] = &[text::FORMAT, markdown::FORMAT, data::FORMAT, data::FIGURES];

/// The format of explorations with this name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Format<Explorations>> {
    ALL.iter().find(|format| format.name == name)
}
