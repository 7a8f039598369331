//! Blocks of one key, for [progress](super::progress): stretches in which somebody waits, nobody holds and nobody gets it, each
//! measured by what the design claims to survive meanwhile, and reported with what is in the way.

use std::time::Duration;

use picklock_model::ids::HostId;
use picklock_model::time::TrueTime;
use picklock_model::trace::{Condition, Event, Trouble};

use super::findings::{between, cite, ms, who};
use super::in_the_way::Blocked;
use crate::history::{History, Section, Silence, Stretch};
use crate::outcome::Finding;

/// How a section changes the state of its key.
#[derive(Clone, Copy)]
pub(super) enum Turn {
    Waits,
    GivesUp,
    Gets { waited: bool },
    LetsGo,
}

pub(super) struct Edge<'t> {
    pub(super) key: usize,
    /// The client of the section.
    pub(super) client: HostId,
    pub(super) event: &'t Event,
    pub(super) turn: Turn,
}

/// A client that cannot take part while a stretch lasts.
#[derive(Clone, Copy)]
struct Out {
    client: HostId,
    /// The state of the client, in the words of a finding.
    how: &'static str,
    /// True if it can keep nothing that it holds.
    loses: bool,
}

/// The terms by which a stretch is judged, for one key.
#[derive(Clone, Copy)]
struct Terms<'t> {
    from: TrueTime,
    begin: Option<&'t Event>,
    bound: Duration,
    /// The condition that the design is to survive, unless nothing is broken.
    under: Option<Condition>,
    out: Option<Out>,
}

/// A stretch in which some section waits for a key and none holds it.
struct Block<'t> {
    terms: Terms<'t>,
    from: TrueTime,
    /// When the last waiter left or the lock was granted; the beginning while that has not happened.
    until: TrueTime,
    /// The event that ended it, if there is one.
    end: Option<&'t Event>,
    /// True if that is a grant.
    got: bool,
}

/// The state of one key, swept through true time.
pub(super) struct Sweep<'h, 't> {
    history: &'h History<'t>,
    key: usize,
    /// Waits of different sections that are closer than this are one.
    gap: Duration,
    /// The clients of the sections that wait, and of those that hold.
    waiting: Vec<HostId>,
    holding: Vec<HostId>,
    /// Nothing while more is broken than the design survives.
    terms: Option<Terms<'t>>,
    /// True while a wait says something: after the last fault, or under a condition.
    counts: bool,
    /// True once somebody waited while it did.
    conclusive: bool,
    /// True once somebody who waited got it while it did.
    served: bool,
    block: Option<Block<'t>>,
    closed: Vec<Block<'t>>,
}

impl<'h, 't> Sweep<'h, 't> {
    pub(super) fn new(history: &'h History<'t>, key: usize) -> Sweep<'h, 't> {
        Sweep {
            history,
            key,
            gap: history.trace.progress_bound / 10,
            waiting: Vec::new(),
            holding: Vec::new(),
            terms: None,
            counts: false,
            conclusive: false,
            served: false,
            block: None,
            closed: Vec::new(),
        }
    }

    /// Another stretch begins: what was blocked till now is measured by itself.
    pub(super) fn enter(&mut self, stretch: &Stretch<'t>, last: bool) {
        if let Some(mut block) = self.block.take() {
            if self.somebody_waits() {
                block.until = stretch.from;
            }
            self.closed.push(block);
        }
        self.notice_waits(stretch.from);
        self.terms = self.terms_of(stretch);
        self.counts = self.terms.is_some_and(|terms| last || terms.under.is_some());
        self.begin_block(stretch.from);
    }

    /// By what this stretch is judged; nothing if the design does not claim to survive it.
    fn terms_of(&self, stretch: &Stretch<'t>) -> Option<Terms<'t>> {
        let trace = self.history.trace;
        let Stretch { from, begin, extent } = *stretch;
        let terms = Terms { from, begin, bound: trace.progress_bound, under: None, out: None };
        if extent.nothing {
            return Some(terms);
        }
        if extent.few_stores && trace.survives.has(Condition::MinorityDown) {
            let bound = trace.progress_bound + trace.detour;
            return Some(Terms { bound, under: Some(Condition::MinorityDown), ..terms });
        }
        if extent.primary_down && trace.survives.has(Condition::PrimaryDown) {
            return Some(Terms { under: Some(Condition::PrimaryDown), ..terms });
        }
        let (client, trouble) = extent.one_client?;
        let survived = |condition: &Condition| trace.survives.has(*condition);
        let (how, loses, under) = match trouble {
            Trouble::Dead => ("was dead", true, Some(Condition::HolderDead).filter(survived)),
            Trouble::Cut { silenced } => {
                ("was cut off", silenced, Some(Condition::ClientCut).filter(survived))
            }
            Trouble::Paused | Trouble::Stalled => {
                let as_holder = Some(Condition::HolderPaused).filter(survived);
                let as_waiter = Some(Condition::WaiterPaused).filter(survived);
                let under = if self.holding.contains(&client) {
                    as_holder
                } else if self.waiting.contains(&client) {
                    as_waiter
                } else {
                    as_holder.or(as_waiter)
                };
                ("stood still", trouble == Trouble::Paused, under)
            }
        };
        let out = Some(Out { client, how, loses });
        under.map(|condition| Terms { under: Some(condition), out, ..terms })
    }

    /// Somebody may have waited up to now, while that said something.
    fn notice_waits(&mut self, now: TrueTime) {
        let lasted = self.counts && self.terms.is_some_and(|terms| terms.from < now);
        self.conclusive |= lasted && self.somebody_waits();
    }

    fn somebody_waits(&self) -> bool {
        let out = self.terms.and_then(|terms| terms.out);
        self.waiting.iter().any(|client| out.is_none_or(|out| out.client != *client))
    }

    fn somebody_holds(&self) -> bool {
        let out = self.terms.and_then(|terms| terms.out);
        self.holding.iter().any(|client| out.is_none_or(|out| !out.loses || out.client != *client))
    }

    pub(super) fn turn(&mut self, edge: &Edge<'t>) {
        let at = edge.event.at;
        self.notice_waits(at);
        match edge.turn {
            Turn::Waits => {
                let gap = self.gap;
                if !self.somebody_waits()
                    && self.block.as_ref().is_some_and(|block| at.since(block.until) >= gap)
                {
                    self.closed.extend(self.block.take());
                }
                self.waiting.push(edge.client);
                self.begin_block(at);
            }
            Turn::GivesUp => {
                leave(&mut self.waiting, edge.client);
                if !self.somebody_waits() {
                    self.end_block_at(edge.event);
                }
            }
            Turn::Gets { waited } => {
                self.served |= waited && self.counts;
                self.end_block_at(edge.event);
                self.closed.extend(self.block.take().map(|block| Block { got: true, ..block }));
                if waited {
                    leave(&mut self.waiting, edge.client);
                }
                self.holding.push(edge.client);
                self.begin_block(at);
            }
            Turn::LetsGo => {
                leave(&mut self.holding, edge.client);
                self.begin_block(at);
            }
        }
    }

    /// Begins a block, if somebody waits, nobody holds, and none has begun.
    fn begin_block(&mut self, at: TrueTime) {
        let Some(terms) = self.terms else { return };
        if self.block.is_none() && self.somebody_waits() && !self.somebody_holds() {
            self.block = Some(Block { terms, from: at, until: at, end: None, got: false });
        }
    }

    /// Ends the block for the time being: a new waiter that comes soon continues it.
    fn end_block_at(&mut self, event: &'t Event) {
        if let Some(block) = &mut self.block {
            block.until = event.at;
            block.end = Some(event);
        }
    }

    /// Adds what it found, and why it could not judge a block. Whether somebody waited while that said something, and whether
    /// somebody who waited got it.
    pub(super) fn finish(mut self, findings: &mut Vec<Finding>, open: &mut Option<String>) -> (bool, bool) {
        self.notice_waits(self.history.trace.end);
        let waits = self.somebody_waits();
        if let Some(block) = self.block.as_mut().filter(|_| waits) {
            block.until = self.history.trace.end;
            block.end = None;
        }
        self.closed.extend(self.block.take());
        for block in &self.closed {
            if block.until.since(block.from) <= block.terms.bound {
                let is_open = block.end.is_none() && block.until == self.history.trace.end;
                if is_open && block.from < block.until {
                    *open = open.take().or_else(|| self.cut_short(block));
                }
                continue;
            }
            // Until a silence is noticed, what it hides may be in the way.
            let silence = self.history.longest_silence(block.until);
            match silence.filter(|silence| block.until.since(silence.until()) <= block.terms.bound) {
                // As soon as it was noticed somebody got it.
                Some(_) if block.got => {}
                Some(silence) => *open = Some(hidden(self.history, &silence, block)),
                None => findings.extend(self.blocked(block)),
            }
        }
        (self.conclusive, self.served)
    }

    /// Why nothing is known of a block that the end of the run cut short.
    fn cut_short(&self, block: &Block<'t>) -> Option<String> {
        let sections = self.history.sections.iter().filter(|section| section.key == self.key);
        let waiter = sections.rev().find(|section| section.asked.is_some() && section.answered.is_none())?;
        Some(format!(
            "nobody held `{}` from {} until the end of the run at {}, and {} waited for it: the design's bound is {}, and {LONGER}",
            self.history.key_name(self.key),
            block.from,
            block.until,
            who(self.history, waiter.id),
            ms(block.terms.bound),
        ))
    }

    fn blocked(&self, block: &Block<'t>) -> Option<Finding> {
        let (from, terms) = (block.from, &block.terms);
        let width = block.until.since(from);
        let waited = |section: &&Section<'_>| section.waited_within(from, block.until);
        let of_key = self.history.sections.iter().filter(|section| section.key == self.key);
        let able = of_key.filter(|section| terms.out.is_none_or(|out| out.client != section.id.client));
        // The first of those that waited longest speaks for all.
        let waiter = able.rev().max_by_key(waited)?;
        let (history, key, until) = (self.history, self.key, block.until);
        let blocked = Blocked { history, key, from, until, waiter };
        let obstacle = blocked.obstacle();
        let livelock = if obstacle.events.is_empty() { blocked.livelock() } else { None };
        let kind = match livelock {
            Some(_) => "livelock",
            None if self.is_over(block) => "blocked",
            None => "deadlock",
        };
        let obstacle = match livelock {
            Some(livelock) => livelock,
            None if obstacle.events.is_empty() => blocked.in_turn().unwrap_or(obstacle),
            None => obstacle,
        };
        let mut text = format!(
            "{kind}: for {} nobody got `{}` although none held it, from {from} until {}; {} waited {}; the design's bound is {}",
            between(from, until),
            self.history.key_name(self.key),
            if block.end.is_none() && until == self.history.trace.end {
                format!("the run ended at {until}")
            } else {
                until.to_string()
            },
            who(self.history, waiter.id),
            if waited(&waiter) >= width {
                "all that time".to_owned()
            } else {
                let (asked, answered) = waiter.wait_within(from, block.until)?;
                format!("{} of that", between(asked, answered))
            },
            ms(terms.bound),
        );
        match (terms.out, terms.under) {
            (Some(out), _) => {
                let name = self.history.trace.host_name(out.client);
                text.push_str(&format!(", and {name} {} meanwhile, which it claims to survive", out.how));
            }
            (None, Some(under)) => {
                text.push_str(&format!(", also while {}, which it claims to survive", under.doc()));
            }
            (None, None) => {}
        }
        if let Some(words) = &obstacle.text {
            text.push_str(&format!("; {words}"));
        }
        let began = terms.begin.filter(|_| from == terms.from);
        let proof = [began, waiter.asked, block.end].into_iter().flatten();
        Some(Finding {
            text,
            grants: vec![waiter.id],
            events: cite(proof.chain(obstacle.events)),
            width: Some(width),
        })
    }
}

/// The remedy for a run that is too short to decide.
const LONGER: &str = "`--set decide=SPAN` lets the run go on for longer";

/// Why nothing is known of a block while a session is silent, and the setting that decides it.
fn hidden(history: &History<'_>, silence: &Silence<'_>, block: &Block<'_>) -> String {
    let notices = if silence.of_client {
        "the server notices the silent session"
    } else {
        "the client notices the silent server"
    };
    let (seconds, happened) = (silence.span.as_secs_f64(), history.silence(silence));
    // The fresh client at the end waits for a silent session to be noticed, and not for a silent server.
    let remedy = if silence.of_client || block.until == history.trace.end {
        let enough = (silence.span + 2 * block.terms.bound).as_secs_f64().ceil();
        format!("`--set decide={enough}s` decides it")
    } else {
        "no client waited for longer".to_owned()
    };
    format!("blocked until {notices}: {seconds} s at most ({happened}); {remedy}")
}

impl Sweep<'_, '_> {
    /// True if somebody got the lock after all.
    fn is_over(&self, block: &Block<'_>) -> bool {
        let mut grants = self.history.grants().filter(|(section, _)| section.key == self.key);
        grants.any(|(_, grant)| grant.acquired.at >= block.until)
    }
}

/// One section of this client does so no longer.
fn leave(clients: &mut Vec<HostId>, client: HostId) {
    if let Some(at) = clients.iter().position(|other| *other == client) {
        clients.swap_remove(at);
    }
}
