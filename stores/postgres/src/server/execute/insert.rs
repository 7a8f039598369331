//! INSERT, with what it does about a row whose key is there.
//!
//! ON CONFLICT DO UPDATE computes the new values after it has locked the row, however long it waited for that.
//!
//! Source: PostgreSQL 15, `ExecInsert` and `ExecOnConflictUpdate` in `executor/nodeModifyTable.c`.

use std::sync::Arc;

use super::calls::Rows;
use super::change::{Written, enter, new_row, write};
use super::eval::Context;
use super::hunt::{Aim, Caught, hunt, serialization};
use super::run::{InsertStage as Stage, Insertion};
use super::scan::{place, present};
use super::scene::Stop;
use crate::protocol::{SqlError, Value};
use crate::server::data::{Place, Schema, Tid, Unique};
use crate::server::locks::Wait;
use crate::server::plan::{Arbiter, Insert, Write};
use crate::server::sql::Patience;

impl Insertion {
    pub(super) fn proceed(
        &mut self,
        at: &mut Context<'_, '_>,
        insert: &Insert,
        rows: &mut Vec<Vec<Value>>,
    ) -> Result<(), Stop> {
        let schema = &insert.schema;
        present(at.scene, schema)?;
        if let (Some(number), None) = (insert.from, &self.found) {
            self.found = Some(at.subquery(number, Rows::default())?);
        }
        let count = self.found.as_ref().map_or(insert.rows.len(), Vec::len);
        while self.done < count {
            self.stage = match self.stage.clone() {
                Stage::Compute => {
                    self.updated = false;
                    let found = self.found.as_ref().map(|found| found[self.done].clone());
                    let row = &insert.rows[if found.is_some() { 0 } else { self.done }];
                    let values = at.row(&mut self.calls, row, Rows::of(&found.unwrap_or_default()))?;
                    schema.check(&values)?;
                    Stage::Probe(values.into())
                }
                Stage::Probe(row) => match taken(at, schema, &insert.arbiter, &row)? {
                    None => {
                        let tid = at.scene.heap.insert(at.scene.actor, &schema.name, Arc::clone(&row));
                        tid.map_or(Stage::Next, |tid| Stage::Enter(place(schema, tid), row))
                    }
                    Some(tid) => {
                        let found = place(schema, tid);
                        if matches!(insert.arbiter, Arbiter::Update(..)) {
                            Stage::Lock(row, found)
                        } else {
                            unseen(at, &found)?;
                            Stage::Next
                        }
                    }
                },
                Stage::Enter(place, row) => {
                    enter(at, schema, &place, &row)?;
                    Stage::Show(row)
                }
                Stage::Show(row) => {
                    if let Some(items) = &insert.returning {
                        let shown = Rows { updated: self.updated, ..Rows::of(&row) };
                        rows.push(at.row(&mut self.calls, items, shown)?);
                    }
                    self.count += 1;
                    Stage::Next
                }
                Stage::Next => {
                    self.done += 1;
                    Stage::Compute
                }
                stage => match &insert.arbiter {
                    Arbiter::Update(_, update) => self.conflict(at, update, stage)?,
                    _ => Stage::Next,
                },
            };
        }
        Ok(())
    }

    /// Continues the change of a row that is there.
    fn conflict(&mut self, at: &mut Context<'_, '_>, update: &Write, stage: Stage) -> Result<Stage, Stop> {
        let old =
            |at: &Context<'_, '_>, place: &Place| at.scene.heap.row(place).unwrap_or_else(|| Arc::new([]));
        Ok(match stage {
            Stage::Lock(row, place) => {
                if at.scene.heap.is_of_command(at.scene.actor, &place) {
                    let text = "ON CONFLICT DO UPDATE command cannot affect row a second time";
                    return Err(SqlError::new("21000", text).into());
                }
                let strength = update.strength;
                let patience = Patience::Wait;
                let aim = Aim { strength, patience, follows: false, marks: true, deleted: "delete" };
                match hunt(at.scene, &mut self.hunt, &place, false, aim)? {
                    Caught::Locked(place, _) => {
                        unseen(at, &place)?;
                        Stage::Fit(row, place)
                    }
                    // Another row may have taken its place.
                    Caught::Moved(_) | Caught::Gone => Stage::Probe(row),
                }
            }
            Stage::Fit(row, place) => {
                let old = old(at, &place);
                let rows = Rows { excluded: &row, ..Rows::of(&old) };
                let fits = at.fits(&mut self.calls, update.filter.as_ref(), rows)?;
                if fits { Stage::Change(row, place) } else { Stage::Next }
            }
            Stage::Change(row, place) => {
                let old = old(at, &place);
                let rows = Rows { excluded: &row, ..Rows::of(&old) };
                let new = new_row(at, &mut self.calls, &update.schema, &update.sets, rows)?;
                Stage::Write(place, new)
            }
            Stage::Write(place, row) => {
                match write(at, &mut self.hunt, &update.schema, &place, Some(&row))? {
                    Written::New(place, row) => {
                        self.updated = true;
                        Stage::Enter(place, row)
                    }
                    Written::Moved(_) | Written::Deleted(_) | Written::Gone => Stage::Next,
                }
            }
            _ => Stage::Next,
        })
    }
}

/// The row whose key a new one has; an error of waiting for what becomes of another.
fn taken(
    at: &mut Context<'_, '_>,
    schema: &Schema,
    arbiter: &Arbiter,
    row: &[Value],
) -> Result<Option<Tid>, Stop> {
    let keys = match arbiter {
        Arbiter::None => 0..0,
        Arbiter::Nothing(None) => 0..schema.keys.len(),
        Arbiter::Nothing(Some(key)) | Arbiter::Update(key, _) => *key..*key + 1,
    };
    for nth in keys {
        let Some(values) = schema.keys[nth].of(row) else { continue };
        match at.scene.heap.unique(at.scene.actor.top, &schema.name, nth, &values, None) {
            Unique::Free => {}
            Unique::Taken(tid) => return Ok(Some(tid)),
            Unique::Busy(xid) => return Err(Stop::Wait(Wait::End(xid))),
        }
    }
    Ok(None)
}

/// Refuses a row that the snapshot of the transaction does not see.
fn unseen(at: &Context<'_, '_>, place: &Place) -> Result<(), SqlError> {
    let own = at.scene.heap.is_of_command(at.scene.actor, place);
    if at.scene.frozen && !own && !at.scene.heap.sees(&at.scene.snapshot, place) {
        return Err(serialization("update"));
    }
    Ok(())
}
