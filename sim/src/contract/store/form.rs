//! The topologies of a store kind, under the names by which each command takes them.
//!
//! A form declares everything that commands must know of it: its name, its number, the stores behind it, and its users. The parser is not here: it
//! reads the forms of all kinds, and this crate knows none.

use super::member::Topology;
use super::server::Store;

/// A topology of a store kind.
#[derive(Clone, Copy, Debug)]
pub struct Form {
    /// Its name, which no other form of any kind has.
    pub name: &'static str,
    /// Short and former names.
    pub aliases: &'static [&'static str],
    /// The number after its name, as in `name:3`. `None` if it has none.
    pub number: Option<Number>,
    /// Its servers, as a noun phrase in which `N` is the number.
    pub doc: &'static str,
    /// Its stores, for a number. A form without a number is given 1.
    pub stores: fn(u32) -> (Topology, Store),
    /// The commands that can use it.
    pub users: Users,
    /// The parameters of a served world that differ from the defaults of a scenario: name and value.
    pub served: &'static [(&'static str, &'static str)],
}

/// The number of a form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Number {
    /// The largest number; the smallest is 1.
    pub most: u32,
}

/// The commands that can use a form. `serve` can use each of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Users {
    /// Programs too: they are given the addresses of its stores.
    Programs,
    /// Only `serve`.
    ServeAlone {
        /// The remedy for a program, as an imperative clause.
        instead: &'static str,
    },
}

impl Form {
    /// True if this is its name or one of its aliases.
    #[must_use]
    pub fn is_called(&self, name: &str) -> bool {
        self.name == name || self.aliases.contains(&name)
    }

    /// Its spelling, with `N` in the place of the number.
    #[must_use]
    pub fn spelling(&self) -> String {
        let number = if self.number.is_some() { ":N" } else { "" };
        format!("{}{number}", self.name)
    }
}
