//! The single conditions that a design claims to survive: while one of them lasts, and no more, somebody still gets the
//! lock within the design's bound.
//!
//! A condition says what may fail, not for how long. Two at once are more than any design is asked to survive here. Left out on
//! purpose: links between stores and late messages, which no condition covers.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// One condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Condition {
    /// Fewer than half of the stores, or of the members of one store, are dead or cannot be reached.
    MinorityDown,
    /// A server of a replicated store is dead or stands still, and another one is there to take over. Whoever waits for no
    /// replica is taken to survive it: the bound has room for the failover.
    PrimaryDown,
    /// The process that holds the lock stands still.
    HolderPaused,
    /// A process died, holding the lock or asking for it, and its host is not back yet.
    HolderDead,
    /// A process that asks for the lock stands still.
    WaiterPaused,
    /// The links of one client are cut.
    ClientCut,
}

impl Condition {
    /// All of them.
    pub const ALL: [Condition; 6] = [
        Condition::MinorityDown,
        Condition::PrimaryDown,
        Condition::HolderPaused,
        Condition::HolderDead,
        Condition::WaiterPaused,
        Condition::ClientCut,
    ];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Condition::MinorityDown => "minority-down",
            Condition::PrimaryDown => "primary-down",
            Condition::HolderPaused => "holder-paused",
            Condition::HolderDead => "holder-dead",
            Condition::WaiterPaused => "waiter-paused",
            Condition::ClientCut => "client-cut",
        }
    }

    /// The condition in a few words.
    #[must_use]
    pub fn doc(self) -> &'static str {
        match self {
            Condition::MinorityDown => "fewer than half of the stores are dead or cannot be reached",
            Condition::PrimaryDown => "a server of a replicated store is down and another one is there",
            Condition::HolderPaused => "the process that holds the lock stands still",
            Condition::HolderDead => "a process died, holding the lock or asking for it",
            Condition::WaiterPaused => "a process that asks for the lock stands still",
            Condition::ClientCut => "the links of one client are cut",
        }
    }
}

/// A text that names no condition.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "there is no condition `{0}`; there are minority-down, primary-down, holder-paused, holder-dead, waiter-paused and client-cut"
)]
pub struct NoSuchCondition(String);

impl FromStr for Condition {
    type Err = NoSuchCondition;

    fn from_str(text: &str) -> Result<Condition, NoSuchCondition> {
        let found = Condition::ALL.into_iter().find(|condition| condition.name() == text.trim());
        found.ok_or_else(|| NoSuchCondition(text.chars().take(40).collect()))
    }
}

/// A set of conditions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Vec<Condition>", into = "Vec<Condition>")]
pub struct Conditions(u8);

impl Conditions {
    /// No condition at all: the lock may be out of reach while anything is wrong.
    pub const NONE: Conditions = Conditions(0);

    /// The conditions that a lease bounds: a client that holds or waits may stand still, die or be cut off, and the others get the lock when
    /// its lease is over.
    pub const LEASE: Conditions = Conditions::NONE
        .and(Condition::HolderPaused)
        .and(Condition::HolderDead)
        .and(Condition::WaiterPaused)
        .and(Condition::ClientCut);

    /// The same set with this condition.
    #[must_use]
    pub const fn and(self, condition: Condition) -> Conditions {
        Conditions(self.0 | 1 << condition as u8)
    }

    /// True if this condition is one of them.
    #[must_use]
    pub const fn has(self, condition: Condition) -> bool {
        self.0 & 1 << condition as u8 != 0
    }

    /// True if there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0 == 0
    }

    /// Those that are in the set.
    pub fn iter(self) -> impl Iterator<Item = Condition> {
        Condition::ALL.into_iter().filter(move |condition| self.has(*condition))
    }
}

impl FromIterator<Condition> for Conditions {
    fn from_iter<I: IntoIterator<Item = Condition>>(all: I) -> Conditions {
        all.into_iter().fold(Conditions::NONE, Conditions::and)
    }
}

impl From<Vec<Condition>> for Conditions {
    fn from(all: Vec<Condition>) -> Conditions {
        all.into_iter().collect()
    }
}

impl From<Conditions> for Vec<Condition> {
    fn from(set: Conditions) -> Vec<Condition> {
        set.iter().collect()
    }
}

impl fmt::Display for Conditions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return f.write_str("none");
        }
        let names: Vec<&str> = self.iter().map(Condition::name).collect();
        f.write_str(&names.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_has_what_was_put_into_it_and_nothing_else() {
        for condition in Condition::ALL {
            let set = Conditions::NONE.and(condition);
            assert_eq!(set.iter().collect::<Vec<_>>(), [condition]);
            assert_eq!(condition.name().parse(), Ok(condition));
            assert_eq!(serde_json::to_value(set).unwrap(), serde_json::json!([condition.name()]));
        }
        assert_eq!(Conditions::NONE.to_string(), "none");
        assert_eq!(Conditions::LEASE.to_string(), "holder-paused, holder-dead, waiter-paused, client-cut");
        assert!("minority".parse::<Condition>().unwrap_err().to_string().contains("minority-down"));
    }
}
