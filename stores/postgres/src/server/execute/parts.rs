//! The statements of WITH.
//!
//! Each is executed when its rows are needed first, as a whole. Those that change rows and that nobody needs come at the end, the last one
//! first. All see the same snapshot, and nobody sees what another one changes.
//!
//! Source: PostgreSQL 15 documentation, 7.8.4; `ExecPostprocessPlan` in `executor/execMain.c`.

use super::eval::Context;
use super::run::{Change, Insertion, PartRun, QueryRun, Run};
use super::scene::Stop;
use crate::protocol::Value;
use crate::server::plan::Kind;

impl Run {
    pub(super) fn of(kind: &Kind) -> Run {
        match kind {
            Kind::Query(_) => Run::Query(QueryRun::default()),
            Kind::Insert(_) => Run::Insert(Insertion::default()),
            Kind::Update { .. } | Kind::Delete { .. } => Run::Change(Change::default()),
            _ => Run::Other,
        }
    }

    /// Goes on to the end of a statement about rows: its tag, but for the number of rows of a result. None for another statement.
    pub(super) fn proceed(
        &mut self,
        at: &mut Context<'_, '_>,
        kind: &Kind,
        rows: &mut Vec<Vec<Value>>,
    ) -> Result<Option<String>, Stop> {
        let tag = match (kind, self) {
            (Kind::Query(query), Run::Query(run)) => {
                let outcome = run.proceed(at, query);
                rows.append(&mut run.rows);
                outcome?;
                "SELECT".to_owned()
            }
            (Kind::Insert(insert), Run::Insert(run)) => {
                run.proceed(at, insert, rows)?;
                format!("INSERT 0 {}", run.count)
            }
            (Kind::Update { write, from, returning }, Run::Change(run)) => {
                run.update(at, write, from, returning.as_deref(), rows)?;
                format!("UPDATE {}", run.count)
            }
            (Kind::Delete { schema, from, filter, returning }, Run::Change(run)) => {
                run.delete(at, schema, from, filter.as_ref(), returning.as_deref(), rows)?;
                format!("DELETE {}", run.count)
            }
            _ => return Ok(None),
        };
        Ok(Some(tag))
    }
}

impl PartRun {
    pub(super) fn of(kind: &Kind) -> PartRun {
        PartRun { run: Some(Run::of(kind)), rows: Vec::new(), done: false }
    }
}

impl Context<'_, '_> {
    /// The rows of the statement of WITH of this number.
    pub(super) fn part(&mut self, number: usize) -> Result<Vec<Vec<Value>>, Stop> {
        let plan = self.plan;
        let (Some(part), Some(state)) = (plan.parts.get(number), self.parts.get_mut(number)) else {
            return Ok(Vec::new());
        };
        if state.done {
            return Ok(state.rows.clone());
        }
        let Some(mut run) = state.run.take() else { return Ok(Vec::new()) };
        let mut rows = std::mem::take(&mut state.rows);
        let outcome = run.proceed(self, &part.kind, &mut rows);
        if let Some(state) = self.parts.get_mut(number) {
            state.rows = rows;
            state.done = outcome.is_ok();
            state.run = Some(run);
        }
        outcome?;
        Ok(self.parts.get(number).map(|state| state.rows.clone()).unwrap_or_default())
    }

    /// Executes the statements of WITH that change rows and were not needed.
    pub(super) fn rest(&mut self) -> Result<(), Stop> {
        let plan = self.plan;
        for (number, part) in plan.parts.iter().enumerate().rev() {
            if part.kind.changes() {
                self.part(number)?;
            }
        }
        Ok(())
    }
}
