//! Fault actions, and the hosts that they work on.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::time::serde_ns;

/// The hosts on which a fault action works, resolved when it is applied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Target {
    /// These hosts, by name.
    Hosts(Vec<String>),
    /// The client that holds the lock now; no host if nobody does.
    Holder,
    /// The member that takes writes now, of the group in which that changed last, at first of the first group: a primary, a
    /// leader.
    #[serde(alias = "primary")]
    Leader,
    /// The first of the others of that group that keep the same data and are alive: a replica, a follower.
    Follower,
    /// The leader of this group of members: of a shard, of an ensemble.
    LeaderOf(u32),
    /// The first follower of this group that is alive.
    FollowerOf(u32),
}

impl Target {
    /// One host by name.
    #[must_use]
    pub fn host(name: impl Into<String>) -> Target {
        Target::Hosts(vec![name.into()])
    }
}

/// How long something lasts that has no end of its own, in a world that can be asked to heal: ten years.
pub const UNTIL_HEALED: Duration = Duration::from_secs(10 * 365 * 24 * 60 * 60);

/// A fault action: one physical operation on a process, a link, a clock or a store. The set is small and closed; a fault schedules one
/// of them or several.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Action {
    /// No task of the target runs; its sockets buffer, its clocks go on.
    Pause {
        /// How long.
        #[serde(rename = "lasts_ns", with = "serde_ns")]
        lasts: Duration,
    },
    /// As a pause, and the target's monotonic clock stands still.
    Suspend {
        /// How long.
        #[serde(rename = "lasts_ns", with = "serde_ns")]
        lasts: Duration,
    },
    /// Only the target's critical section stands still.
    Stall {
        /// How long.
        #[serde(rename = "lasts_ns", with = "serde_ns")]
        lasts: Duration,
    },
    /// The target's process dies.
    Crash {
        /// True: its connections are not closed, and its unsynced disk writes are lost.
        power_loss: bool,
        /// It is started anew after this long; never if absent.
        #[serde(
            rename = "restart_after_ns",
            with = "optional_ns",
            default,
            skip_serializing_if = "Option::is_none"
        )]
        restart_after: Option<Duration>,
    },
    /// No message passes from the target to `to`; segments wait for the end of the cut as TCP's do.
    Cut {
        /// The other side.
        to: Target,
        /// True: nor back.
        both: bool,
        /// How long.
        #[serde(rename = "lasts_ns", with = "serde_ns")]
        lasts: Duration,
    },
    /// Messages that the target sends to `to` take longer.
    Delay {
        /// The receivers.
        to: Target,
        /// How much longer.
        #[serde(rename = "by_ns", with = "serde_ns")]
        by: Duration,
        /// For how long messages sent are delayed.
        #[serde(rename = "lasts_ns", with = "serde_ns")]
        lasts: Duration,
        /// At most so many messages; all of them if absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        messages: Option<u32>,
    },
    /// The target's wall clock is moved.
    StepClock {
        /// By how many nanoseconds, forwards if positive.
        by_ns: i64,
    },
    /// The rate of the target's clocks is changed.
    SetDrift {
        /// Parts per million fast (positive) or slow.
        ppm: i64,
    },
    /// The connections between the target and `to` die at once, at both ends.
    DropConnections {
        /// The other end.
        to: Target,
    },
    /// Nothing passes any more on the connections between the target and `to`, and neither end is notified, as when a firewall has forgotten
    /// them. New connections are not concerned.
    ForgetConnections {
        /// The other end.
        to: Target,
    },
    /// A fault action of the target's own kind of store is applied: what it does, that kind says.
    Own {
        /// Its name, as the kind of store declares it.
        name: String,
        /// How often: replies that are errors, records that are dropped.
        count: u32,
    },
    /// The next message that the target sends to `to` is lost, and its connection with it: the request is never executed.
    LoseRequest {
        /// The host that it was for.
        to: Target,
    },
    /// The call of its lock in which the target's section is, an acquire or a release, is cancelled: its future is dropped.
    Cancel,
    /// The next reply that `from` sends to the target is lost, and its connection with it: the request is executed.
    LoseReply {
        /// The replier.
        from: Target,
    },
    /// For the test of the parts of a new fault action: it does nothing. Nothing but this file, the bounds and the
    /// simulator knows it.
    #[cfg(feature = "made-up-action")]
    MadeUp,
}

/// The effect of a fault action, for code that distinguishes actions without knowing each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// The target stands still, whole or in part, and goes on by itself.
    Halt,
    /// The target's process dies.
    Death,
    /// Messages on the way between two hosts.
    Messages,
    /// The target, by an action that only its kind of store knows.
    Store,
    /// The target's process or its connections, at this instant.
    Process,
    /// The rate of the target's clocks, from now on.
    Rate,
}

impl Action {
    /// The effect: the object that it works on.
    #[must_use]
    pub fn effect(&self) -> Effect {
        match self {
            Action::Pause { .. } | Action::Suspend { .. } | Action::Stall { .. } => Effect::Halt,
            Action::Crash { .. } => Effect::Death,
            Action::Cut { .. }
            | Action::Delay { .. }
            | Action::LoseRequest { .. }
            | Action::LoseReply { .. } => Effect::Messages,
            Action::Own { .. } => Effect::Store,
            Action::StepClock { .. }
            | Action::DropConnections { .. }
            | Action::ForgetConnections { .. }
            | Action::Cancel => Effect::Process,
            Action::SetDrift { .. } => Effect::Rate,
            #[cfg(feature = "made-up-action")]
            Action::MadeUp => Effect::Process,
        }
    }

    /// The hosts at the other end of its links or connections; none if it has no other end.
    #[must_use]
    pub fn other_end(&self) -> Option<&Target> {
        match self {
            Action::Cut { to, .. }
            | Action::Delay { to, .. }
            | Action::DropConnections { to }
            | Action::ForgetConnections { to }
            | Action::LoseRequest { to }
            | Action::LoseReply { from: to } => Some(to),
            Action::Pause { .. }
            | Action::Suspend { .. }
            | Action::Stall { .. }
            | Action::Crash { .. }
            | Action::StepClock { .. }
            | Action::SetDrift { .. }
            | Action::Own { .. }
            | Action::Cancel => None,
            #[cfg(feature = "made-up-action")]
            Action::MadeUp => None,
        }
    }

    /// For how long it is in force, to be changed; none if it is done at once.
    pub fn lasts_mut(&mut self) -> Option<&mut Duration> {
        match self {
            Action::Pause { lasts }
            | Action::Suspend { lasts }
            | Action::Stall { lasts }
            | Action::Cut { lasts, .. }
            | Action::Delay { lasts, .. } => Some(lasts),
            Action::Crash { .. }
            | Action::StepClock { .. }
            | Action::SetDrift { .. }
            | Action::DropConnections { .. }
            | Action::ForgetConnections { .. }
            | Action::Own { .. }
            | Action::LoseRequest { .. }
            | Action::Cancel
            | Action::LoseReply { .. } => None,
            #[cfg(feature = "made-up-action")]
            Action::MadeUp => None,
        }
    }

    /// How long one target or one message is affected, if it has an end.
    #[must_use]
    pub fn span(&self) -> Option<Duration> {
        self.clone().span_mut().copied()
    }

    /// As [`span`](Action::span), to be changed.
    pub fn span_mut(&mut self) -> Option<&mut Duration> {
        match self {
            Action::Delay { by, .. } => Some(by),
            Action::Crash { restart_after, .. } => restart_after.as_mut(),
            other => other.lasts_mut(),
        }
    }
}

mod optional_ns {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serializer};

    use crate::time::nanos;

    #[expect(clippy::ref_option, reason = "serde's `with` hands over a reference to the field")]
    pub(super) fn serialize<S: Serializer>(span: &Option<Duration>, to: S) -> Result<S::Ok, S::Error> {
        match span {
            Some(span) => to.serialize_some(&nanos(*span)),
            None => to.serialize_none(),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Duration>, D::Error> {
        Ok(Option::<u64>::deserialize(from)?.map(Duration::from_nanos))
    }
}
