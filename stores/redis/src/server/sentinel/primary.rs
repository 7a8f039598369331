//! The state of a primary in a Sentinel, besides that of every server: its parameters, and the failover.

use std::collections::BTreeMap;

use super::ids::InstanceId;

/// After how long a silent server is down unless a configuration says otherwise.
pub(super) const DOWN_AFTER_MS: i64 = 30_000;
/// How long a failover may take unless a configuration says otherwise.
pub(super) const FAILOVER_TIMEOUT_MS: i64 = 180_000;
/// The number of replicas that are reconfigured at a time unless a configuration says otherwise.
pub(super) const PARALLEL_SYNCS: usize = 1;

/// How a primary is watched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Watch {
    /// How many Sentinels must find it down, this one included.
    pub quorum: usize,
    /// It is down when it has been silent for so many milliseconds.
    pub down_after_ms: i64,
    /// A failover may take so many milliseconds; the next one starts after twice as many.
    pub failover_timeout_ms: i64,
    /// The number of replicas that are reconfigured at a time to follow the new primary.
    pub parallel_syncs: usize,
    /// It is down when it answers no ping for so many milliseconds after a restart; 0 for as long as at other times.
    pub reboot_down_after_ms: i64,
    /// The password of the primary and its replicas; empty without one.
    pub password: String,
    /// The user that the password is for; empty for the default one.
    pub user: String,
    /// The commands that have another name there than usual, by their usual names in lowercase.
    pub renamed: BTreeMap<Vec<u8>, Vec<u8>>,
}

impl Default for Watch {
    /// The defaults of Redis, with a quorum of two.
    fn default() -> Watch {
        Watch {
            quorum: 2,
            down_after_ms: DOWN_AFTER_MS,
            failover_timeout_ms: FAILOVER_TIMEOUT_MS,
            parallel_syncs: PARALLEL_SYNCS,
            reboot_down_after_ms: 0,
            password: String::new(),
            user: String::new(),
            renamed: BTreeMap::new(),
        }
    }
}

/// How far a failover is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Failover {
    None,
    WaitStart,
    SelectReplica,
    SendPromotion,
    WaitPromotion,
    ReconfigureReplicas,
    UpdateConfig,
}

impl Failover {
    /// The name that SENTINEL MASTER shows.
    pub(super) fn name(self) -> &'static str {
        match self {
            Failover::None => "none",
            Failover::WaitStart => "wait_start",
            Failover::SelectReplica => "select_slave",
            Failover::SendPromotion => "send_slaveof_noone",
            Failover::WaitPromotion => "wait_promotion",
            Failover::ReconfigureReplicas => "reconf_slaves",
            Failover::UpdateConfig => "update_config",
        }
    }
}

/// A primary.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Primary {
    pub(super) watch: Watch,
    /// The version of its address: the epoch of the failover that made it the primary.
    pub(super) config_epoch: u64,
    /// Enough Sentinels find it down.
    pub(super) is_down: bool,
    pub(super) down_since: i64,
    /// Whom this Sentinel voted for, and in which epoch.
    pub(super) leader: Option<String>,
    pub(super) leader_epoch: u64,
    pub(super) failover: Failover,
    pub(super) failover_epoch: u64,
    pub(super) failover_started: i64,
    pub(super) failover_changed: i64,
    /// The failover was ordered: no votes are needed.
    pub(super) is_forced: bool,
    pub(super) promoted: Option<InstanceId>,
}

impl Primary {
    pub(super) fn new(watch: Watch) -> Primary {
        Primary {
            watch,
            config_epoch: 0,
            is_down: false,
            down_since: 0,
            leader: None,
            leader_epoch: 0,
            failover: Failover::None,
            failover_epoch: 0,
            failover_started: 0,
            failover_changed: 0,
            is_forced: false,
            promoted: None,
        }
    }

    pub(super) fn fails_over(&self) -> bool {
        self.failover != Failover::None
    }
}
