//! The draws of a fault from a parameter that leaves something open.

use std::time::Duration;

use picklock_model::seed::Stream;
use picklock_sim::param::{Count, Counts, Kind, Share, Shares, SpanRange, Spans, SpansOr, Word, YesNoRandom};
use picklock_sim::store::Topology;

/// A kind of parameters that faults have.
pub trait Drawn: Kind {
    /// The type that is drawn from a value.
    type Drawn;

    /// Draws from a value, for a lease of this length and a design with these servers.
    ///
    /// How much is taken from the stream depends on the kind alone: another value does not shift what is drawn next.
    fn draw(value: Self::Value, rng: &mut Stream, ttl: Duration, topology: Topology) -> Self::Drawn;
}

impl Drawn for Spans {
    type Drawn = Duration;

    fn draw(range: SpanRange, rng: &mut Stream, ttl: Duration, _: Topology) -> Duration {
        let (min, max) = range.resolve(ttl);
        rng.span(min, max)
    }
}

impl Drawn for SpansOr {
    type Drawn = Option<Duration>;

    fn draw(range: Option<SpanRange>, rng: &mut Stream, ttl: Duration, _: Topology) -> Option<Duration> {
        let (min, max) = range.map(|range| range.resolve(ttl)).unwrap_or_default();
        let drawn = rng.span(min, max);
        range.map(|_| drawn)
    }
}

impl Drawn for Count {
    type Drawn = u64;

    fn draw(count: u64, _: &mut Stream, _: Duration, _: Topology) -> u64 {
        count
    }
}

impl Drawn for Counts {
    type Drawn = u64;

    fn draw((from, to): (u64, u64), rng: &mut Stream, _: Duration, _: Topology) -> u64 {
        from + rng.below(to - from + 1)
    }
}

impl Drawn for Word {
    type Drawn = &'static str;

    fn draw(word: &'static str, _: &mut Stream, _: Duration, _: Topology) -> &'static str {
        word
    }
}

impl Drawn for YesNoRandom {
    type Drawn = bool;

    fn draw(yes: Option<bool>, rng: &mut Stream, _: Duration, _: Topology) -> bool {
        let drawn = rng.percent(50);
        yes.unwrap_or(drawn)
    }
}

/// So many of the design's stores; never more than there are.
impl Drawn for Shares {
    type Drawn = usize;

    fn draw(share: Share, rng: &mut Stream, _: Duration, topology: Topology) -> usize {
        let stores = u64::from(topology.stores);
        let drawn = 1 + rng.below(stores.max(1));
        let share = match share {
            Share::Exactly(number) => number,
            Share::All => stores,
            Share::Quorum => u64::from(topology.quorum()),
            Share::Minority => u64::from(topology.minority()),
            Share::Random => drawn,
        };
        share.min(stores) as usize
    }
}
