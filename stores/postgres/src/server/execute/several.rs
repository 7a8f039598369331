//! Row locks in a SELECT of several tables: each row that is shown has its parts locked first, table after table.
//!
//! A row of which a part had to be waited for and has changed is put together again, of the versions that are locked and of what was found in the
//! other tables, and left out if it does not fit any more; the locks stay.
//!
//! Source: PostgreSQL 15, `ExecLockRows` in `executor/nodeLockRows.c` and `EvalPlanQual` in `executor/execMain.c`.

use std::sync::Arc;

use super::calls::{Calls, Rows};
use super::eval::Context;
use super::hunt::{Aim, Caught, Hunt, hunt};
use super::run::{Found, Met, Side};
use super::scan::place;
use super::scene::{Effect, Stop};
use crate::protocol::Value;
use crate::server::plan::{Source, Wide};
use crate::server::sql::Strength;

impl Found {
    /// Locks the parts of the next row that still fits. False if there is none.
    pub(super) fn is_ready(
        &mut self,
        at: &mut Context<'_, '_>,
        wide: &Wide,
        state: &mut Option<Hunt>,
    ) -> Result<bool, Stop> {
        let Some(lock) = wide.lock else { return Ok(true) };
        let aim = Aim {
            strength: lock.strength,
            patience: lock.patience,
            follows: true,
            marks: true,
            deleted: "update",
        };
        loop {
            let Some(met) = self.rows.front_mut() else { return Ok(false) };
            let (done, moved) = &mut self.locked;
            let Some(number) = wide.locks.get(*done) else {
                if !*moved {
                    return Ok(true);
                }
                let fits = at.again(met, &wide.sources)?
                    && at.fits(&mut Calls::default(), wide.filter.as_ref(), Rows::of(&met.row))?;
                if fits {
                    *moved = false;
                    return Ok(true);
                }
                self.leave();
                continue;
            };
            let schema = &wide.sources[*number].schema;
            let Some(Side::Version(tid)) = met.parts.get(*number).copied() else {
                *done += 1;
                continue;
            };
            match hunt(at.scene, state, &place(schema, tid), false, aim)? {
                Caught::Locked(place, has_moved) => {
                    met.parts[*number] = Side::Version(place.tid);
                    *done += 1;
                    *moved |= has_moved;
                    if lock.strength != Strength::Share {
                        let row = at.scene.heap.row(&place).unwrap_or_else(|| Arc::new([]));
                        at.scene.effects.push(Effect::Locked { schema: Arc::clone(schema), row });
                    }
                }
                Caught::Moved(_) | Caught::Gone => self.leave(),
            }
        }
    }
}

impl Context<'_, '_> {
    /// Puts a row together again, of the versions that its parts have now. False if they do not meet any more.
    fn again(&mut self, met: &mut Met, sources: &[Source]) -> Result<bool, Stop> {
        let (mut row, mut from) = (Vec::new(), 0);
        for (source, side) in sources.iter().zip(&met.parts) {
            let width = source.schema.columns.len();
            let part = match side {
                Side::Version(tid) => {
                    self.scene.heap.row(&place(&source.schema, *tid)).map(|row| row.to_vec())
                }
                Side::Made => met.row.get(from..from + width).map(<[Value]>::to_vec),
                Side::Nulls => None,
            };
            from += width;
            let nulls = vec![Value::Null; width];
            let met = [&row[..], part.as_ref().unwrap_or(&nulls)].concat();
            let meets =
                part.is_some() && self.fits(&mut Calls::default(), source.on.as_ref(), Rows::of(&met))?;
            if !meets && !source.left {
                return Ok(false);
            }
            row = if meets { met } else { [row, nulls].concat() };
        }
        met.row = row;
        Ok(true)
    }
}
