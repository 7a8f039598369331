//! Rows that are all found before the first one is shown: of several tables, of statements of WITH, of the catalogue; and those that
//! are counted.
//!
//! The rows of several tables come in the order of the first one, then of the second, and so on. PostgreSQL joins as its statistics have it;
//! without ORDER BY the order is not defined. While they are found nothing is waited for but statements of WITH, and these keep what they have
//! done: who had to wait begins again. Rows are locked after that, one after another.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use super::calls::{Calls, Rows};
use super::eval::Context;
use super::order::{by_keys, limit, offset};
use super::run::{Found, Met, QueryRun, Side};
use super::scan::{names_one, place, scan};
use super::scene::{Effect, Stop};
use crate::protocol::Value;
use crate::server::data::{Row, Schema, Tid};
use crate::server::plan::{Numbering, Origin, Source, Typed, Wide};
use crate::server::sql::Operator;

impl QueryRun {
    /// Goes on to the end of the result.
    pub(super) fn proceed_wide(
        &mut self,
        at: &mut Context<'_, '_>,
        items: &[Typed],
        wide: &Wide,
    ) -> Result<(), Stop> {
        if self.found.is_none() {
            self.offset = offset(at, wide.offset.as_ref())?;
            self.limit = limit(at, wide.limit.as_ref())?;
            let outer = std::mem::take(&mut self.outer);
            let rows = found(at, wide, &outer);
            self.outer = outer;
            self.found = Some(Box::new(Found { rows: rows?, ..Found::default() }));
        }
        let Some(found) = self.found.as_mut() else { return Ok(()) };
        while self.limit.is_none_or(|limit| self.count < limit) && found.is_ready(at, wide, &mut self.hunt)? {
            let Some(row) = found.rows.front().map(|met| met.row.clone()) else { break };
            let rows = Rows { outer: &self.outer, ..Rows::of(&row) };
            if !found.passed && !at.fits(&mut self.calls, wide.late.as_ref(), rows)? {
                found.leave();
                continue;
            }
            found.passed = true;
            let shown = at.row(&mut self.calls, items, rows)?;
            found.leave();
            if wide.distinct && !found.seen.insert(shown.clone()) {
                continue;
            }
            if self.offset > 0 {
                self.offset -= 1;
                continue;
            }
            if wide.grouping.is_none() {
                reads(at, items, &wide.sources, &row);
            }
            self.rows.push(shown);
            self.count += 1;
        }
        Ok(())
    }
}

impl Found {
    /// Goes on to the next row.
    pub(super) fn leave(&mut self) {
        self.rows.pop_front();
        (self.locked, self.passed) = ((0, false), false);
    }
}

/// The rows in their order.
fn found(at: &mut Context<'_, '_>, wide: &Wide, outer: &[Value]) -> Result<VecDeque<Met>, Stop> {
    let (mut sorting, mut fitting) = (Vec::new(), Vec::new());
    for met in at.joined(&wide.sources, &[], outer)? {
        let rows = Rows { outer, ..Rows::of(&met.row) };
        if at.fits(&mut Calls::default(), wide.filter.as_ref(), rows)? {
            fitting.push(met);
        }
    }
    if let Some(grouping) = &wide.grouping {
        fitting = at.grouped(grouping, &fitting, outer)?;
    }
    for numbering in &wide.numbers {
        at.number(numbering, &mut fitting, outer)?;
    }
    for met in fitting {
        for row in at.spread(&wide.sets, &met.row, outer)? {
            let rows = Rows { outer, ..Rows::of(&row) };
            let keys = wide.order.iter().map(|key| at.eval(&mut Calls::default(), &key.value, rows));
            let keys = keys.collect::<Result<Vec<_>, _>>()?;
            sorting.push((keys, Met { row, parts: met.parts.clone() }));
        }
    }
    sorting.sort_by(|(a, _), (b, _)| by_keys(&wide.order, a, b));
    if wide.firsts > 0 {
        sorting.dedup_by(|(a, _), (b, _)| a[..wide.firsts] == b[..wide.firsts]);
    }
    Ok(sorting.into_iter().map(|(_, met)| met).collect())
}

/// Reports what was read of the rows of tables.
fn reads(at: &mut Context<'_, '_>, items: &[Typed], sources: &[Source], row: &[Value]) {
    let mut from = 0;
    for source in sources {
        let to = from + source.schema.columns.len();
        let columns = (0..to - from).filter(|at| items.iter().any(|item| item.reads(from + at))).collect();
        if let (Origin::Table, Some(values)) = (&source.origin, row.get(from..to)) {
            let (schema, row) = (Arc::clone(&source.schema), Row::from(values));
            at.scene.effects.push(Effect::Read { schema, row, columns });
        }
        from = to;
    }
}

impl Met {
    /// The row with that of a further table.
    fn beside(&self, side: Side, other: &[Value]) -> Met {
        let parts = self.parts.iter().copied().chain([side]).collect();
        Met { row: [&self.row[..], other].concat(), parts }
    }
}

impl Context<'_, '_> {
    /// The rows of several tables that meet. `before` are the columns of a table that comes before them, which no condition of them names.
    fn joined(&mut self, sources: &[Source], before: &[Value], outer: &[Value]) -> Result<Vec<Met>, Stop> {
        let mut rows = vec![Met { row: before.to_vec(), parts: Vec::new() }];
        for source in sources {
            let more = self.rows_of(source, outer)?;
            let mut met = Vec::new();
            for row in rows {
                let from = met.len();
                for (side, other) in &more {
                    let both = row.beside(*side, other);
                    let rows = Rows { outer, ..Rows::of(&both.row) };
                    if self.fits(&mut Calls::default(), source.on.as_ref(), rows)? {
                        met.push(both);
                    }
                }
                if source.left && met.len() == from {
                    met.push(row.beside(Side::Nulls, &vec![Value::Null; source.schema.columns.len()]));
                }
            }
            rows = met;
        }
        Ok(rows)
    }

    /// Puts the numbers of rows behind their columns. The rows come in the order in which they are numbered, as PostgreSQL sorts them for that.
    fn number(&mut self, numbering: &Numbering, all: &mut Vec<Met>, outer: &[Value]) -> Result<(), Stop> {
        let mut sorting = Vec::new();
        for met in all.drain(..) {
            let rows = Rows { outer, ..Rows::of(&met.row) };
            let mut of = |value: &Typed| self.eval(&mut Calls::default(), value, rows);
            // Nulls come last.
            let part =
                numbering.partition.iter().map(|value| of(value).map(|value| (value == Value::Null, value)));
            let part = part.collect::<Result<Vec<_>, _>>()?;
            let keys = numbering.order.iter().map(|key| of(&key.value)).collect::<Result<Vec<_>, _>>()?;
            sorting.push((part, keys, met));
        }
        sorting.sort_by(|(a, x, _), (b, y, _)| a.cmp(b).then_with(|| by_keys(&numbering.order, x, y)));
        let mut from = 0;
        for at in 0..sorting.len() {
            let begins = sorting[from].0 != sorting[at].0;
            from = if begins { at } else { from };
            let part = &sorting[from].0;
            let number = match numbering.counts {
                true => sorting.iter().filter(|(other, ..)| other == part).count(),
                false => at - from + 1,
            };
            sorting[at].2.row.push(Value::Int(i64::try_from(number).unwrap_or(i64::MAX)));
        }
        all.extend(sorting.into_iter().map(|(_, _, met)| met));
        Ok(())
    }

    /// A row for each element of the longest array, behind the columns of a row; a shorter array has nulls at its end. Without arrays the
    /// row alone.
    fn spread(&mut self, sets: &[Typed], row: &[Value], outer: &[Value]) -> Result<Vec<Vec<Value>>, Stop> {
        if sets.is_empty() {
            return Ok(vec![row.to_vec()]);
        }
        let mut arrays = Vec::new();
        for set in sets {
            arrays.push(match self.eval(&mut Calls::default(), set, Rows { outer, ..Rows::of(row) })? {
                Value::Array(values) => values,
                _ => Vec::new(),
            });
        }
        let len = arrays.iter().map(Vec::len).max().unwrap_or(0);
        let element = |array: &Vec<Value>, at: usize| array.get(at).cloned().unwrap_or(Value::Null);
        let behind = |at: usize| arrays.iter().map(move |array| element(array, at));
        Ok((0..len).map(|at| row.iter().cloned().chain(behind(at)).collect()).collect())
    }

    fn rows_of(&mut self, source: &Source, outer: &[Value]) -> Result<Vec<(Side, Vec<Value>)>, Stop> {
        let made = match &source.origin {
            Origin::Table => {
                let tids = scan(self, &source.schema, None)?;
                let row = |tid| {
                    Some((Side::Version(tid), self.scene.heap.row(&place(&source.schema, tid))?.to_vec()))
                };
                return Ok(tids.into_iter().filter_map(row).collect());
            }
            Origin::Part(at) => self.part(*at)?,
            Origin::Catalogue(system) => super::system::rows(self.scene, *system),
            Origin::Queries(queries) => {
                let mut all = Vec::new();
                for (keeps, at) in queries {
                    all.extend(self.subquery(*at, Rows::of(outer))?);
                    if !keeps {
                        let mut seen = BTreeSet::new();
                        all.retain(|row| seen.insert(row.clone()));
                    }
                }
                all
            }
            Origin::Unnest(array) => match self.eval(&mut Calls::default(), array, Rows::default())? {
                Value::Array(values) => values.into_iter().map(|value| vec![value]).collect(),
                _ => Vec::new(),
            },
        };
        Ok(made.into_iter().map(|row| (Side::Made, row)).collect())
    }

    /// The versions of a table that a change is about, each with the rows of other tables that it meets. They come in the order of the
    /// others where these name a row by a key, as PostgreSQL then looks the rows up; else in that of the table.
    pub(super) fn pairs(
        &mut self,
        schema: &Arc<Schema>,
        from: &[Source],
        filter: Option<&Typed>,
    ) -> Result<VecDeque<(Tid, Row)>, Stop> {
        let tids = scan(self, schema, filter)?;
        if tids.is_empty() && names_one(schema, filter) {
            // PostgreSQL looks this row up first, and nobody needs the others then.
            return Ok(VecDeque::new());
        }
        let others = self.joined(from, &[], &[])?;
        let width = schema.columns.len();
        let is_named = |column: &usize| filter.is_some_and(|filter| is_named(filter, *column, width));
        let named = schema.keys.iter().any(|key| key.is_plain() && key.columns.iter().all(is_named));
        let mut pairs = VecDeque::new();
        let others: Vec<Row> = others.into_iter().map(|met| Row::from(met.row)).collect();
        let all: Vec<(Tid, &Row)> = match named {
            true => others.iter().flat_map(|other| tids.iter().map(move |tid| (*tid, other))).collect(),
            false => tids.iter().flat_map(|tid| others.iter().map(move |other| (*tid, other))).collect(),
        };
        for (tid, other) in all {
            let Some(row) = self.scene.heap.row(&place(schema, tid)) else { continue };
            let both = [&row[..], &other[..]].concat();
            if self.fits(&mut Calls::default(), filter, Rows::of(&both))? {
                pairs.push_back((tid, Arc::clone(other)));
            }
        }
        Ok(pairs)
    }
}

/// True if a filter wants a column to be what other tables say.
fn is_named(filter: &Typed, column: usize, width: usize) -> bool {
    match filter {
        Typed::And(left, right) => is_named(left, column, width) || is_named(right, column, width),
        Typed::Binary { operator: Operator::Equal, left, right, .. } => {
            let own = |side: &Typed| *side == Typed::Column(column);
            let other = |side: &Typed| !(0..width).any(|at| side.reads(at));
            own(left) && other(right) || own(right) && other(left)
        }
        _ => false,
    }
}
