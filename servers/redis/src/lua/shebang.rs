//! What a script says of itself in its first line, as in `#!lua flags=no-writes` (Redis 7.0 `script.c`).

use crate::commands::flags;
use crate::node::{MASTER_DOWN, NOT_ENOUGH_REPLICAS, Node, Running};
use crate::resp::Reply;

/// The flags of a script.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Flags {
    /// True if it says anything about itself. One that does not may do all that its commands may do.
    declared: bool,
    /// It writes nothing.
    no_writes: bool,
    /// It may run when there is too little memory.
    allow_oom: bool,
    /// It may run on a replica that has lost its primary.
    allow_stale: bool,
}

impl Flags {
    /// Reads the flags, and what is left to compile: the lines after the first, so that lines are counted from there.
    ///
    /// # Errors
    /// The reply to give when the first line is wrong.
    pub(super) fn split(body: &[u8]) -> Result<(Flags, &[u8]), Reply> {
        if !body.starts_with(b"#!") {
            return Ok((Flags::default(), body));
        }
        let Some(end) = body.iter().position(|byte| *byte == b'\n') else {
            return Err(Reply::error("ERR Invalid script shebang"));
        };
        let line = String::from_utf8_lossy(&body[..end]);
        let mut words = line.split_ascii_whitespace();
        let engine = words.next().unwrap_or_default();
        if engine != "#!lua" {
            return Err(Reply::Error(format!("ERR Unexpected engine in script shebang: {engine}").into()));
        }
        let mut flags = Flags { declared: true, ..Flags::default() };
        for word in words {
            let Some(names) = word.strip_prefix("flags=") else {
                return Err(Reply::Error(format!("ERR Unknown lua shebang option: {word}").into()));
            };
            // Between two commas there is a flag without a name.
            for name in names.split(',').filter(|_| !names.is_empty()) {
                match name {
                    "no-writes" => flags.no_writes = true,
                    "allow-oom" => flags.allow_oom = true,
                    "allow-stale" => flags.allow_stale = true,
                    // Those are about clusters.
                    "no-cluster" | "allow-cross-slot-keys" => {}
                    _ => {
                        let text = format!("ERR Unexpected flag in script shebang: {name}");
                        return Err(Reply::Error(text.into()));
                    }
                }
            }
        }
        Ok((flags, &body[end..]))
    }

    /// The flags of a command that runs such a script.
    pub(crate) fn of_command(self, command: u32) -> u32 {
        if !self.declared {
            return command;
        }
        // What it says decides also whether replicas may hear of it.
        let mut flags = command & !(flags::STALE | flags::DENYOOM | flags::WRITE | flags::MAY_REPLICATE);
        if !self.allow_oom && !self.no_writes {
            flags |= flags::DENYOOM;
        }
        if !self.no_writes {
            flags |= flags::WRITE;
        }
        if self.allow_stale {
            flags |= flags::STALE;
        }
        flags
    }

    /// Whether the script may run on this node, called by a command that may be read-only, and what it may do then.
    ///
    /// # Errors
    /// The reply to give when it may not.
    pub(super) fn admit(self, node: &Node, read_only: bool) -> Result<Running, Reply> {
        if !self.declared {
            return if node.is_stale() {
                Err(MASTER_DOWN)
            } else {
                Ok(Running { read_only, ..Running::default() })
            };
        }
        if node.is_stale() && !self.allow_stale {
            return Err(Reply::error(
                "MASTERDOWN Link with MASTER is down, replica-serve-stale-data is set to 'no' and 'allow-stale' flag \
                 is not set on the script.",
            ));
        }
        if !self.no_writes {
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
        if node.lacks_memory() && !self.allow_oom && !self.no_writes {
            return Err(Reply::error(
                "OOM allow-oom flag is not set on the script, can not run it when used memory > 'maxmemory'",
            ));
        }
        Ok(Running { read_only: read_only || self.no_writes, allows_oom: self.allow_oom, wrote: false })
    }
}

/// What a script says of itself, if nothing is wrong with that.
pub(crate) fn script_flags(body: &[u8]) -> Option<Flags> {
    Flags::split(body).ok().map(|(flags, _)| flags)
}
