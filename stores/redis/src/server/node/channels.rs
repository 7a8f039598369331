//! The listeners of channels and patterns (Redis 7.0 `pubsub.c`).

use std::collections::BTreeMap;

use super::ids::SessionId;
use super::session::Heard;

/// The three ways to listen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Channel,
    Pattern,
    Shard,
}

type Listeners = BTreeMap<Vec<u8>, Vec<SessionId>>;

/// The listeners of channels and patterns.
#[derive(Debug, Default)]
pub(crate) struct Channels {
    pub(super) channels: Listeners,
    pub(super) patterns: Listeners,
    pub(super) shards: Listeners,
}

impl Channels {
    pub(crate) fn of(&self, kind: Kind) -> &Listeners {
        match kind {
            Kind::Channel => &self.channels,
            Kind::Pattern => &self.patterns,
            Kind::Shard => &self.shards,
        }
    }

    pub(super) fn of_mut(&mut self, kind: Kind) -> &mut Listeners {
        match kind {
            Kind::Channel => &mut self.channels,
            Kind::Pattern => &mut self.patterns,
            Kind::Shard => &mut self.shards,
        }
    }
}

impl Heard {
    pub(crate) fn of(&mut self, kind: Kind) -> &mut std::collections::BTreeSet<Vec<u8>> {
        match kind {
            Kind::Channel => &mut self.channels,
            Kind::Pattern => &mut self.patterns,
            Kind::Shard => &mut self.shards,
        }
    }
}
