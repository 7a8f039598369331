//! Templates: how they are made, and copied.

use std::{
    fs::{self, File},
    io,
    path::Path,
};

use super::copies::holdings::{Holdings, Outfit};
use super::copies::life::{Lease, Life, Nest, Place, Standing, Template};
use super::copies::parked::Parked;
use super::copies::regions::unusual;
use super::group::Group;
use super::kernel::text::{status_field, text_of};
use super::start::plan::Role;
use super::start::spawn::{self, Ends};
use super::state::call::Held;
use super::state::table::{State, Table, Thread};
use crate::{HOME, Setup, StartError};

/// The number of the first process and thread, as the program sees it. Those of the others follow.
const FIRST: u32 = 2;

impl Template {
    /// Lets a program start up. None if copies of it would share more than their memory.
    pub(crate) fn new(setup: &Setup) -> Option<Self> {
        let mut group = Group::start_to_copy(setup).ok()?;
        group.start_up().ok()?;
        group.into_template().ok()
    }

    /// Makes a copy with ends of its own.
    pub(crate) fn copy(mut self, setup: &Setup, place: Place) -> io::Result<Group> {
        self.child.expect_another();
        let ends = Ends::new()?;
        let mut outfit = Outfit::new(&self.holdings, &ends, &self.listener);
        let calls = self.parked.copy(&self.listener, &self.keeper, &mut outfit)?;
        let replaced = outfit.replaced;
        let [first, ..] = calls.as_slice() else { return Err(io::Error::other("it has no thread")) };
        let process = first.thread();
        if own_number(process) != Some(FIRST) {
            return Err(io::Error::other("it has another number"));
        }
        let (listener, page) = (self.listener.clone(), self.page.clone());
        // The copy before may have left something there.
        if let Some(page) = &page {
            page.clear();
            page.show(setup.clock);
        }
        let (image, random_files, apart) = (self.image, self.random_files.clone(), self.apart);
        let (futexes, made_timers, current) = (self.futexes.clone(), self.made_timers.clone(), self.current);
        let (numbered, warmed) = (self.numbered.clone(), self.warmed);
        let mut calls = calls.into_iter();
        let mut threads = Vec::new();
        for standing in &self.threads {
            let call = if matches!(standing, Standing::Ended) { None } else { calls.next() };
            let state = match (standing, call) {
                (Standing::Waits(held), Some(call)) => {
                    held.copied().map_or(State::Called(call), |held| State::Held(call, held))
                }
                (_, Some(call)) => State::Called(call),
                (_, None) => State::Dead,
            };
            threads.push(Thread::new(call.map_or(0, |call| call.thread()), 0, state));
        }
        let life = Life::Lent(Box::new(Lease::new(self, place)));
        let mut group = Group::new(setup, life, listener, page, apart, ends.input, ends.output);
        (group.table.unborn, group.table.threads) = (0, threads);
        (group.files.random_files, group.futexes) = (random_files, futexes);
        group.files.stamps.take_numbers(&numbered, &replaced);
        group.turns.set_current(current);
        group.timers.made = made_timers;
        group.goes_on_from(warmed);
        group.table.add_process(process, FIRST, None, image)?;
        Ok(group)
    }
}

impl Group {
    /// Starts the program to become a template.
    ///
    /// # Errors
    /// As for [`start`](Group::start).
    pub fn start_to_copy(setup: &Setup) -> Result<Self, StartError> {
        Self::start_as(setup, spawn::start(setup, Role::Template)?)
    }

    /// Stops the program here for good. It was [started](Group::start_to_copy) for this, and its threads wait.
    ///
    /// # Errors
    /// If copies would share more with it than memory, in words that follow `copies would share`.
    pub fn into_template(self) -> Result<Template, String> {
        let (home, warmed) = (self.has_own_files(), self.warmed());
        let Group {
            life, listener, time, table, files, events, apart, turns, futexes, timers, network, ..
        } = self;
        let Life::Copied(child, Nest { keeper, ends }) = life else {
            return Err("everything: it was started to run".to_owned());
        };
        let [process] = table.processes.as_slice() else { return Err("its other processes".to_owned()) };
        if !events.is_empty() || !process.alive || !timers.are_quiet() {
            return Err("its timers, or what it was about to do".to_owned());
        }
        let threads = standings(&table).ok_or("the numbers of its threads")?;
        let random_files = files.random_files;
        let holdings = Holdings::of(process, ends, &random_files, &network.sockets)?;
        let regions = unusual(process.pid).ok_or("memory that is mapped to be shared")?;
        if home && is_at_home(process.pid) || !keeper.prepares().unwrap_or(false) {
            return Err("files of its own".to_owned());
        }
        let mut calls = (FIRST..).zip(&table.threads).filter_map(|(number, thread)| match &thread.state {
            State::Called(call) | State::Held(call, _) => Some((number, *call)),
            _ => None,
        });
        let first = calls.next().filter(|(number, _)| *number == FIRST);
        let (_, first) = first.ok_or("a first thread that has ended")?;
        let others: Vec<_> = calls.collect();
        let next = FIRST + table.threads.len() as u32;
        let stopped = || -> io::Result<Parked> {
            let keeper = child.keeper(process.pid).ok_or(io::ErrorKind::NotFound)?;
            let namespace = File::open(format!("/proc/{keeper}/ns/pid"))?;
            Parked::new(&listener, &first, &others, next, regions, &namespace)
        };
        let parked = stopped().map_err(|error| format!("a thread that cannot be stopped: {error}"))?;
        let (image, page) = (process.image, time.page);
        let (numbered, current) = (files.stamps.numbered().to_vec(), turns.current());
        Ok(Template {
            child,
            keeper,
            listener,
            page,
            parked,
            image,
            random_files,
            holdings,
            numbered,
            threads,
            current,
            futexes,
            made_timers: timers.made,
            apart,
            warmed,
        })
    }
}

/// How the threads stand; none if one of them has not the number that a fresh start gives it.
fn standings(table: &Table) -> Option<Vec<Standing>> {
    let stands = |thread: &Thread| match &thread.state {
        State::Dead => Some(Standing::Ended),
        State::Called(_) => Some(Standing::Calls),
        // A wait for files, which are others in a copy, is begun anew.
        State::Held(_, held) => Some(Held::copied(held).map_or(Standing::Calls, Standing::Waits)),
        State::Running | State::Lends(_) => None,
    };
    (FIRST..)
        .zip(&table.threads)
        .map(|(number, thread)| {
            let standing = stands(thread)?;
            let has_number = matches!(standing, Standing::Ended) || own_number(thread.tid) == Some(number);
            has_number.then_some(standing)
        })
        .collect()
}

/// The number of a thread as its program sees it.
fn own_number(thread: u32) -> Option<u32> {
    status_field(&text_of(format!("/proc/{thread}/status")).ok()?, "NSpid")
}

/// True if a process is in the directory for its own files, which copies find made anew.
fn is_at_home(process: u32) -> bool {
    let home = Path::new(std::ffi::OsStr::new(HOME.to_str().unwrap_or_default()));
    fs::read_link(format!("/proc/{process}/cwd")).is_ok_and(|dir| dir.starts_with(home))
}
