//! A statement under way.

use std::sync::Arc;

use super::define::{create, create_domain, create_enum, create_index, create_routine, create_sequence};
use super::eval::Context;
use super::run::{PartRun, Run, Sub};
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
    parts: Vec<PartRun>,
    /// The tag of its completion, while statements of WITH are left.
    tag: Option<String>,
    /// True once it has waited for another CREATE TABLE.
    waited: bool,
    /// Its result so far.
    pub(crate) rows: Vec<Vec<Value>>,
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
        let run = Run::of(&plan.kind);
        let parts = plan.parts.iter().map(|part| PartRun::of(&part.kind)).collect();
        let subs = plan.subqueries.iter().map(|_| Sub::default()).collect();
        Work { plan, params, begun: None, run, subs, parts, tag: None, waited: false, rows: Vec::new() }
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
        let (subs, parts) = (&mut self.subs, &mut self.parts);
        let mut at = Context { scene, plan: &plan, params: &self.params, subs, parts };
        if self.tag.is_none() {
            self.tag = self.run.proceed(&mut at, &plan.kind, &mut self.rows)?;
        }
        if let Some(tag) = &self.tag {
            at.rest()?;
            return Ok(tag.clone());
        }
        match &plan.kind {
            Kind::CreateTable { schema, if_not_exists, sequences } => {
                let outcome = create(at.scene, schema, *if_not_exists, sequences, self.waited);
                self.waited |= matches!(outcome, Err(Stop::Wait(_)));
                outcome
            }
            Kind::CreateDomain { name, ty } => create_domain(at.scene, name, *ty),
            Kind::CreateEnum { name, labels } => create_enum(at.scene, name, labels),
            Kind::CreateRoutine { routine, replaces } => create_routine(at.scene, routine, *replaces),
            Kind::CreateSequence { sequence, if_not_exists } => {
                create_sequence(at.scene, sequence, *if_not_exists)
            }
            Kind::CreateIndex { schema, key, if_not_exists } => {
                create_index(at.scene, schema, key.as_ref(), *if_not_exists)
            }
            // The session carries the others out.
            _ => Ok(String::new()),
        }
    }
}
