//! SELECT: finds rows, sorts them, locks them one after another until it has enough, and computes its result of each.
//!
//! A row that had to be waited for is looked at again as it is then, and left out if it does not fit any more; its lock stays.

use std::sync::Arc;

use super::calls::Rows;
use super::eval::Context;
use super::hunt::{Aim, Caught, hunt};
use super::order::{by_keys, limit, offset};
use super::run::{QueryRun, QueryStage as Stage};
use super::scan::{place, scan};
use super::scene::{Effect, Stop};
use crate::server::data::{Place, Row};
use crate::server::plan::{From, Query};
use crate::server::sql::Strength;

impl QueryRun {
    /// Goes on to the end of the result.
    pub(super) fn proceed(&mut self, at: &mut Context<'_, '_>, query: &Query) -> Result<(), Stop> {
        if let Some(wide) = &query.wide {
            return self.proceed_wide(at, &query.items, wide);
        }
        let Some(from) = &query.from else {
            let rows = Rows { outer: &self.outer, ..Rows::default() };
            let row = at.row(&mut self.calls, &query.items, rows)?;
            self.rows.push(row);
            return Ok(());
        };
        if self.left.is_none() {
            self.offset = offset(at, from.offset.as_ref())?;
            self.limit = limit(at, from.limit.as_ref())?;
            self.left = Some(scan(at, &from.schema, from.filter.as_ref())?);
        }
        loop {
            match self.stage.clone() {
                Stage::Next => match self.next(from) {
                    Some(stage) => self.stage = stage,
                    None => return Ok(()),
                },
                Stage::Fit(place) => {
                    let row = self.row(at, &place);
                    let fits = at.fits(&mut self.calls, from.filter.as_ref(), Rows::of(&row))?;
                    self.stage = match (fits, from.order.is_empty()) {
                        (false, _) => Stage::Next,
                        (true, true) => Stage::Lock(place),
                        (true, false) => {
                            let keys = from
                                .order
                                .iter()
                                .map(|key| at.eval(&mut self.calls, &key.value, Rows::of(&row)));
                            let keys = keys.collect::<Result<_, _>>()?;
                            self.sorting.push((keys, place.tid));
                            Stage::Next
                        }
                    };
                }
                Stage::Lock(place) => self.stage = self.lock(at, from, place)?,
                Stage::FitAgain(place) => {
                    let row = self.row(at, &place);
                    let fits = at.fits(&mut self.calls, from.filter.as_ref(), Rows::of(&row))?;
                    self.stage = if fits { Stage::Show(place) } else { Stage::Next };
                }
                Stage::Show(place) => {
                    let row = self.row(at, &place);
                    let result = at.row(&mut self.calls, &query.items, Rows::of(&row))?;
                    self.stage = Stage::Next;
                    if self.offset > 0 {
                        self.offset -= 1;
                        continue;
                    }
                    self.rows.push(result);
                    self.count += 1;
                    let columns = (0..row.len()).filter(|at| query.items.iter().any(|item| item.reads(*at)));
                    let columns = columns.collect();
                    let schema = Arc::clone(&from.schema);
                    at.scene.effects.push(Effect::Read { schema, row, columns });
                }
            }
        }
    }

    /// The next row; none at the end.
    fn next(&mut self, from: &From) -> Option<Stage> {
        if self.limit.is_some_and(|limit| self.count >= limit) {
            return None;
        }
        let left = self.left.get_or_insert_default();
        if from.order.is_empty() {
            return left.pop_front().map(|tid| Stage::Fit(place(&from.schema, tid)));
        }
        if !self.sorted {
            if let Some(tid) = left.pop_front() {
                return Some(Stage::Fit(place(&from.schema, tid)));
            }
            self.sorted = true;
            self.sorting.sort_by(|(a, _), (b, _)| by_keys(&from.order, a, b));
            left.extend(self.sorting.drain(..).map(|(_, tid)| tid));
        }
        left.pop_front().map(|tid| Stage::Lock(place(&from.schema, tid)))
    }

    fn lock(&mut self, at: &mut Context<'_, '_>, from: &From, place: Place) -> Result<Stage, Stop> {
        let Some(lock) = from.lock else { return Ok(Stage::Show(place)) };
        let (strength, patience) = (lock.strength, lock.patience);
        let aim = Aim { strength, patience, follows: true, marks: true, deleted: "update" };
        match hunt(at.scene, &mut self.hunt, &place, false, aim)? {
            Caught::Locked(place, moved) => {
                if strength != Strength::Share {
                    let row = self.row(at, &place);
                    at.scene.effects.push(Effect::Locked { schema: Arc::clone(&from.schema), row });
                }
                Ok(if moved { Stage::FitAgain(place) } else { Stage::Show(place) })
            }
            Caught::Moved(_) | Caught::Gone => Ok(Stage::Next),
        }
    }

    fn row(&self, at: &Context<'_, '_>, place: &Place) -> Row {
        at.scene.heap.row(place).unwrap_or_else(|| Arc::new([]))
    }
}
