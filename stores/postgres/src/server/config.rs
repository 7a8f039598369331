//! How a server is configured.

use std::time::Duration;

use picklock_model::plan::Settings;
use picklock_model::trace::Role;
use picklock_sim::store::Member;

use crate::params::{DOWN_AFTER, FENCED};
use crate::server::journal::Syncs;
use crate::server::keepalive::Keepalive;
use crate::server::settings::Commits;

/// The configuration of a server.
#[derive(Clone, Debug, Default)]
pub(crate) struct Config {
    /// When it looks whether a silent client is still there.
    pub(crate) keepalive: Keepalive,
    /// True if its clock ends the leases of rows.
    pub(crate) leases: bool,
    /// When its commits are durable.
    pub(crate) commits: Commits,
    /// When its disk has what it has synced.
    pub(crate) syncs: Syncs,
    /// Its place in a store of two servers; none if it is alone.
    pub(crate) pair: Option<Pair>,
}

impl Config {
    /// True if a loss of power takes commits that were acknowledged.
    pub(crate) fn forgets(&self) -> bool {
        self.syncs != Syncs::AtOnce || self.commits == Commits::Off
    }
}

/// The place of a server in a store of a primary and a standby.
#[derive(Clone, Debug)]
pub(crate) struct Pair {
    /// The host of the primary that it follows at the start; none if it is that itself.
    pub(crate) primary: Option<String>,
    /// The host of the controller.
    pub(crate) controller: String,
    /// The time without a confirmation by the controller after which it serves nobody; none if it serves in any case.
    pub(crate) fenced: Option<Duration>,
    /// How often it asks for one.
    pub(crate) interval: Duration,
}

/// How often a primary asks its controller in the time that this waits, and for which part of that time it serves without an answer.
const ASKS: u32 = 4;
const SERVES_PERCENT: u32 = 80;

impl Pair {
    /// The place of this member among those of its store. None if the store has no controller.
    pub(crate) fn of(member: &Member, members: &[Member], settings: &Settings) -> Option<Pair> {
        let address =
            |role| members.iter().find(|other| other.role == role).map(|member| member.name.clone());
        let down_after = settings.get(DOWN_AFTER);
        Some(Pair {
            primary: (member.role == Role::Follower).then(|| address(Role::Leader).unwrap_or_default()),
            controller: address(Role::Monitor)?,
            fenced: (settings.get(FENCED) == "yes").then(|| down_after * SERVES_PERCENT / 100),
            interval: down_after / ASKS,
        })
    }
}
