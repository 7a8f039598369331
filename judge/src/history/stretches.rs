//! The stretches of a run between two events of faults: within one of them the same is broken all the time.
//!
//! An event that only happens, such as a lost reply or a clock that jumps, begins a new stretch as well: whoever is to recover
//! from it has the whole of its time from there.

use picklock_model::time::TrueTime;
use picklock_model::trace::{Broken, Event, Extent};

use super::parts::History;

/// One stretch.
#[derive(Clone, Copy, Debug)]
pub struct Stretch<'t> {
    /// Its beginning.
    pub from: TrueTime,
    /// The last event of a fault at that instant, if one is recorded.
    pub begin: Option<&'t Event>,
    /// The extent of all that is broken meanwhile.
    pub extent: Extent,
}

impl<'t> History<'t> {
    /// All stretches, in order; the last one ends with the run.
    #[must_use]
    pub fn stretches(&self) -> Vec<Stretch<'t>> {
        let outages = &self.trace.outages;
        let passing = self.trace.hits.iter().filter(|hit| {
            let lasts = outages.iter().any(|outage| outage.injection == hit.injection);
            !lasts && hit.at <= self.trace.end
        });
        let mut cuts: Vec<(TrueTime, Option<&Event>)> = vec![(TrueTime(0), None)];
        cuts.extend(self.disruptions.iter().map(|event| (event.at, Some(*event))));
        cuts.extend(passing.map(|hit| (hit.at, None)));
        // A message is late from when it is sent, which may be long after the delay was ordered.
        let edges = outages.iter().flat_map(|outage| [Some(outage.from), outage.until]);
        cuts.extend(edges.flatten().map(|at| (at, None)));
        cuts.sort_by_key(|(at, event)| (*at, event.map(|event| event.id)));
        let mut stretches: Vec<Stretch<'t>> = Vec::with_capacity(cuts.len());
        for (from, begin) in cuts {
            if let Some(same) = stretches.last_mut().filter(|last| last.from == from) {
                same.begin = begin.or(same.begin);
                continue;
            }
            let broken: Vec<Broken> =
                outages.iter().filter(|outage| outage.lasts_at(from)).map(|outage| outage.what).collect();
            stretches.push(Stretch { from, begin, extent: Extent::of(&self.trace.hosts, &broken) });
        }
        stretches
    }

    /// True if the run ended while more was broken than the design claims to survive: nobody knows whether it would have
    /// recovered.
    #[must_use]
    pub fn ends_in_the_dark(&self) -> bool {
        let end = self.trace.end;
        let broken: Vec<Broken> =
            self.trace.outages.iter().filter(|out| out.lasts_at(end)).map(|outage| outage.what).collect();
        !broken.is_empty() && !Extent::of(&self.trace.hosts, &broken).may_be_survived(self.trace.survives)
    }
}
