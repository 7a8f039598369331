//! The verdict on a history.

use std::time::Duration;

/// The judgement of a history: its size, and the verdict of each invariant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// How many lines it has.
    pub lines: u64,
    /// How many hosts.
    pub hosts: usize,
    /// How many keys.
    pub keys: usize,
    /// How many grants.
    pub grants: usize,
    /// From its first line to its last.
    pub span: Duration,
    /// The invariants by number and name, and the verdict of each.
    pub verdicts: Vec<(&'static str, &'static str, Verdict)>,
}

/// The verdict of an invariant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It was kept, whatever the clocks showed within their uncertainty.
    Holds,
    /// It was broken, whatever the clocks showed within their uncertainty.
    Violated {
        /// How often.
        count: usize,
        /// Some of the breaches, the first ones.
        breaches: Vec<Breach>,
    },
    /// The history does not decide it: for this reason, and with these examples. In files and on pages it is spelled `unknown`.
    Inconclusive {
        /// The reason.
        why: String,
        /// The places at which it may have been broken, if that is the reason.
        perhaps: Vec<Breach>,
    },
    /// It does not apply to the history.
    NotApplicable(String),
}

/// One breach.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Breach {
    /// The breach in one or two sentences.
    pub text: String,
    /// The lines that prove it, in order.
    pub lines: Vec<u64>,
    /// How long at least, of an overlap.
    pub width: Option<Duration>,
}

/// So many breaches are shown.
pub(super) const SHOWN: usize = 10;

impl Judgement {
    /// True if anything is violated.
    #[must_use]
    pub fn is_violated(&self) -> bool {
        self.verdicts.iter().any(|(.., verdict)| matches!(verdict, Verdict::Violated { .. }))
    }

    /// True if something was put to the test and nothing is left open by the clocks.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        let open = |verdict: &Verdict| matches!(verdict, Verdict::Inconclusive { perhaps, .. } if !perhaps.is_empty());
        !self.is_violated()
            && self.verdicts.iter().any(|(.., verdict)| *verdict == Verdict::Holds)
            && !self.verdicts.iter().any(|(.., verdict)| open(verdict))
    }

    /// The verdict of an invariant, by its name.
    #[must_use]
    pub fn of(&self, invariant: &str) -> Option<&Verdict> {
        self.verdicts.iter().find(|(_, name, _)| *name == invariant).map(|(.., verdict)| verdict)
    }
}
