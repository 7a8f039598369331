//! The options of a run: how it is made, and what is kept of it besides its trace.

use picklock_model::points::PointsToRecord;

use crate::engine::Engine;

/// The options of a run. None changes what happens in it, but that one [for its points](Options::for_points) ends early.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// The engine that drives it.
    pub engine: Engine,
    /// The injection points that are recorded.
    pub points: PointsToRecord,
    /// True if the content of the segments to stores and from them is kept, and where programs are in their source.
    pub wire: bool,
    /// True if all its choices are recorded.
    pub choices: bool,
    /// Made for its points alone, if so.
    pub(super) shortened: Option<Shortened>,
}

/// A run as far as faults could hit: the fresh client at the end does not come, nothing is recorded, and monitors rest
/// where the design lets them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shortened {
    /// The run is over when all clients are past this section, if one is named.
    pub(super) last_section: Option<u32>,
}

impl Options {
    /// The same, and what segments say is kept, and where programs are in their source.
    #[must_use]
    pub fn with_wire(mut self) -> Options {
        self.wire = true;
        self
    }

    /// The same, and these injection points are recorded.
    #[must_use]
    pub fn recording_points(mut self, points: PointsToRecord) -> Options {
        self.points = points;
        self
    }

    /// The same, and all its choices are recorded.
    #[must_use]
    pub fn recording_choices(mut self) -> Options {
        self.choices = true;
        self
    }

    /// A run for the injection points that clients reach, as far as faults could hit: if none hits after `last_section` of a
    /// client, it is over when all are past it.
    #[must_use]
    pub fn for_points(last_section: Option<u32>) -> Options {
        Options {
            engine: Engine::Event,
            points: PointsToRecord::Sections,
            wire: false,
            choices: false,
            shortened: Some(Shortened { last_section }),
        }
    }
}

impl From<Engine> for Options {
    fn from(engine: Engine) -> Options {
        Options { engine, ..Options::default() }
    }
}
