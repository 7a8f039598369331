//! Commands that scripts call (Redis 7.0 `script.c`).

use super::Node;
use crate::servers::redis::commands::{Command, Run, flags};
use crate::servers::redis::resp::{Reply, integer};
use crate::servers::redis::store::{Access, DATABASES};

impl Node {
    /// Executes a command for the script that runs. A database that the script selects is its own.
    ///
    /// # Errors
    /// The reply that the script gets when the command fails.
    pub(in crate::servers::redis) fn call_from_script(&mut self, args: &[&[u8]]) -> Result<Reply, Reply> {
        let command =
            Command::find(args[0]).ok_or(Reply::error("ERR Unknown Redis command called from script"))?;
        if !command.takes(args.len()) {
            return Err(Reply::error("ERR Wrong number of args calling Redis command from script"));
        }
        let writes = command.is(flags::WRITE);
        if writes && self.store.access == Access::Replica && self.paused().is_none() {
            return Err(super::READ_ONLY);
        }
        let run = match command.run {
            Run::Data(run) => {
                if writes {
                    self.may_write(command)?;
                }
                return run(&mut self.store, args);
            }
            Run::Server(run) => run,
        };
        let whole = Command::resolve(args[0], args, self.store.version).map_err(|error| match error {
            Reply::Error(text) if text.starts_with("ERR wrong number") => {
                Reply::error("ERR Wrong number of args calling Redis command from script")
            }
            _ => Reply::error("ERR Unknown Redis command called from script"),
        })?;
        if whole.is(flags::NOSCRIPT) {
            return Err(Reply::error("ERR This Redis command is not allowed from script"));
        }
        if command.name == "select" {
            let database = integer(args[1]).and_then(|database| usize::try_from(database).ok());
            let database = database.filter(|database| *database < DATABASES);
            self.store.selected = database.ok_or(Reply::error("ERR DB index is out of range"))?;
            return Ok(Reply::OK);
        }
        let id = self.current.unwrap_or_default();
        Ok(run(self, id, args)?.reply.unwrap_or(Reply::Nil))
    }

    /// Whether the node takes writes from scripts now.
    fn may_write(&mut self, command: &Command) -> Result<(), Reply> {
        if self.lacks_replicas() {
            return Err(super::NOT_ENOUGH_REPLICAS);
        }
        if self.config.maxmemory > 0 && command.is(flags::DENYOOM) && self.is_out_of_memory() {
            return Err(super::OUT_OF_MEMORY);
        }
        Ok(())
    }
}
