//! The reasons for which a run without a violation proves nothing.

use std::collections::BTreeSet;

use picklock_model::plan::Plan;
use picklock_model::trace::Belief;

use crate::history::History;
use crate::invariants::Invariant;
use crate::metrics::Metrics;
use crate::outcome::Outcome;

/// The reason for which a run in which nothing is violated proves nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inconclusive {
    /// It put nothing to the test.
    NotAsked(&'static str),
    /// The property that it put to the test cannot be judged.
    Undecided(&'static str),
}

impl Inconclusive {
    /// The reason in words.
    #[must_use]
    pub fn why(self) -> &'static str {
        match self {
            Inconclusive::NotAsked(why) | Inconclusive::Undecided(why) => why,
        }
    }

    /// The reason for a run of this plan, in which these faults took effect; none if there is none.
    #[must_use]
    pub fn of(
        plan: &Plan,
        history: &History<'_>,
        took_effect: &BTreeSet<String>,
        contested: bool,
    ) -> Option<Inconclusive> {
        if history.trace.not_modelled().next().is_some() {
            return Some(Inconclusive::Undecided("a store refused what is not modelled"));
        }
        // A run without a violation proves nothing if no scheduled fault made a difference, or, where none is scheduled, if no client
        // had to wait.
        let idle = match plan.injections.is_empty() {
            true => (!contested).then_some("nobody waited for anybody"),
            false => took_effect.is_empty().then_some("no fault made a difference"),
        };
        if let Some(why) = idle {
            return Some(Inconclusive::NotAsked(why));
        }
        let dark = history.ends_in_the_dark();
        dark.then_some(Inconclusive::Undecided(
            "more was broken to the end than the design claims to survive",
        ))
    }
}

/// True if a client had to wait for another one.
#[must_use]
pub fn is_contested(history: &History<'_>, metrics: &Metrics) -> bool {
    metrics.contended > 0 && (history.trace.belief == Belief::None || history.is_contested())
}

/// True if a run says something of its lock: it violates an invariant, or it keeps one and no reason speaks against it.
#[must_use]
pub fn is_conclusive(outcomes: &[(&Invariant, Outcome)], inconclusive: Option<Inconclusive>) -> bool {
    let any = |such: fn(&Outcome) -> bool| outcomes.iter().any(|(_, outcome)| such(outcome));
    any(|outcome| matches!(outcome, Outcome::Violated(_)))
        || (inconclusive.is_none() && any(|outcome| matches!(outcome, Outcome::Holds)))
}
