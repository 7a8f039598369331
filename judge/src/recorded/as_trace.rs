//! A history as a trace, for the invariants that need no more than what one store or one resource has noted.
//!
//! Times are those on the hosts' own clocks, so the order of events of one host is right and that of two hosts need not be:
//! only what looks at one host may be asked of it. All sections ask at the beginning, so that what a store notes belongs to a
//! section already, whatever its clock shows.

use std::time::Duration;

use picklock_model::ids::{EventId, HostId, Key, Token};
use picklock_model::time::TrueTime;
use picklock_model::trace::{Belief, Exclusion};
use picklock_model::trace::{Conditions, Digest, Event, HostInfo, Role, Trace, What};

use super::recording::Recording;

/// The trace, and the line behind each event; 0 for those that no line states.
pub(super) fn of(recording: &mut Recording) -> (Trace, Vec<u64>) {
    let mut noted: Vec<(u64, Event)> =
        Vec::with_capacity(recording.events.len() + 2 * recording.sections.len());
    for section in &recording.sections {
        let host = HostId(recording.processes[section.process].host as u16);
        let event = |at, what| Event {
            at: TrueTime(at),
            id: EventId(0),
            host,
            cause: None,
            conn: None,
            grant: Some(section.id),
            what,
        };
        let key: Key = recording.keys[section.key].clone();
        noted.push((0, event(0, What::Waiting { key: key.clone(), shared: section.shared })));
        if let Some(granted) = section.granted {
            let token = section.token.map(Token);
            let what = What::Acquired { key, owner: String::new(), token, deadline: None };
            noted.push((granted.line, event(granted.at, what)));
        }
    }
    let events = std::mem::take(&mut recording.events);
    noted.extend(events.into_iter().map(|noted| (noted.line, noted.event)));
    // The events of one host at one instant stay in the order of its lines.
    noted.sort_by_key(|(line, event)| (event.at, *line));
    let lines: Vec<u64> = noted.iter().map(|(line, _)| *line).collect();
    let mut events: Vec<Event> = noted.into_iter().map(|(_, event)| event).collect();
    for (id, event) in events.iter_mut().enumerate() {
        event.id = EventId(id as u32);
    }
    let hosts = recording.hosts.iter();
    let hosts = hosts.map(|host| HostInfo::new(&host.name, host.role.unwrap_or(Role::Client))).collect();
    let settings = recording.settings;
    let exclusion = match settings.holders {
        Some(most) if most > 1 => Exclusion::Holders(most),
        _ if settings.sharing => Exclusion::Modes,
        _ => Exclusion::Mutual,
    };
    let trace = Trace {
        hosts,
        belief: Belief::Naive,
        exclusion,
        reentrant: settings.reentrant,
        takes_up: false,
        sessions: false,
        quorum: recording.quorum(),
        ttl: Duration::ZERO,
        progress_bound: Duration::ZERO,
        survives: Conditions::NONE,
        detour: Duration::ZERO,
        silent_client: Duration::ZERO,
        silent_store: Duration::ZERO,
        end: events.last().map_or(TrueTime::default(), |event| event.at),
        faults: Vec::new(),
        events,
        digest: Digest::default(),
        final_client: None,
        hits: Vec::new(),
        outages: Vec::new(),
        attempts: std::collections::BTreeMap::new(),
    };
    (trace, lines)
}

impl Recording {
    /// How many stores must have made the record: as the history says, or the only one that there is.
    pub(super) fn quorum(&self) -> u32 {
        let stores = self.hosts.iter().filter(|host| host.role == Some(Role::Leader)).count();
        self.settings.quorum.unwrap_or(u32::from(stores > 0))
    }
}
