//! Commands that scripts call (Redis 7.0 `script.c`).

use super::row::{Command, Run};
use super::table::TABLE;
use crate::protocol::resp::{Reply, integer};
use crate::server::catalogue::flags;
use crate::server::node::{NOT_ENOUGH_REPLICAS, Node, OUT_OF_MEMORY, READ_ONLY, Running};
use crate::server::store::DATABASES;

/// The commands that scripts may call besides, to look into the node, once DEBUG SET-DISABLE-DENY-SCRIPTS says so. Redis lets
/// everything through then, and leaves it to its tests to be careful.
const INSPECTORS: [&str; 2] = ["client", "debug"];

impl Node {
    /// Executes a command for the script that runs. A database that the script selects is its own.
    ///
    /// # Errors
    /// The reply that the script gets when the command fails.
    pub(crate) fn call_from_script(&mut self, running: &mut Running, args: &[&[u8]]) -> Result<Reply, Reply> {
        let result = match TABLE.resolve(args[0], args, self.store.version) {
            Err(Reply::Error(text)) if text.starts_with("ERR wrong number") => {
                Err(Reply::error("ERR Wrong number of args calling Redis command from script"))
            }
            Err(_) => Err(self.refusal(args, Reply::error("ERR Unknown Redis command called from script"))),
            Ok(command) => match self
                .admit_from_script(running, &command, args[0])
                .and_then(|()| self.admit_place_from_script(running, &command, args))
            {
                Ok(()) => {
                    running.wrote |= command.is(flags::WRITE);
                    self.run_from_script(&command, args)
                }
                Err(refusal) => {
                    self.stats.of(command.nth).refused += 1;
                    Err(refusal)
                }
            },
        };
        if let Err(Reply::Error(text)) = &result {
            self.stats.count_error(text);
        }
        result
    }

    /// True if there is a command of this name.
    pub(super) fn knows(name: &[u8]) -> bool {
        TABLE.find(name).is_some()
    }

    /// An error reply if a script may not call a command now.
    fn admit_from_script(&self, running: &Running, command: &Command, name: &[u8]) -> Result<(), Reply> {
        let inspects = || {
            self.scripts_inspect && INSPECTORS.iter().any(|known| name.eq_ignore_ascii_case(known.as_bytes()))
        };
        if command.is(flags::NOSCRIPT) && !inspects() {
            return Err(Reply::error("ERR This Redis command is not allowed from script"));
        }
        if !command.is(flags::STALE) && self.is_stale() {
            return Err(Reply::error("ERR Can not execute the command on a stale replica"));
        }
        if running.read_only && command.is(flags::WRITE | flags::MAY_REPLICATE) {
            return Err(Reply::error("ERR Write commands are not allowed from read-only scripts."));
        }
        if running.wrote || !command.is(flags::WRITE) {
            return Ok(());
        }
        if self.is_read_only() {
            return Err(READ_ONLY);
        }
        if self.lacks_replicas() {
            return Err(NOT_ENOUGH_REPLICAS);
        }
        if command.is(flags::DENYOOM) && self.lacks_memory() && !running.allows_oom {
            return Err(OUT_OF_MEMORY);
        }
        Ok(())
    }

    fn run_from_script(&mut self, command: &Command, args: &[&[u8]]) -> Result<Reply, Reply> {
        self.stats.commands += 1;
        self.stats.of(command.nth).done += 1;
        let result = match command.run {
            Run::Data(run) => run(&mut self.store, args),
            Run::Server(_) if command.name == "select" => self.select_in_script(args[1]),
            Run::Server(run) => run(self, self.current.unwrap_or_default(), args)
                .map(|answer| answer.reply.unwrap_or(Reply::Nil)),
            Run::Table(run) => run(&TABLE, self, self.current.unwrap_or_default(), args)
                .map(|answer| answer.reply.unwrap_or(Reply::Nil)),
        };
        self.stats.of(command.nth).failed += u32::from(result.is_err());
        if self.tracking.used {
            self.remember_of_script(command);
        }
        if !self.monitors.is_empty() && !command.is(flags::SKIP_MONITOR | flags::ADMIN) {
            self.show(self.current.unwrap_or_default(), true, args);
        }
        result
    }

    /// A script that reads anything has read the keys that it was given, as Redis sees it.
    fn remember_of_script(&mut self, command: &Command) {
        self.digest_own_changes(true);
        let Some(id) = self.current.filter(|id| command.is(flags::READONLY) && self.remembers(*id)) else {
            return;
        };
        let keys = std::mem::take(&mut self.tracking.of_script);
        self.remember(id, keys.iter().map(Vec::as_slice));
        self.tracking.of_script = keys;
    }

    fn select_in_script(&mut self, index: &[u8]) -> Result<Reply, Reply> {
        let database = integer(index).and_then(|database| usize::try_from(database).ok());
        let database = database.filter(|database| *database < DATABASES);
        self.store.selected = database.ok_or(Reply::error("ERR DB index is out of range"))?;
        Ok(Reply::OK)
    }
}
