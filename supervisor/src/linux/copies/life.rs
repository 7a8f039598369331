//! The keeper of a group's processes: an init of their own, or a template that they are a copy of.

use std::sync::{Arc, Mutex, PoisonError};

use super::holdings::Holdings;
use super::parked::Parked;
use crate::linux::clocks::made_timers::MadeTimers;
use crate::linux::kernel::clock_page::{ClockPage, Image};
use crate::linux::kernel::notify::Listener;
use crate::linux::process::futex::Futexes;
use crate::linux::start::apart::Apart;
use crate::linux::start::namespace::NamespaceKeeper;
use crate::linux::start::spawn::Child;
use crate::linux::state::call::Held;
use crate::{Clock, Status};

/// The place of a template in its pool: empty while a copy of it lives.
pub(crate) type Place = Arc<Mutex<Option<Template>>>;

/// The keeper of a group's processes.
pub(crate) enum Life {
    /// They are its own.
    Own(Child),
    /// They are its own, and are to be copied.
    Copied(Child, Nest),
    /// They are a copy of a template.
    Lent(Box<Lease>),
}

impl Life {
    /// How the program ended.
    pub(crate) fn status(&mut self) -> Status {
        match self {
            Self::Own(child) | Self::Copied(child, _) => child.status(),
            Self::Lent(lease) => match &mut lease.template {
                Some(template) => template.child.status(),
                None => Status::Signal(libc::SIGKILL),
            },
        }
    }

    /// Something may be left that outlives the processes.
    pub(crate) fn spoil(&mut self) {
        if let Self::Lent(lease) = self {
            lease.spoiled = true;
        }
    }

    /// Kills all processes.
    pub(crate) fn kill(&mut self) {
        match self {
            Self::Own(child) | Self::Copied(child, _) => child.kill(),
            Self::Lent(lease) => lease.template = lease.template.take().and_then(Template::cleared),
        }
    }
}

/// Where the copies of a program will live.
pub(crate) struct Nest {
    pub(crate) keeper: NamespaceKeeper,
    /// The numbers of the files that are the program's input and outputs.
    pub(crate) ends: [u64; 3],
}

/// A template that a group uses, and gives back at its end.
pub(crate) struct Lease {
    template: Option<Template>,
    place: Place,
    /// The copy may have left what outlives its processes: no other one must find it.
    spoiled: bool,
}

impl Lease {
    pub(crate) fn new(template: Template, place: Place) -> Self {
        Self { template: Some(template), place, spoiled: false }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let template = self.template.take().filter(|_| !self.spoiled).and_then(Template::cleared);
        *self.place.lock().unwrap_or_else(PoisonError::into_inner) = template;
    }
}

/// A program that stands still, to be copied: one that has started up, or that was warmed up by what it was made to do.
pub struct Template {
    pub(crate) child: Child,
    pub(crate) keeper: NamespaceKeeper,
    pub(crate) listener: Arc<Listener>,
    pub(crate) page: Option<Arc<ClockPage>>,
    pub(crate) parked: Parked,
    pub(crate) image: Image,
    pub(crate) random_files: Vec<u64>,
    pub(crate) holdings: Holdings,
    /// What has no name, in the order of being asked for.
    pub(crate) numbered: Vec<u64>,
    /// How its threads stand.
    pub(crate) threads: Vec<Standing>,
    /// The thread that went on last.
    pub(crate) current: usize,
    pub(crate) futexes: Futexes,
    pub(crate) made_timers: MadeTimers,
    pub(crate) apart: Apart,
    /// Its clock, if it has done more than to start up.
    pub(crate) warmed: Option<Clock>,
}

impl std::fmt::Debug for Template {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Template").field("threads", &self.threads.len()).finish_non_exhaustive()
    }
}

impl Template {
    /// The template without its copy, if it is as it was.
    fn cleared(mut self) -> Option<Self> {
        let is_clear = self.keeper.clears().unwrap_or(false);
        // Its end was reported, and the next one's is not.
        self.child.status();
        is_clear.then_some(self)
    }
}

/// How a thread of a template stands.
pub(crate) enum Standing {
    Ended,
    Calls,
    Waits(Held),
}
