//! UPDATE and DELETE: a row after another.
//!
//! The new values of a row are computed when the statement reaches it, before it waits for the row. They are computed again
//! only if the row was changed meanwhile.
//!
//! Source: PostgreSQL 15, `ExecUpdate` and `ExecDelete` in `executor/nodeModifyTable.c`.

use std::collections::VecDeque;
use std::sync::Arc;

use super::calls::{Calls, Rows};
use super::eval::Context;
use super::hunt::{Aim, Caught, Hunt, hunt};
use super::run::{Change, ChangeStage as Stage};
use super::scan::{place, scan};
use super::scene::Stop;
use crate::protocol::{SqlError, Value};
use crate::server::data::{Place, Row, Schema, Unique};
use crate::server::locks::Wait;
use crate::server::plan::{Source, Typed, Write};
use crate::server::sql::{Patience, Strength};

/// The parts of an UPDATE or DELETE.
struct Parts<'a> {
    schema: &'a Arc<Schema>,
    /// The tables of FROM or USING.
    from: &'a [Source],
    filter: Option<&'a Typed>,
    /// None for DELETE.
    sets: Option<&'a [(usize, Typed)]>,
    strength: Strength,
    returning: Option<&'a [Typed]>,
}

impl Change {
    pub(super) fn update(
        &mut self,
        at: &mut Context<'_, '_>,
        write: &Write,
        from: &[Source],
        returning: Option<&[Typed]>,
        rows: &mut Vec<Vec<Value>>,
    ) -> Result<(), Stop> {
        let Write { schema, sets, filter, strength } = write;
        let (filter, sets) = (filter.as_ref(), Some(sets.as_slice()));
        self.proceed(at, &Parts { schema, from, filter, sets, strength: *strength, returning }, rows)
    }

    pub(super) fn delete(
        &mut self,
        at: &mut Context<'_, '_>,
        schema: &Arc<Schema>,
        from: &[Source],
        filter: Option<&Typed>,
        returning: Option<&[Typed]>,
        rows: &mut Vec<Vec<Value>>,
    ) -> Result<(), Stop> {
        let strength = Strength::Update;
        self.proceed(at, &Parts { schema, from, filter, sets: None, strength, returning }, rows)
    }

    fn proceed(
        &mut self,
        at: &mut Context<'_, '_>,
        parts: &Parts<'_>,
        rows: &mut Vec<Vec<Value>>,
    ) -> Result<(), Stop> {
        if self.left.is_none() {
            self.left = Some(if parts.from.is_empty() {
                let none: Row = Arc::new([]);
                scan(at, parts.schema, parts.filter)?
                    .into_iter()
                    .map(|tid| (tid, Arc::clone(&none)))
                    .collect()
            } else {
                at.pairs(parts.schema, parts.from, parts.filter)?
            });
        }
        loop {
            match self.stage.clone() {
                Stage::Next => match self.left.as_mut().and_then(VecDeque::pop_front) {
                    Some((tid, beside)) => {
                        self.beside = beside;
                        self.stage = Stage::Fit(place(parts.schema, tid));
                    }
                    None => return Ok(()),
                },
                Stage::Fit(place) => {
                    let row = self.whole(at.scene.heap.row(&place));
                    let fits = at.fits(&mut self.calls, parts.filter, Rows::of(&row))?;
                    self.stage = if fits { Stage::Compute(place) } else { Stage::Next };
                }
                Stage::Follow(place) => {
                    let aim = Aim {
                        strength: parts.strength,
                        patience: Patience::Wait,
                        follows: true,
                        marks: true,
                        deleted: "delete",
                    };
                    self.stage = match hunt(at.scene, &mut self.hunt, &place, true, aim)? {
                        Caught::Locked(place, _) => Stage::Fit(place),
                        Caught::Moved(_) | Caught::Gone => Stage::Next,
                    };
                }
                Stage::Compute(place) => {
                    let row = match parts.sets {
                        None => None,
                        Some(sets) => {
                            let old = self.whole(at.scene.heap.row(&place));
                            Some(new_row(at, &mut self.calls, parts.schema, sets, Rows::of(&old))?)
                        }
                    };
                    self.stage = Stage::Write(place, row);
                }
                Stage::Write(place, row) => {
                    self.stage = match write(at, &mut self.hunt, parts.schema, &place, row.as_ref())? {
                        Written::Moved(place) => Stage::Follow(place),
                        Written::Gone => Stage::Next,
                        Written::Deleted(old) => Stage::Show(old),
                        Written::New(place, row) => Stage::Enter(place, row),
                    };
                }
                Stage::Enter(place, row) => {
                    enter(at, parts.schema, &place, &row)?;
                    self.stage = Stage::Show(row);
                }
                Stage::Show(row) => {
                    if let Some(items) = parts.returning {
                        let row = self.whole(Some(row));
                        rows.push(at.row(&mut self.calls, items, Rows::of(&row))?);
                    }
                    self.count += 1;
                    self.stage = Stage::Next;
                }
            }
        }
    }
}

impl Change {
    /// A row with that of the other tables behind it.
    fn whole(&self, row: Option<Row>) -> Row {
        match row {
            None => Arc::new([]),
            Some(row) if self.beside.is_empty() => row,
            Some(row) => [&row[..], &self.beside[..]].concat().into(),
        }
    }
}

/// The new values of a row.
pub(super) fn new_row(
    at: &mut Context<'_, '_>,
    calls: &mut Calls,
    schema: &Schema,
    sets: &[(usize, Typed)],
    rows: Rows<'_>,
) -> Result<Row, Stop> {
    calls.again();
    // Those of other tables come after its own.
    let mut values = rows.row[..schema.columns.len().min(rows.row.len())].to_vec();
    for (column, value) in sets {
        values[*column] = at.eval(calls, value, rows)?;
    }
    calls.clear();
    schema.check(&values)?;
    Ok(values.into())
}

/// The outcome of a change.
pub(super) enum Written {
    New(Place, Row),
    Deleted(Row),
    Moved(Place),
    Gone,
}

/// Changes a row, or deletes it without values, once nobody is in the way.
pub(super) fn write(
    at: &mut Context<'_, '_>,
    state: &mut Option<Hunt>,
    schema: &Schema,
    place: &Place,
    row: Option<&Row>,
) -> Result<Written, Stop> {
    let Some(old) = at.scene.heap.row(place) else { return Ok(Written::Gone) };
    let differs = |column: &usize| row.is_none_or(|row| row.get(*column) != old.get(*column));
    let changes_key = row.is_none()
        || schema.keys.iter().filter(|key| key.is_plain()).flat_map(|key| &key.columns).any(differs);
    let strength = if changes_key { Strength::Update } else { Strength::NoKeyUpdate };
    let aim = Aim { strength, patience: Patience::Wait, follows: false, marks: false, deleted: "delete" };
    match hunt(at.scene, state, place, false, aim)? {
        Caught::Moved(place) => Ok(Written::Moved(place)),
        Caught::Gone => Ok(Written::Gone),
        Caught::Locked(place, _) => {
            let next = at.scene.heap.change(at.scene.actor, &place, row.cloned());
            Ok(match (next, row) {
                (Some(tid), Some(row)) => Written::New(super::scan::place(schema, tid), Arc::clone(row)),
                _ => Written::Deleted(old),
            })
        }
    }
}

/// Enters a new version in the indexes, where it may have to wait for what becomes of another.
pub(super) fn enter(
    at: &mut Context<'_, '_>,
    schema: &Schema,
    place: &Place,
    row: &[Value],
) -> Result<(), Stop> {
    for (nth, key) in schema.keys.iter().enumerate().skip(at.scene.heap.indexed(place)) {
        if let Some(values) = key.of(row) {
            match at.scene.heap.unique(at.scene.actor.top, &schema.name, nth, &values, Some(place.tid)) {
                Unique::Free => {}
                Unique::Taken(_) => return Err(duplicate(schema, nth, &values).into()),
                Unique::Busy(xid) => return Err(Stop::Wait(Wait::End(xid))),
            }
        }
        at.scene.heap.enter(place);
    }
    Ok(())
}

fn duplicate(schema: &Schema, nth: usize, values: &[Value]) -> SqlError {
    let key = &schema.keys[nth];
    let text = format!("duplicate key value violates unique constraint \"{}\"", key.name);
    let values: Vec<String> = values.iter().filter_map(Value::text).collect();
    let detail = format!("Key ({})=({}) already exists.", key.shown(schema), values.join(", "));
    SqlError::new("23505", text).with_detail(detail)
}
