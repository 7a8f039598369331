//! The planning of a statement for a session, and its execution as far as it comes.

use std::sync::Arc;

use crate::protocol::{SqlError, Type, timestamp};
use crate::server::data::{Actor, Snapshot};
use crate::server::execute::{Effect, Scene, Signal, Step, Work};
use crate::server::guarded::Deed;
use crate::server::locks::SessionId;
use crate::server::machine::{Machine, Now, canceled, terminated};
use crate::server::plan::{Kind, Known, Plan, plan};
use crate::server::record::Record;
use crate::server::session::Post;
use crate::server::sql::Statement;

/// So many texts of which `hashtext` has made a number are remembered.
const MOST_HASHED: usize = 1_000;

impl Machine {
    /// The meaning of a statement to this session.
    pub(super) fn plan(
        &mut self,
        id: SessionId,
        statement: &Statement,
        types: &[Option<Type>],
        now: Now,
    ) -> Result<Plan, SqlError> {
        let gone = || SqlError::protocol("the session is gone");
        self.sessions.get(&id).ok_or_else(gone)?.admits(statement.ends())?;
        let top = if statement.ends() { None } else { self.transaction(id, now).map(|it| it.top) };
        let looks = matches!(
            statement,
            Statement::Insert(_)
                | Statement::Select(_)
                | Statement::Update(_)
                | Statement::Delete(_)
                | Statement::With { .. }
        );
        if looks {
            self.fix_snapshot(id);
        }
        let table = |name: &str| self.heap.catalogue.schema(top?, name).cloned();
        let sequence = |name: &str| self.sequences.get(name).is_some();
        let ty = |name: &str| self.heap.catalogue.ty(name);
        let routine = |name: &str| self.heap.catalogue.routine(name).cloned();
        plan(statement, types, Known { table: &table, sequence: &sequence, ty: &ty, routine: &routine })
    }

    /// Executes a statement as far as it comes.
    pub(super) fn step(&mut self, id: SessionId, work: &mut Work, now: Now) -> Result<Step, SqlError> {
        self.admits_here(&work.plan)?;
        if let Kind::Control(statement) = &Arc::clone(&work.plan).kind {
            if *statement == Statement::Commit
                && let Some(wait) = self.await_copy(id)
            {
                return Ok(Step::Busy(wait));
            }
            let (tag, rows) = self.control(id, statement, now)?;
            work.rows = rows;
            return Ok(Step::Done(tag));
        }
        let gone = || SqlError::protocol("the session is gone");
        self.transaction(id, now);
        self.fix_snapshot(id);
        let session = self.sessions.get_mut(&id).ok_or_else(gone)?;
        let transaction = session.transaction.as_mut().ok_or_else(gone)?;
        let clock = timestamp(now.wall.as_nanos());
        let (snapshot, statement_began) = *work.begun.get_or_insert_with(|| {
            transaction.command += 1;
            let commits = transaction.snapshot.unwrap_or_else(|| self.heap.commits());
            (Snapshot { commits, top: transaction.top, command: transaction.command }, clock)
        });
        session.snapshot = work.looks().then_some(snapshot.commits);
        let actor = Actor { command: snapshot.command, ..transaction.actor() };
        let (mut effects, mut notices) = (Vec::new(), Vec::new());
        let mut scene = Scene {
            heap: &mut self.heap,
            waits: &mut self.waits,
            sequences: &mut self.sequences,
            session: id,
            pid: session.pid,
            pids: &self.pids,
            in_recovery: self.replicated.in_recovery,
            actor,
            snapshot,
            frozen: transaction.snapshot.is_some(),
            began: transaction.began,
            statement_began,
            clock,
            chance: &mut self.chance,
            settings: &mut session.settings,
            settled: &mut session.settled,
            given: &mut session.given,
            last_given: &mut session.last_given,
            effects: &mut effects,
            notices: &mut notices,
        };
        let outcome = work.proceed(&mut scene);
        if !matches!(outcome, Ok(Step::Busy(_))) {
            session.snapshot = None;
        }
        let origin = session.origin;
        self.notify_client(id, &notices);
        let mut own = None;
        for effect in effects {
            match effect {
                Effect::Locked { schema, row } => self.locked(id, &schema, &row),
                Effect::Read { schema, row, columns } => {
                    if let Some(name) = schema.name_of(&row) {
                        self.record(origin, &schema.name, &name, &Deed::Read(&row, &columns));
                    }
                }
                Effect::Hashed(number, text) => {
                    if self.hashed.len() < MOST_HASHED {
                        self.hashed.entry(number).or_insert(text);
                    }
                }
                Effect::Took(tag) => self.took(id, tag),
                Effect::GaveBack(tag) => self.unlocked(id, &[tag]),
                Effect::Sequence(name, sequence) => {
                    self.log_apart(id, origin, Record::sequence(name, sequence), now);
                }
                Effect::Type(name, ty) => self.log_apart(id, origin, Record::ty(name, ty), now),
                Effect::Routine(routine) => self.log_apart(id, origin, Record::routine(routine), now),
                Effect::Keyed(schema) => {
                    self.log_apart(id, origin, Record::table(schema), now);
                    self.effects.syncs = true;
                }
                Effect::Promoted => self.promote(origin),
                Effect::Notify { channel, payload } => {
                    if let Some(transaction) = self.transaction(id, now) {
                        let xid = transaction.actor().xid;
                        transaction.posts.push((xid, Post::Notify { channel, payload }));
                    }
                }
                Effect::Signal(target, signal) if target == id => own = Some(signal),
                Effect::Signal(target, signal) => self.signals.push_back((target, signal)),
            }
        }
        match own {
            None => outcome,
            Some(Signal::Cancel) => Err(canceled()),
            Some(Signal::Terminate) => Err(terminated()),
        }
    }
}
