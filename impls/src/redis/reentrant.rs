//! A lock that its holder can take once more: a hash from owner to count, changed by scripts.
//!
//! *Claim:* one owner at a time, which may acquire what it holds as often as it likes and must release it as often; a
//! crashed one blocks the others for no longer than its lease.
//! *Weakness:* all that is said of `watchdog`. And an owner is a client and a thread, not an acquire: a request whose
//! reply was lost counts all the same, so that the count stays too high and the lock is held until its lease ends; a
//! release that arrives late takes one off whatever the same owner has acquired since.
//! *Source:* the scripts of Redisson's `RLock` (`RedissonLock`), by their behaviour: acquire
//! unless another owner has it and answer with the time left otherwise, renew and release only as the owner, set the
//! lease anew with every acquire and every release but the last, and notify a channel of the last.
//!
//! `form=simple` is the pair of scripts that tutorials show: they refuse without saying how long to wait, and a release
//! does not touch the lease. A refused client polls, or with `wait=pubsub` waits [by the release
//! channel](super::by_channel), for which it needs Redisson's scripts.
//!
//! `synced=checked` is `checkLockSyncedSlaves`, the default of today's Redisson with replicas: see [`synced`](super::synced).
//! `fencing=counter` is `RFencedLock`, whose script takes a token from a counter. With both, what no replica has acknowledged is not given
//! back. They are for Redisson's scripts.

use picklock_sim::design::{Design, Family};
use picklock_sim::param::{Args, Param, Word};
use picklock_sim::params;

use super::by_channel::ByChannel;
use super::common::{on_stores_renewed, on_stores_waiting, store_of};
use super::counted::Reentrant;
use crate::client::policy::{BELIEF, CLOCK, DRIFT, RENEWAL_ON, RETRY, STORE, TIMEOUT};
use crate::client::renewal::Renewed;

/// The family of reentrant designs, which count their holds.
pub(crate) static FAMILY: Family = Family {
    name: "reentrant",
    claim: "a count for each owner, changed by scripts: the holder may acquire once more what it holds",
    weakness: "a lost reply leaves the count too high until the lease ends; and all that is said of watchdog",
    source: "Redisson, RLock",
    params: params![
        FORM, OWNER, WAIT, SYNCED, FENCING, BELIEF, CLOCK, DRIFT, RETRY, TIMEOUT, RENEWAL_ON, STORE
    ],
    build,
};

const FORM: Param<Word> = Param {
    name: "form",
    domain: Word(&["redisson", "simple"]),
    default: "redisson",
    doc: "the scripts of Redisson's RLock, or the simpler pair of tutorials",
};

const OWNER: Param<Word> = Param {
    name: "owner",
    domain: Word(&["client", "task"]),
    default: "client",
    doc: "who counts as one owner: the client with all its tasks, or each task, as with Redisson's threads",
};

const WAIT: Param<Word> = Param {
    name: "wait",
    domain: Word(&["poll", "pubsub"]),
    default: "poll",
    doc: "how a refused client waits: it asks again and again, or by the release channel and the time that the refusal names",
};

const SYNCED: Param<Word> = Param {
    name: "synced",
    domain: Word(&["unchecked", "checked"]),
    default: "unchecked",
    doc: "whether an acquire waits for the replicas of its primary, and does not count if none of them has it (checkLockSyncedSlaves)",
};

const FENCING: Param<Word> = Param {
    name: "fencing",
    domain: Word(&["off", "counter"]),
    default: "off",
    doc: "whether each acquire hands out the next number of a counter as its token (RFencedLock)",
};

fn build(args: &Args) -> Design {
    let (simple, by_task) = (args.get(FORM) == "simple", args.get(OWNER) == "task");
    let (synced, fenced) = (args.get(SYNCED) == "checked", args.get(FENCING) == "counter");
    let owned = move |lock: Reentrant| {
        let lock = if by_task { lock.by_task() } else { lock };
        let lock = if synced { lock.synced() } else { lock };
        if fenced { lock.fenced() } else { lock }
    };
    let design = if args.get(WAIT) == "pubsub" {
        on_stores_waiting(args, store_of(args), move |context, policy| async move {
            let (host, ttl) = (context.host.clone(), context.ttl);
            let lock = ByChannel { lock: owned(Reentrant::connect(&context, policy, false).await?) };
            Ok(Renewed::new(lock, host, ttl, policy.renewal))
        })
    } else {
        on_stores_renewed(args, store_of(args), move |context, policy| async move {
            Reentrant::connect(&context, policy, simple).await.map(owned)
        })
    };
    let design = design.reentrant();
    if fenced { design.fenced() } else { design }
}
