//! The story of a run as data: its events, all that it violates, and what the violations depend on.

use picklock_model::code::Locations;
use picklock_model::plan::Plan;
use picklock_model::trace::Trace;
use picklock_sim::run::Wire;

use picklock_judge::outcome::Finding;

/// A run with its violations, to be reported.
#[derive(Clone, Debug)]
pub struct Story {
    /// The design's spelling.
    pub design: String,
    /// The scenario's name.
    pub scenario: String,
    /// All that it violates, by the number of the invariant, but for the one that the story is about, which
    /// comes first; nothing if it violates nothing.
    pub breaches: Vec<Breach>,
    /// The plan of the run.
    pub plan: Plan,
    /// The trace of the run.
    pub trace: Trace,
    /// The bytes of the segments, if they were kept.
    pub wire: Wire,
    /// Where programs were in their source, if that was kept.
    pub code: Locations,
    /// The command line that makes this very run again, the reduced one if it was reduced.
    pub replay: String,
    /// The ablation of the run, if it was made.
    pub ablation: Option<Ablation>,
}

impl Story {
    /// Puts an invariant first, if it is among those violated: the story is then about it.
    pub fn lead_with(&mut self, invariant: &str) {
        self.breaches.sort_by_key(|breach| breach.invariant != invariant);
    }

    /// The finding that the story is about: the first of the first invariant, of which the others mostly are
    /// consequences.
    #[must_use]
    pub fn leading(&self) -> Option<&Finding> {
        self.breaches.first().and_then(|breach| breach.findings.first())
    }

    /// The names of the violated invariants, by number.
    pub fn invariants(&self) -> impl Iterator<Item = &str> {
        self.breaches.iter().map(|breach| breach.invariant.as_str())
    }
}

/// One invariant that a run violates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Breach {
    /// The invariant's name.
    pub invariant: String,
    /// The findings; there is at least one.
    pub findings: Vec<Finding>,
}

/// The results of the ablation of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ablation {
    /// Each injection and then each section of the plan, left out.
    pub without: Vec<Without>,
    /// The same plan with other designs.
    pub elsewhere: Vec<Elsewhere>,
    /// The time was over before all of them were tried.
    pub cut_short: bool,
}

/// A run from whose plan one part was left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Without {
    /// The part that was left out.
    pub part: Part,
    /// Which of the story's invariants are violated nevertheless; none if it does not happen without this part.
    pub violated: Vec<String>,
}

/// A part of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// An injection, by its index in the plan.
    Injection(u32),
    /// A section.
    Section {
        /// The client's host name.
        client: String,
        /// The section's ordinal.
        ordinal: u32,
    },
}

/// A run of the same plan with another design.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Elsewhere {
    /// The design's spelling.
    pub design: String,
    /// The invariants that it violates, by name.
    pub violated: Vec<String>,
    /// True if the run proves nothing: no fault made a difference, or what the story violates was not judged.
    pub inconclusive: bool,
}
