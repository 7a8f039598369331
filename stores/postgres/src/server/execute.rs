//! Executes a planned statement in a transaction, as far as it comes without waiting.
//!
//! READ COMMITTED: which rows it is about is what was committed when the statement began; a row that has to be locked is
//! looked at again once it is, as it is then, and left out if it does not fit any more.

use std::cmp::Ordering;
use std::sync::Arc;

use crate::protocol::{SqlError, Type, Value};
use crate::server::data::{Database, Found, Inserted, Locked, Row, RowRef, Schema, TxnId};
use crate::server::plan::{Filter, From, Kind, Plan, Typed, convert, in_range};
use crate::server::sql::{Function, Operator, Patience};

/// A statement under way.
#[derive(Clone, Debug)]
pub(crate) struct Work {
    pub(crate) plan: Arc<Plan>,
    pub(crate) params: Vec<Value>,
    /// The rows that it is about, from when it began on.
    found: Option<Vec<Found>>,
    /// How many of these, or of the rows to be inserted, are dealt with.
    done: usize,
    /// Its result so far.
    pub(crate) rows: Vec<Vec<Value>>,
    /// How many rows it has changed.
    count: u64,
}

/// How far a statement has come.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// To its end; the tag of its completion but for the number of rows of a result.
    Done(String),
    /// To a row that another transaction has.
    Busy { row: RowRef, inserts: bool },
}

/// The effect of a statement for others than its session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// It locked a row, which was its purpose.
    Locked(RowRef),
    /// It read a row, these columns of it.
    Read { schema: Arc<Schema>, row: Row, columns: Vec<usize> },
}

/// Where a statement is executed.
pub(crate) struct Scene<'a> {
    pub(crate) data: &'a mut Database,
    pub(crate) txn: TxnId,
    /// When the transaction began, and what time it is.
    pub(crate) began: i64,
    pub(crate) clock: i64,
    pub(crate) pid: i32,
    pub(crate) effects: &'a mut Vec<Effect>,
    /// The notices that the client gets besides.
    pub(crate) notices: &'a mut Vec<SqlError>,
}

impl Work {
    pub(crate) fn new(plan: Arc<Plan>, params: Vec<Value>) -> Work {
        Work { plan, params, found: None, done: 0, rows: Vec::new(), count: 0 }
    }

    /// Goes on until it is done or has to wait.
    pub(crate) fn proceed(&mut self, scene: &mut Scene<'_>) -> Result<Step, SqlError> {
        let plan = Arc::clone(&self.plan);
        match &plan.kind {
            // The session has done it.
            Kind::Control(_) => Ok(Step::Done(String::new())),
            Kind::CreateTable { schema, if_not_exists } => create(scene, schema, *if_not_exists),
            Kind::Insert { schema, rows, skips } => self.insert(scene, schema, rows, *skips),
            Kind::Select { items, from: None } => {
                let row = self.row(scene, items, &[])?;
                self.rows.push(row);
                Ok(Step::Done("SELECT".to_owned()))
            }
            Kind::Select { items, from: Some(from) } => self.select(scene, items, from),
            Kind::Update { schema, sets, filter } => {
                self.change(scene, schema, filter, "UPDATE", |work, scene, row| {
                    let mut values = row.to_vec();
                    for (at, value) in sets {
                        values[*at] = work.eval(scene, value, row)?;
                    }
                    check(schema, &values)?;
                    Ok(Some(values.into()))
                })
            }
            Kind::Delete { schema, filter } => {
                self.change(scene, schema, filter, "DELETE", |_, _, _| Ok(None))
            }
        }
    }

    fn insert(
        &mut self,
        scene: &mut Scene<'_>,
        schema: &Arc<Schema>,
        rows: &[Vec<Typed>],
        skips: bool,
    ) -> Result<Step, SqlError> {
        present(scene, schema)?;
        while let Some(row) = rows.get(self.done) {
            let values = self.row(scene, row, &[])?;
            check(schema, &values)?;
            let name = RowRef { table: Arc::clone(&schema.name), key: values[schema.key].clone() };
            match scene.data.insert(scene.txn, &name, &values.into()) {
                Inserted::Yes => self.count += 1,
                Inserted::Conflict if skips => {}
                Inserted::Conflict => return Err(duplicate(schema, &name)),
                Inserted::Busy => return Ok(Step::Busy { row: name, inserts: true }),
            }
            self.done += 1;
        }
        Ok(Step::Done(format!("INSERT 0 {}", self.count)))
    }

    fn select(&mut self, scene: &mut Scene<'_>, items: &[Typed], from: &From) -> Result<Step, SqlError> {
        let From { schema, filter, lock } = from;
        present(scene, schema)?;
        let found = self.found(scene, schema, filter)?;
        while let Some(one) = found.get(self.done) {
            if let Some(patience) = lock {
                match scene.data.lock(scene.txn, one, true) {
                    Locked::Yes { first: true } => scene.effects.push(Effect::Locked(one.row.clone())),
                    Locked::Yes { first: false } => {}
                    Locked::Gone => {
                        self.done += 1;
                        continue;
                    }
                    Locked::Busy => match patience {
                        Patience::Wait => {
                            self.found = Some(found.clone());
                            return Ok(Step::Busy { row: one.row.clone(), inserts: false });
                        }
                        Patience::NoWait => {
                            let text =
                                format!("could not obtain lock on row in relation \"{}\"", schema.name);
                            return Err(SqlError::new("55P03", text));
                        }
                        Patience::Skip => {
                            self.done += 1;
                            continue;
                        }
                    },
                }
            }
            self.done += 1;
            if let Some(row) = scene.data.seen(scene.txn, &one.row)
                && self.fits(scene, filter, &row)?
            {
                let result = self.row(scene, items, &row)?;
                self.rows.push(result);
                let columns = (0..row.len()).filter(|at| items.iter().any(|item| item.reads(*at)));
                let columns = columns.collect();
                scene.effects.push(Effect::Read { schema: Arc::clone(schema), row, columns });
            }
        }
        Ok(Step::Done("SELECT".to_owned()))
    }

    fn change(
        &mut self,
        scene: &mut Scene<'_>,
        schema: &Arc<Schema>,
        filter: &Filter,
        tag: &str,
        new: impl Fn(&Work, &Scene<'_>, &Row) -> Result<Option<Row>, SqlError>,
    ) -> Result<Step, SqlError> {
        present(scene, schema)?;
        let found = self.found(scene, schema, filter)?;
        while let Some(one) = found.get(self.done) {
            match scene.data.lock(scene.txn, one, false) {
                Locked::Busy => {
                    self.found = Some(found.clone());
                    return Ok(Step::Busy { row: one.row.clone(), inserts: false });
                }
                Locked::Gone => {}
                Locked::Yes { .. } => {
                    if let Some(row) = scene.data.seen(scene.txn, &one.row)
                        && self.fits(scene, filter, &row)?
                    {
                        let values = new(self, scene, &row)?;
                        scene.data.write(scene.txn, &one.row, values);
                        self.count += 1;
                    }
                }
            }
            self.done += 1;
        }
        Ok(Step::Done(format!("{tag} {}", self.count)))
    }

    /// The rows that the statement is about.
    fn found(
        &mut self,
        scene: &Scene<'_>,
        schema: &Arc<Schema>,
        filter: &Filter,
    ) -> Result<Vec<Found>, SqlError> {
        if let Some(found) = self.found.take() {
            return Ok(found);
        }
        let is_key = |(at, operator, value): &&(usize, Operator, Typed)| {
            // A key that is compared with another column has to be looked for.
            *at == schema.key && *operator == Operator::Equal && !value.reads_any()
        };
        let key = filter.iter().find(is_key).map(|(_, _, value)| self.eval(scene, value, &[])).transpose()?;
        let mut found = Vec::new();
        for (one, row) in scene.data.rows(scene.txn, &schema.name, key.as_ref()) {
            if self.fits(scene, filter, &row)? {
                found.push(one);
            }
        }
        Ok(found)
    }

    fn fits(&self, scene: &Scene<'_>, filter: &Filter, row: &[Value]) -> Result<bool, SqlError> {
        for (at, operator, value) in filter {
            let value = self.eval(scene, value, row)?;
            // Nothing compares with null.
            if row[*at] == Value::Null || value == Value::Null {
                return Ok(false);
            }
            let order = row[*at].cmp(&value);
            let holds = match operator {
                Operator::Equal => order == Ordering::Equal,
                Operator::Unequal => order != Ordering::Equal,
                Operator::Less => order == Ordering::Less,
                Operator::LessOrEqual => order != Ordering::Greater,
                Operator::Greater => order == Ordering::Greater,
                Operator::GreaterOrEqual => order != Ordering::Less,
            };
            if !holds {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn row(&self, scene: &Scene<'_>, items: &[Typed], row: &[Value]) -> Result<Vec<Value>, SqlError> {
        items.iter().map(|item| self.eval(scene, item, row)).collect()
    }

    fn eval(&self, scene: &Scene<'_>, expr: &Typed, row: &[Value]) -> Result<Value, SqlError> {
        Ok(match expr {
            Typed::Const(value) => value.clone(),
            Typed::Param(at) => self.params.get(*at).cloned().unwrap_or(Value::Null),
            Typed::Column(at) => row.get(*at).cloned().unwrap_or(Value::Null),
            Typed::Call(Function::Now) => Value::Time(scene.began),
            Typed::Call(Function::ClockTimestamp) => Value::Time(scene.clock),
            Typed::Call(Function::BackendPid) => Value::Int(i64::from(scene.pid)),
            Typed::Convert(inner, ty) => convert(self.eval(scene, inner, row)?, *ty)?,
            Typed::Sum { left, minus, right, ty } => {
                match (self.eval(scene, left, row)?, self.eval(scene, right, row)?) {
                    (Value::Int(left), Value::Int(right)) => sum(left, *minus, right, *ty)?,
                    _ => Value::Null,
                }
            }
        })
    }
}

fn sum(left: i64, minus: bool, right: i64, ty: Type) -> Result<Value, SqlError> {
    in_range(if minus { left.checked_sub(right) } else { left.checked_add(right) }, ty)
}

/// A statement may have been planned when a table was there whose creation was then rolled back.
fn present(scene: &Scene<'_>, schema: &Schema) -> Result<(), SqlError> {
    let missing = || SqlError::new("42P01", format!("relation \"{}\" does not exist", schema.name));
    scene.data.schema(scene.txn, &schema.name).map(drop).ok_or_else(missing)
}

fn create(scene: &mut Scene<'_>, schema: &Arc<Schema>, if_not_exists: bool) -> Result<Step, SqlError> {
    let name = &schema.name;
    if scene.data.schema(scene.txn, name).is_some() {
        let text = format!("relation \"{name}\" already exists");
        if !if_not_exists {
            return Err(SqlError::new("42P07", text));
        }
        scene.notices.push(SqlError::notice("42P07", format!("{text}, skipping")));
    } else if scene.data.is_being_created(name) {
        return Err(SqlError::unsupported("creating a table that another transaction is creating"));
    } else {
        scene.data.create(Some(scene.txn), Arc::clone(schema));
    }
    Ok(Step::Done("CREATE TABLE".to_owned()))
}

/// Refuses a null where there must be none.
fn check(schema: &Schema, values: &[Value]) -> Result<(), SqlError> {
    for (column, value) in schema.columns.iter().zip(values) {
        if column.not_null && *value == Value::Null {
            let (column, table) = (&column.name, &schema.name);
            let text = format!(
                "null value in column \"{column}\" of relation \"{table}\" violates not-null constraint"
            );
            let shown: Vec<String> =
                values.iter().map(|value| value.text().unwrap_or_else(|| "null".to_owned())).collect();
            let detail = format!("Failing row contains ({}).", shown.join(", "));
            return Err(SqlError::new("23502", text).with_detail(detail));
        }
    }
    Ok(())
}

fn duplicate(schema: &Schema, row: &RowRef) -> SqlError {
    let text = format!("duplicate key value violates unique constraint \"{}_pkey\"", schema.name);
    let (column, key) = (&schema.columns[schema.key].name, row.key.text().unwrap_or_default());
    SqlError::new("23505", text).with_detail(format!("Key ({column})=({key}) already exists."))
}
