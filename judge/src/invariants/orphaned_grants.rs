//! Orphaned grants, which a program got for a caller that had gone: for [progress](super::progress).
//!
//! A program cannot learn that whoever asked it was cancelled. It goes on, and when it answers `granted`, nobody takes the lock
//! and nobody gives it back. As far as the lock can know, that was a turn, and the next one comes when the lease has run out.

use std::collections::BTreeMap;

use picklock_model::ids::HostId;
use picklock_model::trace::{Event, What};

use crate::history::{History, Section};

/// The answers by which programs got a lock for nobody, each with the section that had asked, in true-time order.
pub(super) fn orphaned_grants<'h, 't>(history: &'h History<'t>) -> Vec<(&'t Event, &'h Section<'t>)> {
    // The request that each program has not answered: who had asked, once that one has gone.
    let mut open: BTreeMap<HostId, Option<&Section<'t>>> = BTreeMap::new();
    let mut answers = Vec::new();
    for event in &history.trace.events {
        match &event.what {
            What::Asked { line } if line.starts_with("acquire ") => {
                open.insert(event.host, None);
            }
            What::NotAcquired { .. } => {
                let section = event.grant.and_then(|id| history.place_of(id));
                if let (Some(gone), Some(section)) = (open.get_mut(&event.host), section) {
                    gone.get_or_insert(&history.sections[section]);
                }
            }
            What::Printed { line, aside: false } => {
                if let Some(Some(section)) = open.remove(&event.host)
                    && line.trim().split(char::is_whitespace).next() == Some("granted")
                {
                    answers.push((event, section));
                }
            }
            What::Crashed { .. } => {
                open.remove(&event.host);
            }
            _ => {}
        }
    }
    answers
}
