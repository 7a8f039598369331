//! The messages of a session, and simple queries.
//!
//! Source: "Message Flow", PostgreSQL 15 documentation; `exec_simple_query` and its kin in `tcop/postgres.c`.

use std::collections::VecDeque;
use std::sync::Arc;

use picklock_model::time::Monotonic;
use picklock_model::trace::What;

use crate::protocol::{Format, Message, Severity, SqlError, Target};
use crate::server::execute::{Step, Work};
use crate::server::locks::{SessionId, Wait};
use crate::server::machine::{Machine, Now};
use crate::server::plan::{Kind, Plan};
use crate::server::session::{Job, Waiting};
use crate::server::sql::{Statement, parse};

pub(super) fn plan_ends(plan: Option<&Arc<Plan>>) -> bool {
    plan.is_none_or(|plan| matches!(&plan.kind, Kind::Control(statement) if statement.ends()))
}

impl Machine {
    pub(crate) fn handle(&mut self, id: SessionId, message: Message, now: Now) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        session.idle_since = None;
        if session.skips && message != Message::Sync {
            return;
        }
        let done = match message {
            Message::Query(text) => return self.query(id, &text, now),
            Message::Malformed { simple: true, error } => return self.fail_query(id, &error, now),
            Message::Malformed { error, .. } => Err(error),
            Message::Parse { name, text, types } => self.prepare(id, name, &text, &types, now),
            Message::Bind(bind) => self.bind(id, bind, now),
            Message::Describe(target, name) => self.describe(id, target, &name),
            Message::Execute { portal, max_rows } => {
                self.execute(id, portal, max_rows, now.monotonic, now);
                Ok(())
            }
            Message::Close(target, name) => {
                match target {
                    Target::Statement => drop(session.statements.remove(&name)),
                    Target::Portal => drop(session.portals.remove(&name)),
                }
                session.replies.close_complete();
                Ok(())
            }
            Message::Sync => {
                session.skips = false;
                return self.finish(id, None, now.monotonic, now);
            }
            Message::Flush => {
                self.flush(id);
                Ok(())
            }
            Message::Terminate => Ok(()),
        };
        if let Err(error) = done {
            self.fail_extended(id, &error);
        }
    }

    /// Commits a transaction that was not begun by BEGIN, once the standby has it.
    fn finish_implicit(&mut self, id: SessionId) -> Option<Wait> {
        let block =
            self.sessions.get(&id).and_then(|session| session.transaction.as_ref()).map(|it| it.block);
        if block == Some(false) {
            if let Some(wait) = self.await_copy(id) {
                return Some(wait);
            }
            self.end(id, true);
        }
        None
    }

    /// Ends a query, after its last statement with this tag or after none.
    fn finish(&mut self, id: SessionId, last: Option<(Box<Work>, String)>, began: Monotonic, now: Now) {
        if let Some(wait) = self.finish_implicit(id) {
            return self.wait(id, Job::Finish(last), began, wait, now);
        }
        if let Some((work, tag)) = last {
            self.complete(id, &work, &tag);
        }
        self.ready(id, now);
    }

    /// Sends the result of a statement of a simple query.
    fn complete(&mut self, id: SessionId, work: &Work, tag: &str) {
        if !work.plan.is_sent_along() {
            self.describe_result(id, &work.plan);
        }
        self.send_rows(id, work);
        if let Some(session) = self.sessions.get_mut(&id) {
            session.replies.complete(&tag_of(tag, work.rows.len()));
        }
    }

    fn ready(&mut self, id: SessionId, now: Now) {
        if let Some(session) = self.sessions.get_mut(&id) {
            let status = session.status();
            if session.reported_name != session.settings.application_name {
                session.reported_name.clone_from(&session.settings.application_name);
                session.replies.parameter("application_name", &session.reported_name);
            }
            if session.reported_recovery && !self.replicated.in_recovery {
                session.reported_recovery = false;
                session.replies.parameter("in_hot_standby", "off");
            }
            session.idle_since = Some(now.monotonic);
            if status == b'I' {
                self.deliver(id);
            }
        }
        if let Some(session) = self.sessions.get_mut(&id) {
            session.replies.ready(session.status());
        }
        self.flush(id);
    }

    fn fail_query(&mut self, id: SessionId, error: &SqlError, now: Now) {
        if error.severity == Severity::Fatal {
            return self.kill(id, error);
        }
        self.report(id, error);
        self.abort(id);
        self.ready(id, now);
    }

    pub(super) fn fail_extended(&mut self, id: SessionId, error: &SqlError) {
        if error.severity == Severity::Fatal {
            return self.kill(id, error);
        }
        self.report(id, error);
        self.abort(id);
        if let Some(session) = self.sessions.get_mut(&id) {
            session.skips = true;
        }
    }

    fn report(&mut self, id: SessionId, error: &SqlError) {
        let Some(session) = self.sessions.get_mut(&id) else { return };
        if let Some(name) = error.missing(&session.text) {
            self.effects.events.push((session.origin, What::NotModelled { name }));
        }
        session.replies.error(&error.of_statement(&session.text));
    }

    /// Ends what a session is in the middle of with an error.
    pub(crate) fn fail_job(&mut self, id: SessionId, job: &Job, error: &SqlError, now: Now) {
        self.send_found(id, job);
        match job {
            Job::Query { .. } => self.fail_query(id, error, now),
            Job::Execute { .. } => self.fail_extended(id, error),
            // Nothing ends the wait for the standby with an error.
            Job::Finish(_) => {}
        }
    }

    /// Sends the rows that were found before a statement fails.
    pub(crate) fn send_found(&mut self, id: SessionId, job: &Job) {
        match job {
            Job::Query { work, .. } => {
                if work.plan.is_sent_along() {
                    self.send_rows(id, work);
                }
            }
            Job::Execute { portal, .. } => {
                if let Some(session) = self.sessions.get_mut(&id)
                    && let Some(portal) = session.portals.remove(portal)
                {
                    portal.send_rest(session);
                }
            }
            Job::Finish(_) => {}
        }
    }

    /// Continues what a session is in the middle of.
    pub(crate) fn resume(&mut self, id: SessionId, waiting: Waiting, now: Now) {
        match waiting.job {
            Job::Query { work, rest } => self.statements(id, Some(*work), rest, waiting.began, now),
            Job::Execute { portal, max_rows } => self.execute(id, portal, max_rows, waiting.began, now),
            Job::Finish(last) => self.finish(id, last, waiting.began, now),
        }
    }

    fn query(&mut self, id: SessionId, text: &str, now: Now) {
        if let Some(session) = self.sessions.get_mut(&id) {
            session.statements.remove("");
            session.portals.remove("");
            session.text = text.into();
        }
        match parse(text) {
            Err(error) => self.fail_query(id, &error, now),
            Ok(statements) if statements.is_empty() => {
                if let Some(session) = self.sessions.get_mut(&id) {
                    session.replies.empty_query();
                }
                self.ready(id, now);
            }
            Ok(statements) => self.statements(id, None, statements.into(), now.monotonic, now),
        }
    }

    /// Executes the statements of a simple query, the first of which may have begun already.
    fn statements(
        &mut self,
        id: SessionId,
        mut begun: Option<Work>,
        mut rest: VecDeque<Statement>,
        mut began: Monotonic,
        now: Now,
    ) {
        loop {
            let mut work = match begun.take() {
                Some(work) => work,
                None => match rest.pop_front().map(|statement| self.plan(id, &statement, &[], now)) {
                    Some(Ok(plan)) => {
                        began = now.monotonic;
                        if plan.is_sent_along() {
                            self.describe_result(id, &plan);
                        }
                        Work::new(Arc::new(plan), Vec::new())
                    }
                    Some(Err(error)) => return self.fail_query(id, &error, now),
                    None => return self.ready(id, now),
                },
            };
            match self.step(id, &mut work, now) {
                Err(error) => {
                    if work.plan.is_sent_along() {
                        self.send_rows(id, &work);
                    }
                    return self.fail_query(id, &error, now);
                }
                Ok(Step::Busy(wait)) => {
                    self.wait(id, Job::Query { work: Box::new(work), rest }, began, wait, now);
                    return;
                }
                Ok(Step::Done(tag)) => {
                    if rest.is_empty() {
                        return self.finish(id, Some((Box::new(work), tag)), began, now);
                    }
                    self.complete(id, &work, &tag);
                }
            }
        }
    }

    /// Sends the columns of a simple query's result.
    fn describe_result(&mut self, id: SessionId, plan: &Plan) {
        if let (Some(session), Some(columns)) = (self.sessions.get_mut(&id), &plan.columns) {
            session.replies.columns(columns, |_| Format::Text);
        }
    }

    fn send_rows(&mut self, id: SessionId, work: &Work) {
        if let (Some(session), Some(columns)) = (self.sessions.get_mut(&id), &work.plan.columns) {
            for row in &work.rows {
                session.replies.row(row, columns, |_| Format::Text);
            }
        }
    }

    pub(super) fn wait(&mut self, id: SessionId, job: Job, began: Monotonic, wait: Wait, now: Now) {
        if let Some(session) = self.sessions.get_mut(&id) {
            self.waits.wait(id, wait);
            session.waiting = Some(Waiting { job, began, since: now.monotonic, checked: false });
        }
    }
}

/// The tag with the number of rows where it is to have one.
pub(super) fn tag_of(tag: &str, rows: usize) -> String {
    if tag == "SELECT" { format!("SELECT {rows}") } else { tag.to_owned() }
}
