//! The effect of an entry of the log: sessions come and go, nodes change, and whoever asked is answered.
//!
//! *Source:* `FinalRequestProcessor.processRequest`, `DataTree.processTxn` of ZooKeeper 3.8.

use picklock_sim::host::{Host, Origin};

use super::Machine;
use super::locks::Cause;
use super::notes::{CREATE_SESSION, Command, DELETE_CONTAINER};
use super::tree::{Change, Transaction};
use crate::jute::Record as _;
use crate::messages::{MultiResults, Op, OpResult, Request, error, flags, opcode};
use crate::version::Version;

impl Machine {
    /// Carries out an entry of this place in the log, which a message has brought about. Each is a transaction, also one that fails.
    pub(super) fn carry_out(&mut self, host: &Host, (index, origin): (u64, Origin), command: &Command) {
        self.zxid += 1;
        let by = Transaction { zxid: self.zxid, time: command.time, session: command.session };
        let mut changes = Vec::new();
        let answer = self.change(command, by, &mut changes);
        let overdue_ns = u64::try_from(command.overdue_ns).ok();
        self.make_known(host, (index, Cause { origin, overdue_ns }), &changes);
        self.connections.answer(command.request, origin, self.zxid, answer);
        if command.opcode == opcode::CLOSE_SESSION {
            self.connections.close_session(command.session);
        }
    }

    fn change(
        &mut self,
        command: &Command,
        by: Transaction,
        changes: &mut Vec<Change>,
    ) -> Result<Vec<u8>, i32> {
        let record = command.record.as_deref().unwrap_or_default();
        match command.opcode {
            CREATE_SESSION => {
                let timeout = i32::whole(record).map_err(|_| error::MARSHALLING)?;
                self.sessions.insert(command.session, timeout);
                Ok(Vec::new())
            }
            opcode::CLOSE_SESSION => {
                self.sessions.remove(&command.session);
                self.kept.iter_mut().for_each(|kept| kept.remove(command.session));
                self.tree.end_session(command.session, by.zxid, changes);
                Ok(Vec::new())
            }
            DELETE_CONTAINER => {
                let path = String::whole(record).map_err(|_| error::MARSHALLING)?;
                self.tree.delete_container(&path, by, changes).map(|()| Vec::new())
            }
            _ => {
                let error = match command.error {
                    error::OK if !self.sessions.contains_key(&command.session) => error::SESSION_EXPIRED,
                    error => error,
                };
                let request = Request::take(command.opcode, &mut &*record).map_err(|_| error::MARSHALLING)?;
                self.change_nodes(request, error, by, changes)
            }
        }
    }

    /// Carries out a request that changes nodes, unless its session is in the way.
    fn change_nodes(
        &mut self,
        request: Request,
        refused: i32,
        by: Transaction,
        changes: &mut Vec<Change>,
    ) -> Result<Vec<u8>, i32> {
        if let Request::Multi(multi) = request {
            if self.facts.version == Version::V39 && multi.ops.iter().any(has_odd_flags) {
                return Err(error::MARSHALLING);
            }
            let results = match (refused, multi.ops.len()) {
                (error::OK, _) | (_, 0) => {
                    self.tree.carry_out_all(&multi.ops, (by, self.facts.version), changes)
                }
                (error::SESSION_MOVED, _) => return Err(error::SESSION_MOVED),
                (refused, count) => {
                    let rest = std::iter::repeat_n(error::RUNTIME_INCONSISTENCY, count - 1);
                    std::iter::once(refused).chain(rest).map(OpResult::Error).collect()
                }
            };
            return Ok(MultiResults { results }.bytes());
        }
        if refused != error::OK {
            return Err(refused);
        }
        let op = match request {
            Request::Create(create) => Op::Create(create),
            Request::Create2(create) => Op::Create2(create),
            Request::CreateContainer(create) => Op::CreateContainer(create),
            Request::CreateTtl(create) => Op::CreateTtl(create),
            Request::Delete(delete) => Op::Delete(delete),
            Request::SetData(set) => Op::SetData(set),
            Request::SetAcl(set) => {
                return self.tree.set_acl(&set.path, &set.acl, set.version).map(|stat| stat.bytes());
            }
            _ => return Err(error::UNIMPLEMENTED),
        };
        Ok(match self.tree.carry_out(&op, by, changes)? {
            OpResult::Create(path) => path.bytes(),
            OpResult::Create2(made) => made.bytes(),
            OpResult::SetData(stat) => stat.bytes(),
            _ => Vec::new(),
        })
    }
}

/// True for a creation whose flags are none.
fn has_odd_flags(op: &Op) -> bool {
    matches!(op, Op::Create(create) | Op::Create2(create) | Op::CreateContainer(create)
        if !(flags::PERSISTENT..=flags::SEQUENTIAL_WITH_TTL).contains(&create.flags))
}
