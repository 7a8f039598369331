//! The end of a run: the clients that are still wanted before it.

use std::collections::BTreeSet;
use std::task::Waker;
use std::time::Duration;

use crate::world::ending::{Progress, Terms, Wanted};
use crate::world::process::Life;
use crate::world::state::State;
use picklock_model::ids::{HostId, Key};
use picklock_model::time::TrueTime;
use picklock_model::trace::{Extent, HostInfo, Role};

impl State {
    /// At the end the client on this host is let in, once every other is done and all faults have healed, for so long.
    /// A design that survives a minority of stores down lets it in at the horizon if no more than that is broken then.
    pub(crate) fn expect_final_client(&mut self, host: HostId, span: Duration) {
        self.ending.final_client = Some((host, span));
    }

    /// Judges progress by these terms.
    pub(crate) fn judge_progress_by(&mut self, terms: Terms) {
        self.ending.terms = terms;
    }

    /// The run is over when the fresh client would be let in, and clients count as done when they are past this section.
    pub(crate) fn end_without_final_client(&mut self, last_section: Option<u32>) {
        self.ending.without_it = true;
        self.ending.last_section = last_section;
    }

    /// How far the run has come; lets the fresh client in when all others are done.
    pub(crate) fn settled(&mut self, hosts: &[HostInfo]) -> Progress {
        if self.ending.free.as_ref().is_some_and(BTreeSet::is_empty) && !self.goes_on(hosts) {
            return Progress::Over;
        }
        // This is asked at every step, and the client that was busy then mostly still is.
        if self.is_busy(self.last_busy) {
            return Progress::Busy;
        }
        if let Some(host) = (0..self.processes.len()).find(|host| self.is_busy(*host)) {
            self.last_busy = host;
            return Progress::Busy;
        }
        if !self.oracle.nothing_in_flight() {
            return Progress::Busy;
        }
        match self.ending.final_client {
            Some((_, span)) if self.ending.came.is_none() => self.let_in(span),
            _ => Progress::Over,
        }
    }

    fn let_in(&mut self, span: Duration) -> Progress {
        if !self.unhealed.is_empty() {
            return Progress::Busy;
        }
        self.open_the_door(span)
    }

    /// Nothing more is due before the horizon, or it has come. The run is over then, unless stores are down that the design
    /// claims to do without: the fresh client finds out whether it does. Or unless somebody waits for a key that nobody holds.
    pub(crate) fn at_horizon(&mut self, hosts: &[HostInfo]) -> Progress {
        let horizon = self.ending.horizon;
        self.advance(horizon);
        let may_come = self.ending.final_client.filter(|_| {
            let survives = self.ending.terms.survives;
            self.ending.came.is_none() && Extent::of(hosts, &self.broken()).leaves_stores(survives)
        });
        if let Some((_, span)) = may_come {
            return self.open_the_door(span);
        }
        if !self.goes_on(hosts) {
            return Progress::Over;
        }
        self.fetch_final_client();
        Progress::LetIn
    }

    fn open_the_door(&mut self, span: Duration) -> Progress {
        self.fetch_final_client();
        if self.ending.without_it {
            return Progress::Over;
        }
        self.ending.horizon = self.now + span;
        Progress::LetIn
    }

    /// Lets the fresh client in, if there is one and it has not come before.
    fn fetch_final_client(&mut self) {
        self.ending.came = self.ending.came.or(Some(self.now));
        self.ending.waiting.take().into_iter().for_each(Waker::wake);
    }

    /// True if the run goes on for those alone who wait: a client on this host begins no other section, unless it is the fresh client.
    pub(crate) fn is_past_the_horizon(&self, host: HostId) -> bool {
        self.ending.free.is_some() && !self.is_final_client(usize::from(host.0))
    }

    fn is_busy(&self, host: usize) -> bool {
        let process = &self.processes[host];
        let over = process.finished
            || (process.life == Life::Dead && !process.restarting)
            || self.ending.last_section.is_some_and(|last| process.is_past(last));
        let comes_later = self.ending.came.is_none() && self.is_final_client(host);
        self.roles[host] == Role::Client && !over && !comes_later
    }

    /// True if this is the host of the fresh client.
    pub(in crate::world) fn is_final_client(&self, host: usize) -> bool {
        self.ending.final_client.is_some_and(|(final_client, _)| usize::from(final_client.0) == host)
    }

    /// True if no fault hits any more: the fresh client is to find out what those before left behind.
    pub(in crate::world) fn faults_are_over(&self) -> bool {
        self.ending.came.is_some()
    }

    /// When the fresh client was let in; it is woken then.
    pub(crate) fn came(&mut self, waker: &Waker) -> Option<TrueTime> {
        if self.ending.came.is_none() {
            self.ending.waiting = Some(waker.clone());
        }
        self.ending.came
    }

    /// A section begins to ask for a key.
    pub(crate) fn open_section(&mut self, host: HostId, section: u32, key: &Key) {
        if self.ending.final_client.is_some() {
            self.ending.open.insert((host, section), key.clone());
        }
    }

    /// A section has released what it had, as far as it knows.
    pub(crate) fn close_section(&mut self, host: HostId, section: u32) {
        self.ending.open.remove(&(host, section));
    }

    /// The keys of sections that did not end with a release that succeeded.
    pub(crate) fn keys_left_open(&self) -> Vec<Key> {
        let mut keys: Vec<Key> = self.ending.open.values().cloned().collect();
        keys.sort_unstable();
        keys.dedup();
        keys
    }

    /// A client has done its sections and stands by.
    pub(crate) fn stand_by(&mut self, host: HostId) {
        self.process(host).standing_by = true;
    }

    /// How a client that stands by is wanted in the background.
    pub(crate) fn wanted(&self, host: HostId) -> Wanted {
        let others = || {
            let other = |at: &usize| *at != usize::from(host.0) && !self.is_final_client(*at);
            let clients = (0..self.processes.len()).filter(|at| self.roles[*at] == Role::Client);
            clients.filter(other).map(|at| &self.processes[at])
        };
        if self.is_past_the_horizon(host) {
            return Wanted::NoMore;
        }
        let busy =
            others().any(|other| !other.standing_by && (other.life == Life::Alive || other.restarting));
        let lasts = !self.unhealed.is_empty() && !self.faults_are_over();
        if !busy && !lasts {
            return Wanted::NoMore;
        }
        let at_work = others().any(|other| !other.standing_by && other.in_section());
        let asked_for = others().any(|other| other.runs() && other.asks());
        if self.hit && (lasts || at_work) && !asked_for { Wanted::Now } else { Wanted::Later }
    }
}
