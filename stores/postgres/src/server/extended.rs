//! The extended protocol: statements that are prepared, and portals.
//!
//! Source: "Extended Query", PostgreSQL 15 documentation, 55.2.3; `exec_parse_message` and its kin in `tcop/postgres.c`.

use std::sync::Arc;

use picklock_model::time::Monotonic;

use super::query::{plan_ends, tag_of};
use crate::protocol::{Bind, Format, SqlError, Target, Type, Value};
use crate::server::execute::{Step, Work};
use crate::server::locks::{SessionId, Wait};
use crate::server::machine::{Machine, Now};
use crate::server::session::{Job, Portal, Prepared, Session};
use crate::server::sql::parse;

impl Machine {
    pub(super) fn prepare(
        &mut self,
        id: SessionId,
        name: String,
        text: &str,
        types: &[Option<Type>],
        now: Now,
    ) -> Result<(), SqlError> {
        let own: Arc<str> = text.into();
        if let Some(session) = self.sessions.get_mut(&id) {
            session.text = Arc::clone(&own);
        }
        let mut statements = parse(text)?;
        if statements.len() > 1 {
            let text = "cannot insert multiple commands into a prepared statement";
            return Err(SqlError::new("42601", text));
        }
        let plan = match statements.pop() {
            Some(statement) => Some(Arc::new(self.plan(id, &statement, types, now)?)),
            None => None,
        };
        let Some(session) = self.sessions.get_mut(&id) else { return Ok(()) };
        if !name.is_empty() && session.statements.contains_key(&name) {
            let text = format!("prepared statement \"{name}\" already exists");
            return Err(SqlError::new("42P05", text));
        }
        session.statements.insert(name, Prepared { text: own, plan });
        session.replies.parse_complete();
        Ok(())
    }

    pub(super) fn bind(&mut self, id: SessionId, bind: Bind, now: Now) -> Result<(), SqlError> {
        let Some(session) = self.sessions.get_mut(&id) else { return Ok(()) };
        let Bind { portal, statement, formats, values, results } = bind;
        let Prepared { text, plan } = session.prepared(&statement)?.clone();
        session.text = text;
        session.admits(plan_ends(plan.as_ref()))?;
        if !portal.is_empty() && session.portals.contains_key(&portal) {
            return Err(SqlError::new("42P03", format!("cursor \"{portal}\" already exists")));
        }
        let (given, types) = (values.len(), plan.as_ref().map_or(&[][..], |plan| &plan.params));
        if formats.len() > 1 && formats.len() != given {
            let text = format!("bind message has {} parameter formats but {given} parameters", formats.len());
            return Err(SqlError::protocol(text));
        }
        if given != types.len() {
            let (statement, needed) = (&statement, types.len());
            let text = format!(
                "bind message supplies {given} parameters, but prepared statement \"{statement}\" requires {needed}"
            );
            return Err(SqlError::protocol(text));
        }
        let mut params = Vec::new();
        for (at, (value, ty)) in values.iter().zip(types).enumerate() {
            let format = format_at(&formats, at);
            params.push(value.as_ref().map_or(Ok(Value::Null), |bytes| ty.decode(bytes, format))?);
        }
        let width = plan.as_ref().and_then(|plan| plan.columns.as_ref()).map_or(0, Vec::len);
        if results.len() > 1 && results.len() != width {
            let text =
                format!("bind message has {} result formats but query has {width} columns", results.len());
            return Err(SqlError::protocol(text));
        }
        // A portal lives in a transaction.
        if !plan_ends(plan.as_ref()) {
            self.transaction(id, now);
        }
        if let Some(session) = self.sessions.get_mut(&id) {
            let work = plan.map(|plan| Work::new(plan, params));
            session.portals.insert(portal, Portal { work, formats: results, tag: None, sent: 0 });
            session.replies.bind_complete();
        }
        Ok(())
    }

    pub(super) fn describe(&mut self, id: SessionId, target: Target, name: &str) -> Result<(), SqlError> {
        let Some(session) = self.sessions.get_mut(&id) else { return Ok(()) };
        let (plan, formats) = match target {
            Target::Statement => (session.prepared(name)?.plan.clone(), Vec::new()),
            Target::Portal => {
                let portal = session.portals.get(name).ok_or_else(|| no_portal(name))?;
                (portal.work.as_ref().map(|work| Arc::clone(&work.plan)), portal.formats.clone())
            }
        };
        let columns = plan.as_ref().and_then(|plan| plan.columns.as_ref());
        session.admits(columns.is_none())?;
        if target == Target::Statement {
            session.replies.parameter_types(plan.as_ref().map_or(&[], |plan| &plan.params));
        }
        match columns {
            Some(columns) => session.replies.columns(columns, |at| format_at(&formats, at)),
            None => session.replies.no_data(),
        }
        Ok(())
    }

    pub(super) fn execute(&mut self, id: SessionId, name: String, max_rows: i32, began: Monotonic, now: Now) {
        match self.execute_portal(id, &name, max_rows, now) {
            Ok(Some(wait)) => self.wait(id, Job::Execute { portal: name, max_rows }, began, wait, now),
            Ok(None) => {}
            Err(error) => self.fail_extended(id, &error),
        }
    }

    /// Executes a portal, or continues it; the thing that it has to wait for, if it has to.
    fn execute_portal(
        &mut self,
        id: SessionId,
        name: &str,
        max_rows: i32,
        now: Now,
    ) -> Result<Option<Wait>, SqlError> {
        let Some(session) = self.sessions.get_mut(&id) else { return Ok(None) };
        let portal = session.portals.get(name).ok_or_else(|| no_portal(name))?;
        let plan = portal.work.as_ref().map(|work| Arc::clone(&work.plan));
        session.admits(plan_ends(plan.as_ref()))?;
        // The portal is taken out: its statement may end the transaction that it lives in.
        let Some(mut portal) = session.portals.remove(name) else { return Ok(None) };
        let Some(work) = &mut portal.work else {
            session.replies.empty_query();
            session.portals.insert(name.to_owned(), portal);
            return Ok(None);
        };
        if portal.tag.is_none() {
            let outcome = self.step(id, work, now);
            if let (Err(_), Some(session)) = (&outcome, self.sessions.get_mut(&id)) {
                portal.send_rest(session);
            }
            match outcome? {
                Step::Busy(wait) => {
                    if let Some(session) = self.sessions.get_mut(&id) {
                        session.portals.insert(name.to_owned(), portal);
                    }
                    return Ok(Some(wait));
                }
                Step::Done(tag) => portal.tag = Some(tag),
            }
        } else if work.plan.columns.is_none() {
            return Err(SqlError::new("55000", format!("portal \"{name}\" cannot be run")));
        }
        if let Some(session) = self.sessions.get_mut(&id) {
            portal.send(session, max_rows);
            if session.transaction.is_some() {
                session.portals.insert(name.to_owned(), portal);
            }
        }
        Ok(None)
    }
}

impl Session {
    fn prepared(&self, name: &str) -> Result<&Prepared, SqlError> {
        let missing = || match name {
            "" => SqlError::new("26000", "unnamed prepared statement does not exist"),
            _ => SqlError::new("26000", format!("prepared statement \"{name}\" does not exist")),
        };
        self.statements.get(name).ok_or_else(missing)
    }
}

impl Portal {
    /// Sends the rows that were found before an error.
    pub(super) fn send_rest(&self, session: &mut Session) {
        let Some(work) = self.work.as_ref().filter(|work| work.plan.is_sent_along()) else { return };
        if let Some(columns) = &work.plan.columns {
            for row in &work.rows[self.sent..] {
                session.replies.row(row, columns, |at| format_at(&self.formats, at));
            }
        }
    }

    /// Sends the next rows of the result, at most so many unless that is 0, and says whether that was all.
    fn send(&mut self, session: &mut Session, max_rows: i32) {
        let (Some(work), Some(tag)) = (&self.work, &self.tag) else { return };
        let left = work.rows.len() - self.sent;
        let most = usize::try_from(max_rows).ok().filter(|most| *most > 0).unwrap_or(usize::MAX);
        let count = left.min(most);
        if let Some(columns) = &work.plan.columns {
            for row in &work.rows[self.sent..self.sent + count] {
                session.replies.row(row, columns, |at| format_at(&self.formats, at));
            }
        }
        self.sent += count;
        // As many as were asked for: whether there are more is not looked at.
        if work.plan.columns.is_some() && count == most {
            session.replies.suspended();
        } else {
            session.replies.complete(&tag_of(tag, count));
        }
    }
}

/// The format of a value: each has its own, or one is for all, or all are text.
fn format_at(formats: &[Format], at: usize) -> Format {
    match formats {
        [] => Format::Text,
        [one] => *one,
        more => more.get(at).copied().unwrap_or(Format::Text),
    }
}

fn no_portal(name: &str) -> SqlError {
    SqlError::new("34000", format!("portal \"{name}\" does not exist"))
}
