//! The first line of a script, as in `#!lua flags=no-writes` (Redis 7.0 `script.c`).

use crate::protocol::resp::Reply;
use crate::server::catalogue::flags;

/// The flags of a script.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Flags {
    /// True if it says anything about itself. One that does not may do all that its commands may do.
    pub(crate) declared: bool,
    /// It writes nothing.
    pub(crate) no_writes: bool,
    /// It may run when there is too little memory.
    pub(crate) allow_oom: bool,
    /// It may run on a replica that has lost its primary.
    pub(crate) allow_stale: bool,
    /// It may not run in a cluster.
    pub(crate) no_cluster: bool,
    /// Its keys may be in several slots.
    pub(crate) crosses_slots: bool,
}

impl Flags {
    /// The flags by their names, in Redis's order.
    fn named(&mut self) -> [(&'static str, &mut bool); 5] {
        [
            ("no-writes", &mut self.no_writes),
            ("allow-oom", &mut self.allow_oom),
            ("allow-stale", &mut self.allow_stale),
            ("no-cluster", &mut self.no_cluster),
            ("allow-cross-slot-keys", &mut self.crosses_slots),
        ]
    }

    /// Sets the flag of this name; false if there is none.
    pub(crate) fn set(&mut self, name: &str) -> bool {
        let flag = self.named().into_iter().find(|(known, _)| *known == name);
        flag.map(|(_, flag)| *flag = true).is_some()
    }

    /// Reads the flags, and what is left to compile: the lines after the first, so that lines are counted from there.
    ///
    /// # Errors
    /// The reply to give when the first line is wrong.
    pub(crate) fn split(body: &[u8]) -> Result<(Flags, &[u8]), Reply> {
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
                if !flags.set(name) {
                    let text = format!("ERR Unexpected flag in script shebang: {name}");
                    return Err(Reply::Error(text.into()));
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
}

/// The flags in the first line of a script, if nothing is wrong with them.
pub(crate) fn script_flags(body: &[u8]) -> Option<Flags> {
    Flags::split(body).ok().map(|(flags, _)| flags)
}
