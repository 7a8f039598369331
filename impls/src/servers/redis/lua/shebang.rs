//! What a script says of itself in its first line, as in `#!lua flags=no-writes` (Redis 7.0 `script.c`).

use crate::servers::redis::node::Node;
use crate::servers::redis::resp::Reply;
use crate::servers::redis::store::Access;

/// The flags of a script.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Flags {
    /// True if it says anything about itself. One that does not may do all that its commands may do.
    pub(super) declared: bool,
    /// It writes nothing.
    pub(super) no_writes: bool,
}

/// The flags that there are. Those besides `no-writes` are about memory, stale replicas and clusters.
const NAMES: [&str; 5] = ["no-writes", "allow-oom", "allow-stale", "no-cluster", "allow-cross-slot-keys"];

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
        let mut flags = Flags { declared: true, no_writes: false };
        for word in words {
            let Some(names) = word.strip_prefix("flags=") else {
                return Err(Reply::Error(format!("ERR Unknown lua shebang option: {word}").into()));
            };
            for name in names.split(',').filter(|name| !name.is_empty()) {
                if !NAMES.contains(&name) {
                    return Err(Reply::Error(
                        format!("ERR Unexpected flag in script shebang: {name}").into(),
                    ));
                }
                flags.no_writes |= name == "no-writes";
            }
        }
        Ok((flags, &body[end..]))
    }

    /// Checks that the script may run on this node, called by a command that may be read-only.
    ///
    /// # Errors
    /// The reply to give when it may not.
    pub(super) fn check(self, node: &Node, read_only: bool) -> Result<(), Reply> {
        if !self.declared || self.no_writes {
            return Ok(());
        }
        if node.store.access == Access::Replica {
            return Err(Reply::error("READONLY Can not run script with write flag on readonly replica."));
        }
        if read_only {
            return Err(Reply::error("ERR Can not execute a script with write flag using *_ro command."));
        }
        Ok(())
    }
}
