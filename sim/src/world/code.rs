//! Where programs are in their source, of a run that was asked to keep it.

use std::collections::{BTreeMap, BTreeSet};

use picklock_model::code::{Location, Locations, Stack, own};
use picklock_model::ids::{EventId, HostId};
use picklock_model::trace::What;

/// What a program does by itself, or what hits it where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Done {
    Acts,
    /// It goes on no more.
    Dies,
}

impl Done {
    /// None for what happens elsewhere, or in the code of picklock.
    pub(super) fn of(what: &What) -> Option<Done> {
        match what {
            What::Sent { .. } | What::Connecting { .. } | What::Printed { .. } | What::Injected { .. } => {
                Some(Done::Acts)
            }
            What::Crashed { .. } => Some(Done::Dies),
            _ => None,
        }
    }
}

/// Keeps where programs are while they do what is recorded.
#[derive(Default)]
pub(crate) struct CodeLog {
    now: BTreeMap<HostId, Location>,
    kept: Locations,
    /// The hosts whose programs do what follows from a place that is not known.
    elsewhere: BTreeSet<HostId>,
    /// The events that were noted since a program came to its lines.
    of_lines: BTreeMap<HostId, Vec<EventId>>,
}

impl CodeLog {
    /// What the program on a host does from now on, it does from here; from an unknown place if the stack is empty.
    pub(crate) fn at(&mut self, host: HostId, stack: Stack) {
        if stack.is_empty() {
            self.elsewhere.insert(host);
            return;
        }
        self.elsewhere.remove(&host);
        let location = match self.now.remove(&host) {
            None => Location { stack, before: None, after: None },
            Some(last) if last.stack == stack => last,
            Some(last) => {
                let lines = |stack| own(stack).map(|frame| (&frame.file, frame.line));
                if !lines(&last.stack).eq(lines(&stack)) {
                    for event in self.of_lines.remove(&host).into_iter().flatten() {
                        self.kept.entry(event).and_modify(|location| location.after = Some(stack.clone()));
                    }
                }
                Location { stack, before: Some(last.stack), after: None }
            }
        };
        self.now.insert(host, location);
    }

    /// Notes where it is for an event.
    pub(super) fn note(&mut self, host: HostId, event: EventId, done: Done) {
        if let Some(location) = self.now.get(&host).filter(|_| !self.elsewhere.contains(&host)) {
            self.kept.insert(event, location.clone());
            self.of_lines.entry(host).or_default().push(event);
        }
        if done == Done::Dies {
            self.now.remove(&host);
            self.of_lines.remove(&host);
        }
    }

    pub(crate) fn take(self) -> Locations {
        self.kept
    }
}
