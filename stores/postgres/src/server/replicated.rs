//! The machine of a server that has a standby, and that of a standby: what the log says of a commit, waits for the standby, the part of the
//! statements that a standby refuses, and its promotion.
//!
//! A commit waits for its synchronous standby after it is in the log of the primary, and before anybody sees it or gets its locks. Whoever
//! cancels that wait is sent a warning, and the transaction is committed here and perhaps nowhere else. No timeout ends it, and nobody
//! notices meanwhile that the client is gone (tried on 15.20).
//!
//! *Source:* PostgreSQL 15 documentation, 27.2.8 Synchronous Replication, 27.4 Hot Standby; `replication/syncrep.c`.
//!
//! Left out on purpose: more standbys than one, standbys of standbys, slots, copies of a whole database (a standby has everything from the
//! first record on), statements on a standby that are cancelled for what it replays.

use picklock_model::ids::Key;
use picklock_model::trace::What;
use picklock_sim::host::Origin;

use crate::protocol::SqlError;
use crate::server::data::{Ended, Place, Row};
use crate::server::guarded::Deed;
use crate::server::locks::{SessionId, Wait};
use crate::server::machine::{Machine, Now, only_here};
use crate::server::plan::{Kind, Plan};
use crate::server::record::Record;
use crate::server::settings::Commits;
use crate::server::sql::Statement;

impl Machine {
    /// Adds records to the log, on behalf of a message.
    pub(crate) fn log(&mut self, origin: Origin, records: impl IntoIterator<Item = Record>) {
        let before = self.effects.log.len();
        self.effects.log.extend(records);
        self.replicated.logged += (self.effects.log.len() - before) as u64;
        self.effects.log_origin = origin;
    }

    /// Adds a record to the log that does not depend on what becomes of its transaction, whose commit waits for it all the same.
    pub(crate) fn log_apart(&mut self, id: SessionId, origin: Origin, record: Record, now: Now) {
        self.log(origin, [record]);
        if let Some(transaction) = self.transaction(id, now) {
            transaction.wrote = true;
        }
    }

    /// Writes the changes of a transaction to the log, unless that was done.
    pub(crate) fn log_commit(&mut self, id: SessionId) {
        let Some(session) = self.sessions.get(&id) else { return };
        let Some(transaction) = session.transaction.as_ref().filter(|it| it.logged.is_none()) else { return };
        let (origin, top, commits) = (session.origin, transaction.top, session.settings.commits);
        let is_empty = !transaction.wrote && !self.heap.has_touched(top);
        let Ended { created, born, died } = self.heap.pending(top);
        let is_logged = |place: &Place| {
            let schema = self.heap.catalogue.any_schema(&place.table);
            schema.is_none_or(|schema| !schema.unlogged)
        };
        let died = died.into_iter().filter(|(place, _)| is_logged(place));
        let died: Vec<_> = died.map(|(place, _)| Record::row(place, None)).collect();
        let born = born.into_iter().filter(|(place, ..)| is_logged(place));
        let born: Vec<_> = born.map(|(place, row, _)| Record::row(place, Some(row))).collect();
        let end = (self.replicated.feeds && !is_empty).then(Record::commit);
        self.log(origin, created.into_iter().map(Record::table).chain(died).chain(born).chain(end));
        self.effects.syncs |= !is_empty && commits != Commits::Off;
        self.effects.syncs_later |= !is_empty && commits == Commits::Off;
        if let Some(transaction) = self.sessions.get_mut(&id).and_then(|session| session.transaction.as_mut())
        {
            transaction.logged = (!is_empty).then_some(self.replicated.logged);
        }
    }

    /// Writes a transaction to the log that has to be on the standby before it is over: what it waits for, if it is not there yet.
    pub(crate) fn await_copy(&mut self, id: SessionId) -> Option<Wait> {
        if !self.replicated.synchronous {
            return None;
        }
        let session = self.sessions.get(&id)?;
        let waits = session.settings.commits == Commits::Everywhere && !session.has_failed();
        if !waits || session.transaction.as_ref()?.unawaited {
            return None;
        }
        self.log_commit(id);
        let place = self.sessions.get(&id)?.transaction.as_ref()?.logged?;
        (place > self.replicated.copied).then_some(Wait::Copy(place))
    }

    /// The standby has so many records on its disk.
    pub(crate) fn copied(&mut self, records: u64, now: Now) {
        self.now = now;
        self.replicated.copied = self.replicated.copied.max(records);
        self.waits.copied(self.replicated.copied);
        self.settle(now);
    }

    /// A wait for the standby is cancelled: the session goes on as if its transaction were there.
    pub(crate) fn stop_awaiting(&mut self, id: SessionId, now: Now) {
        let Some(waiting) = self.sessions.get_mut(&id).and_then(|session| session.waiting.take()) else {
            return;
        };
        self.waits.leave(id);
        if let Some(transaction) = self.sessions.get_mut(&id).and_then(|session| session.transaction.as_mut())
        {
            transaction.unawaited = true;
        }
        self.notify_client(
            id,
            &[only_here("01000", "canceling wait for synchronous replication due to user request")],
        );
        self.resume(id, waiting, now);
        self.run(id, now);
        self.look_again(id);
    }

    /// Replays records of the primary.
    pub(crate) fn replay(&mut self, origin: Origin, records: Vec<Record>, now: Now) {
        self.now = now;
        for record in records {
            self.log(origin, [record.clone()]);
            self.effects.syncs = true;
            if record.is_commit() {
                self.replay_commit(origin);
            } else if record.as_row().is_some() {
                self.replicated.replayed.push(record);
            } else {
                record.restore(&mut self.heap, &mut self.sequences);
            }
        }
    }

    /// Makes the rows of a transaction known that the primary has committed.
    fn replay_commit(&mut self, origin: Origin) {
        let mut ended = Ended::default();
        for record in std::mem::take(&mut self.replicated.replayed) {
            let Some((place, row)) = record.as_row() else { continue };
            match row {
                Some(row) => ended.born.push((place.clone(), row.clone(), false)),
                None => ended.died.extend(self.heap.row(place).map(|row| (place.clone(), row))),
            }
            record.restore(&mut self.heap, &mut self.sequences);
        }
        self.publish(origin, ended);
    }

    /// The standby leads from now on.
    pub(crate) fn promote(&mut self, origin: Origin) {
        self.replicated.in_recovery = false;
        self.replicated.replayed.clear();
        self.report_registers(origin);
        self.effects.events.push((origin, What::BecameLeader));
        self.effects.promoted = true;
    }

    /// Reports what the registers have, for a server that may not have all that was acknowledged.
    pub(crate) fn report_registers(&mut self, origin: Origin) {
        let table = self.guarded.table.clone();
        for (name, row) in self.registers() {
            self.record(origin, &table, &name, &Deed::Restored(&row));
        }
    }

    /// True if there is a register of this key.
    pub(crate) fn has_register(&self, key: &Key) -> bool {
        self.registers().iter().any(|(name, _)| name == key.as_str())
    }

    /// The rows of the registers, as they are committed, by their names.
    fn registers(&self) -> Vec<(String, Row)> {
        let of_table =
            self.heap.catalogue.committed().find(|(schema, _)| *schema.name == *self.guarded.table);
        let rows = of_table.into_iter().flat_map(|(schema, rows)| {
            rows.filter_map(move |(_, row)| Some((schema.name_of(row)?, row.clone())))
        });
        rows.collect()
    }

    /// Refuses what a standby does not do.
    pub(crate) fn admits_here(&self, plan: &Plan) -> Result<(), SqlError> {
        let kinds = plan.parts.iter().map(|part| &part.kind).chain([&plan.kind]);
        match kinds.filter_map(refused_in_recovery).next().filter(|_| self.replicated.in_recovery) {
            Some(what) => Err(SqlError::new("25006", what)),
            None => Ok(()),
        }
    }
}

/// The statement that a standby refuses, as its error has it.
fn refused_in_recovery(kind: &Kind) -> Option<String> {
    let what = match kind {
        Kind::Insert(_) => "INSERT",
        Kind::Update { .. } => "UPDATE",
        Kind::Delete { .. } => "DELETE",
        Kind::CreateTable { .. } => "CREATE TABLE",
        Kind::CreateSequence { .. } => "CREATE SEQUENCE",
        Kind::CreateIndex { .. } => "CREATE INDEX",
        Kind::CreateDomain { .. } => "CREATE DOMAIN",
        Kind::CreateEnum { .. } => "CREATE TYPE",
        Kind::CreateRoutine { .. } => "CREATE FUNCTION",
        Kind::Query(query) => query.from.as_ref()?.lock.as_ref()?.strength.clause(),
        Kind::Control(Statement::Listen(_)) => {
            return Some("cannot execute LISTEN during recovery".to_owned());
        }
        Kind::Control(Statement::Notify { .. }) => {
            return Some("cannot execute NOTIFY during recovery".to_owned());
        }
        Kind::Control(_) => return None,
    };
    Some(format!("cannot execute {what} in a read-only transaction"))
}
