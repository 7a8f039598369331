//! A statement under way.

use std::sync::Arc;

use super::change::Change;
use super::define::{create, create_index, create_sequence};
use super::eval::{Context, Sub};
use super::insert::Insertion;
use super::run::QueryRun;
use super::scene::{Scene, Stop};
use crate::protocol::{SqlError, Value};
use crate::server::data::Snapshot;
use crate::server::locks::Wait;
use crate::server::plan::{Kind, Plan};

#[derive(Clone, Debug)]
pub(crate) struct Work {
    pub(crate) plan: Arc<Plan>,
    pub(crate) params: Vec<Value>,
    /// Its snapshot and when it began, from then on.
    pub(crate) begun: Option<(Snapshot, i64)>,
    run: Run,
    subs: Vec<Sub>,
    /// Its result so far.
    pub(crate) rows: Vec<Vec<Value>>,
}

#[derive(Clone, Debug)]
enum Run {
    Other,
    Query(QueryRun),
    Insert(Insertion),
    Change(Change),
}

/// How far a statement has come.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// To its end; the tag of its completion but for the number of rows of a result.
    Done(String),
    /// To something that another session has.
    Busy(Wait),
}

impl Work {
    pub(crate) fn new(plan: Arc<Plan>, params: Vec<Value>) -> Work {
        let run = match &plan.kind {
            Kind::Query(_) => Run::Query(QueryRun::default()),
            Kind::Insert(_) => Run::Insert(Insertion::default()),
            Kind::Update { .. } | Kind::Delete { .. } => Run::Change(Change::default()),
            _ => Run::Other,
        };
        let subs = plan.subqueries.iter().map(|_| Sub::default()).collect();
        Work { plan, params, begun: None, run, subs, rows: Vec::new() }
    }

    /// True if it takes a snapshot.
    pub(crate) fn looks(&self) -> bool {
        !matches!(self.run, Run::Other)
    }

    /// Goes on until it is done or has to wait.
    pub(crate) fn proceed(&mut self, scene: &mut Scene<'_>) -> Result<Step, SqlError> {
        match self.go(scene) {
            Ok(tag) => Ok(Step::Done(tag)),
            Err(Stop::Wait(wait)) => Ok(Step::Busy(wait)),
            Err(Stop::Error(error)) => Err(error),
        }
    }

    fn go(&mut self, scene: &mut Scene<'_>) -> Result<String, Stop> {
        let plan = Arc::clone(&self.plan);
        let mut at = Context { scene, plan: &plan, params: &self.params, subs: &mut self.subs };
        match (&plan.kind, &mut self.run) {
            (Kind::Query(query), Run::Query(run)) => {
                let outcome = run.proceed(&mut at, query);
                self.rows.append(&mut run.rows);
                outcome.map(|()| "SELECT".to_owned())
            }
            (Kind::Insert(insert), Run::Insert(run)) => {
                let outcome = run.proceed(&mut at, insert, &mut self.rows);
                outcome.map(|()| format!("INSERT 0 {}", run.count))
            }
            (Kind::Update { write, returning }, Run::Change(run)) => {
                let outcome = run.update(&mut at, write, returning.as_deref(), &mut self.rows);
                outcome.map(|()| format!("UPDATE {}", run.count))
            }
            (Kind::Delete { schema, filter, returning }, Run::Change(run)) => {
                let outcome =
                    run.delete(&mut at, schema, filter.as_ref(), returning.as_deref(), &mut self.rows);
                outcome.map(|()| format!("DELETE {}", run.count))
            }
            (Kind::CreateTable { schema, if_not_exists, sequences }, _) => {
                create(at.scene, schema, *if_not_exists, sequences)
            }
            (Kind::CreateSequence { sequence, if_not_exists }, _) => {
                create_sequence(at.scene, sequence, *if_not_exists)
            }
            (Kind::CreateIndex { schema, key, if_not_exists }, _) => {
                create_index(at.scene, schema, key, *if_not_exists)
            }
            // The session carries the others out.
            _ => Ok(String::new()),
        }
    }
}
