//! The admission of a script on a node, before it begins (Redis 7.0 `script.c`).

use crate::protocol::resp::Reply;
use crate::server::node::{MASTER_DOWN, NOT_ENOUGH_REPLICAS, Node, Running};
use crate::server::shebang::Flags;

/// The rights of the script on this node, called by a command that may be read-only.
///
/// # Errors
/// The reply to give when it may not.
pub(super) fn admit(flags: Flags, node: &Node, read_only: bool) -> Result<Running, Reply> {
    if !flags.declared {
        return if node.is_stale() {
            Err(MASTER_DOWN)
        } else {
            Ok(Running { read_only, crosses_slots: true, ..Running::default() })
        };
    }
    if flags.no_cluster && node.cluster.is_some() {
        return Err(Reply::error("ERR Can not run script on cluster, 'no-cluster' flag is set."));
    }
    if node.is_stale() && !flags.allow_stale {
        return Err(Reply::error(
            "MASTERDOWN Link with MASTER is down, replica-serve-stale-data is set to 'no' and 'allow-stale' flag \
             is not set on the script.",
        ));
    }
    if !flags.no_writes {
        if node.is_read_only() {
            return Err(Reply::error("READONLY Can not run script with write flag on readonly replica"));
        }
        if read_only {
            return Err(Reply::error("ERR Can not execute a script with write flag using *_ro command."));
        }
        if node.lacks_replicas() {
            return Err(NOT_ENOUGH_REPLICAS);
        }
    }
    if node.lacks_memory() && !flags.allow_oom && !flags.no_writes {
        return Err(Reply::error(
            "OOM allow-oom flag is not set on the script, can not run it when used memory > 'maxmemory'",
        ));
    }
    Ok(Running {
        read_only: read_only || flags.no_writes,
        allows_oom: flags.allow_oom,
        crosses_slots: flags.crosses_slots,
        wrote: false,
    })
}
