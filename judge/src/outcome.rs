//! The judgement of one invariant on one run.

use std::time::Duration;

use picklock_model::ids::{EventId, GrantId};
use serde::Serialize;

/// The judgement of one invariant on one trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The run put it to the test and it was kept.
    Holds,
    /// It was broken; the findings are in true-time order and there is at least one.
    Violated(Vec<Finding>),
    /// The run asked for it and ended before it was decided, or cannot be judged, for this reason.
    Undecided(String),
    /// The run did not put it to the test, for this reason.
    NotAsked(String),
    /// It does not apply to designs of this kind.
    NotApplicable,
}

/// One breach of an invariant, with the events that prove it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The breach in a sentence that names hosts and keys.
    pub text: String,
    /// The grants that clash, the earlier one first; one grant or none for a breach of another kind.
    pub grants: Vec<GrantId>,
    /// The events that prove it, in true-time order.
    pub events: Vec<EventId>,
    /// How wide the overlap, or how long the block, in nanoseconds of true time.
    #[serde(rename = "width_ns", serialize_with = "width_ns")]
    pub width: Option<Duration>,
}

#[expect(clippy::ref_option, reason = "serde's `serialize_with` hands over a reference to the field")]
fn width_ns<S: serde::Serializer>(width: &Option<Duration>, to: S) -> Result<S::Ok, S::Error> {
    match width {
        Some(width) => to.serialize_some(&picklock_model::time::nanos(*width)),
        None => to.serialize_none(),
    }
}
