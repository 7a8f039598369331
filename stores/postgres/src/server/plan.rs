//! The meaning of a statement in a database: names looked up, types found, literals read.
//!
//! Source: "Type Conversion", PostgreSQL 15 documentation, as far as these types need it: a quoted literal and a
//! parameter without a type take the type of what they meet; integers widen; a value is converted to its column's type.

use std::sync::Arc;

use crate::protocol::{SqlError, Type, Value};
use crate::server::data::{self, Schema};
use crate::server::sql::{Column, Comparison, Conflict, Expr, Function, Item, Operator, Patience, Statement};

/// The names and types of the columns of a result.
pub(crate) type Columns = Vec<(String, Type)>;

/// A statement that is ready to be executed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(crate) kind: Kind,
    /// The columns of its result; none for a statement without rows.
    pub(crate) columns: Option<Columns>,
    /// The types of its parameters.
    pub(crate) params: Vec<Type>,
}

impl Plan {
    /// True for what looks at no table.
    pub(crate) fn is_constant(&self) -> bool {
        matches!(self.kind, Kind::Select { from: None, .. } | Kind::Control(_))
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A statement about the session or its transaction.
    Control(Statement),
    CreateTable {
        schema: Arc<Schema>,
        if_not_exists: bool,
    },
    /// Rows with a value for each column.
    Insert {
        schema: Arc<Schema>,
        rows: Vec<Vec<Typed>>,
        skips: bool,
    },
    Select {
        items: Vec<Typed>,
        from: Option<From>,
    },
    Update {
        schema: Arc<Schema>,
        sets: Vec<(usize, Typed)>,
        filter: Filter,
    },
    Delete {
        schema: Arc<Schema>,
        filter: Filter,
    },
}

/// Where the rows of a SELECT come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct From {
    pub(crate) schema: Arc<Schema>,
    pub(crate) filter: Filter,
    pub(crate) lock: Option<Patience>,
}

/// All of these must hold.
pub(crate) type Filter = Vec<(usize, Operator, Typed)>;

/// An expression with its columns by index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Typed {
    Const(Value),
    /// From 0.
    Param(usize),
    Column(usize),
    Call(Function),
    Sum {
        left: Box<Typed>,
        minus: bool,
        right: Box<Typed>,
        ty: Type,
    },
    Convert(Box<Typed>, Type),
}

impl Typed {
    /// True if its value comes from this column, perhaps among others.
    pub(crate) fn reads(&self, column: usize) -> bool {
        self.reads_one(&|at| at == column)
    }

    /// True if its value comes from the row that it is computed for.
    pub(crate) fn reads_any(&self) -> bool {
        self.reads_one(&|_| true)
    }

    fn reads_one(&self, is: &dyn Fn(usize) -> bool) -> bool {
        match self {
            Typed::Column(at) => is(*at),
            Typed::Sum { left, right, .. } => left.reads_one(is) || right.reads_one(is),
            Typed::Convert(inner, _) => inner.reads_one(is),
            Typed::Const(_) | Typed::Param(_) | Typed::Call(_) => false,
        }
    }
}

/// The most parameters that a statement may have, as in PostgreSQL.
const PARAMS_MAX: usize = 65_535;

/// Finds out what a statement means, given the types of parameters as far as the client has said them.
pub(crate) fn plan<'d>(
    statement: &Statement,
    types: &[Option<Type>],
    table: impl Fn(&str) -> Option<&'d Arc<Schema>>,
) -> Result<Plan, SqlError> {
    let find = |name: &str| {
        let missing = || SqlError::new("42P01", format!("relation \"{name}\" does not exist"));
        table(name).cloned().ok_or_else(missing)
    };
    let mut planner = Planner { schema: None, params: types.to_vec() };
    let mut columns = None;
    let kind = match statement {
        Statement::Begin { .. } | Statement::Commit | Statement::Rollback | Statement::Set { .. } => {
            Kind::Control(statement.clone())
        }
        Statement::Show(name) => {
            columns = Some(vec![(shown_name(name), Type::Text)]);
            Kind::Control(statement.clone())
        }
        Statement::CreateTable { table, if_not_exists, columns } => {
            Kind::CreateTable { schema: Arc::new(new_schema(table, columns)?), if_not_exists: *if_not_exists }
        }
        Statement::Insert { table, columns, rows, conflict } => {
            let schema = find(table)?;
            let rows = planner.rows(&schema, columns, rows)?;
            Kind::Insert { skips: skips(&schema, conflict)?, rows, schema }
        }
        Statement::Select { items, table, filter, lock } => {
            let schema = table.as_deref().map(find).transpose()?;
            planner.schema.clone_from(&schema);
            let (items, named) = planner.items(items)?;
            columns = Some(named);
            let filter = planner.filter(filter)?;
            let from = schema.map(|schema| From { schema, filter, lock: *lock });
            Kind::Select { items, from }
        }
        Statement::Update { table, sets, filter } => {
            let schema = find(table)?;
            planner.schema = Some(Arc::clone(&schema));
            let sets = planner.sets(&schema, sets)?;
            Kind::Update { filter: planner.filter(filter)?, sets, schema }
        }
        Statement::Delete { table, filter } => {
            let schema = find(table)?;
            planner.schema = Some(Arc::clone(&schema));
            Kind::Delete { filter: planner.filter(filter)?, schema }
        }
    };
    // What nothing says the type of is text.
    let params = planner.params.into_iter().map(|ty| ty.unwrap_or(Type::Text)).collect();
    Ok(Plan { kind, columns, params })
}

/// The name of the column in which SHOW shows a parameter.
fn shown_name(name: &str) -> String {
    match name {
        "timezone" => "TimeZone".to_owned(),
        _ => name.to_owned(),
    }
}

fn new_schema(table: &str, columns: &[Column]) -> Result<Schema, SqlError> {
    for (at, column) in columns.iter().enumerate() {
        if columns[..at].iter().any(|earlier| earlier.name == column.name) {
            let text = format!("column \"{}\" specified more than once", column.name);
            return Err(SqlError::new("42701", text));
        }
    }
    let keys = columns.iter().filter(|column| column.primary).count();
    if keys > 1 {
        let text = format!("multiple primary keys for table \"{table}\" are not allowed");
        return Err(SqlError::new("42P16", text));
    }
    let key = columns.iter().position(|column| column.primary);
    let key = key.ok_or_else(|| SqlError::unsupported("a table without a primary key"))?;
    let columns = columns.iter().map(new_column).collect::<Result<_, _>>()?;
    Ok(Schema { name: table.into(), columns, key })
}

fn new_column(column: &Column) -> Result<data::Column, SqlError> {
    let mut planner = Planner { schema: None, params: Vec::new() };
    let default = match &column.default {
        None => Value::Null,
        Some(expr) => match planner.assigned(expr, &column.name, column.ty)? {
            Typed::Const(value) => value,
            Typed::Convert(inner, ty) => match *inner {
                Typed::Const(value) => convert(value, ty)?,
                _ => return Err(SqlError::unsupported("this default")),
            },
            _ => return Err(SqlError::unsupported("this default")),
        },
    };
    let not_null = column.not_null || column.primary;
    Ok(data::Column { name: column.name.clone(), ty: column.ty, not_null, default })
}

/// True if rows that are there are left alone.
fn skips(schema: &Schema, conflict: &Conflict) -> Result<bool, SqlError> {
    match conflict {
        Conflict::Fail => Ok(false),
        Conflict::Nothing(None) => Ok(true),
        Conflict::Nothing(Some(name)) => {
            if column_index(schema, name)? == schema.key {
                return Ok(true);
            }
            let text = "there is no unique or exclusion constraint matching the ON CONFLICT specification";
            Err(SqlError::new("42P10", text))
        }
    }
}

fn column_index(schema: &Schema, name: &str) -> Result<usize, SqlError> {
    let missing = || SqlError::new("42703", format!("column \"{name}\" does not exist"));
    schema.columns.iter().position(|column| column.name == name).ok_or_else(missing)
}

/// The same for the target of a change, where the message says of which table.
fn target_index(schema: &Schema, name: &str) -> Result<usize, SqlError> {
    let text = || format!("column \"{name}\" of relation \"{}\" does not exist", schema.name);
    column_index(schema, name).map_err(|error| SqlError { message: text(), ..error })
}

struct Planner {
    schema: Option<Arc<Schema>>,
    params: Vec<Option<Type>>,
}

impl Planner {
    fn rows(
        &mut self,
        schema: &Schema,
        names: &[String],
        rows: &[Vec<Expr>],
    ) -> Result<Vec<Vec<Typed>>, SqlError> {
        let mut targets = Vec::new();
        for name in names {
            let at = target_index(schema, name)?;
            if targets.contains(&at) {
                return Err(SqlError::new("42701", format!("column \"{name}\" specified more than once")));
            }
            targets.push(at);
        }
        if names.is_empty() {
            targets = (0..schema.columns.len()).collect();
        }
        if rows.iter().any(|row| row.len() != rows[0].len()) {
            return Err(SqlError::new("42601", "VALUES lists must all be the same length"));
        }
        let mut all = Vec::new();
        for row in rows {
            if row.len() > targets.len() {
                return Err(SqlError::new("42601", "INSERT has more expressions than target columns"));
            }
            if row.len() < targets.len() && !names.is_empty() {
                return Err(SqlError::new("42601", "INSERT has more target columns than expressions"));
            }
            let mut values: Vec<Typed> =
                schema.columns.iter().map(|column| Typed::Const(column.default.clone())).collect();
            for (expr, at) in row.iter().zip(&targets) {
                let column = &schema.columns[*at];
                values[*at] = self.assigned(expr, &column.name, column.ty)?;
            }
            all.push(values);
        }
        Ok(all)
    }

    fn items(&mut self, items: &[Item]) -> Result<(Vec<Typed>, Columns), SqlError> {
        let (mut values, mut columns) = (Vec::new(), Vec::new());
        for item in items {
            match (item, &self.schema) {
                (Item::All, None) => {
                    return Err(SqlError::new("42601", "SELECT * with no tables specified is not valid"));
                }
                (Item::All, Some(schema)) => {
                    for (at, column) in schema.columns.iter().enumerate() {
                        values.push(Typed::Column(at));
                        columns.push((column.name.clone(), column.ty));
                    }
                }
                (Item::One { value, name }, _) => {
                    let (typed, ty) = self.expr(value, None)?;
                    values.push(typed);
                    columns.push((name.clone().unwrap_or_else(|| name_of(value)), ty));
                }
            }
        }
        Ok((values, columns))
    }

    fn sets(&mut self, schema: &Schema, sets: &[(String, Expr)]) -> Result<Vec<(usize, Typed)>, SqlError> {
        let mut planned: Vec<(usize, Typed)> = Vec::new();
        for (name, expr) in sets {
            let at = target_index(schema, name)?;
            if at == schema.key {
                return Err(SqlError::unsupported("a change of a primary key"));
            }
            if planned.iter().any(|(earlier, _)| *earlier == at) {
                let text = format!("multiple assignments to same column \"{name}\"");
                return Err(SqlError::new("42601", text));
            }
            planned.push((at, self.assigned(expr, name, schema.columns[at].ty)?));
        }
        Ok(planned)
    }

    fn filter(&mut self, filter: &[Comparison]) -> Result<Filter, SqlError> {
        let Some(schema) = self.schema.clone() else { return Ok(Filter::new()) };
        let mut planned = Filter::new();
        for Comparison { column, operator, value } in filter {
            let at = column_index(&schema, column)?;
            let ty = schema.columns[at].ty;
            let (value, other) = self.expr(value, Some(ty))?;
            if !comparable(ty, other) {
                return Err(no_operator(operator.sign(), ty, other));
            }
            planned.push((at, *operator, value));
        }
        Ok(planned)
    }

    /// An expression as the value of a column.
    fn assigned(&mut self, expr: &Expr, column: &str, ty: Type) -> Result<Typed, SqlError> {
        let (value, found) = self.expr(expr, Some(ty))?;
        let fits = found == Type::Unknown || comparable(ty, found) || ty.is_text();
        if !fits {
            let (ty, found) = (ty.name(), found.name());
            let text = format!("column \"{column}\" is of type {ty} but expression is of type {found}");
            return Err(SqlError::new("42804", text));
        }
        let narrows = found != ty || matches!(ty, Type::Varchar(Some(_)));
        Ok(if narrows { Typed::Convert(Box::new(value), ty) } else { value })
    }

    /// An expression and its type; `wanted` is the type of what it meets.
    fn expr(&mut self, expr: &Expr, wanted: Option<Type>) -> Result<(Typed, Type), SqlError> {
        Ok(match expr {
            Expr::Null => (Typed::Const(Value::Null), wanted.unwrap_or(Type::Unknown)),
            Expr::Bool(value) => (Typed::Const(Value::Bool(*value)), Type::Bool),
            Expr::Int(value) => {
                let ty = if Type::Int4.holds(*value) { Type::Int4 } else { Type::Int8 };
                (Typed::Const(Value::Int(*value)), ty)
            }
            Expr::Quoted(text) => {
                let ty = wanted.unwrap_or(Type::Unknown);
                (Typed::Const(ty.read(text)?), ty)
            }
            Expr::Param(nth) => return self.param(*nth, wanted),
            Expr::Column(name) => {
                let missing = || SqlError::new("42703", format!("column \"{name}\" does not exist"));
                let schema = self.schema.as_ref().ok_or_else(missing)?;
                let at = column_index(schema, name)?;
                (Typed::Column(at), schema.columns[at].ty)
            }
            Expr::Call(function) => (Typed::Call(*function), function.ty()),
            Expr::Sum { left, minus, right } => return self.sum(left, *minus, right),
            Expr::Cast(inner, ty) => {
                let (value, found) = self.expr(inner, Some(*ty))?;
                if found == *ty {
                    (value, found)
                } else if comparable(*ty, found) || ty.is_text() || (found.is_text() && ty.is_integer()) {
                    (Typed::Convert(Box::new(value), *ty), *ty)
                } else {
                    let text = format!("cannot cast type {} to {}", found.name(), ty.name());
                    return Err(SqlError::new("42846", text));
                }
            }
        })
    }

    fn param(&mut self, nth: usize, wanted: Option<Type>) -> Result<(Typed, Type), SqlError> {
        if nth > PARAMS_MAX {
            return Err(SqlError::new("42P02", format!("there is no parameter ${nth}")));
        }
        if self.params.len() < nth {
            self.params.resize(nth, None);
        }
        let known = &mut self.params[nth - 1];
        let ty = known.or(wanted.map(|ty| if ty.is_text() { Type::Text } else { ty }));
        *known = ty;
        Ok((Typed::Param(nth - 1), ty.unwrap_or(Type::Unknown)))
    }

    fn sum(&mut self, left: &Expr, minus: bool, right: &Expr) -> Result<(Typed, Type), SqlError> {
        let sign = if minus { "-" } else { "+" };
        // A side whose type nothing says takes the other's.
        let open = matches!(left, Expr::Quoted(_) | Expr::Null | Expr::Param(_));
        let (left, right) = if open {
            let right = self.expr(right, None)?;
            (self.expr(left, Some(right.1))?, right)
        } else {
            let left = self.expr(left, None)?;
            let wanted = left.1;
            (left, self.expr(right, Some(wanted))?)
        };
        if !left.1.is_integer() || !right.1.is_integer() {
            return Err(no_operator(sign, left.1, right.1));
        }
        let wide = left.1 == Type::Int8 || right.1 == Type::Int8;
        let ty = if wide { Type::Int8 } else { Type::Int4 };
        Ok((Typed::Sum { left: Box::new(left.0), minus, right: Box::new(right.0), ty }, ty))
    }
}

/// The name of a column of a result that is not given one.
fn name_of(expr: &Expr) -> String {
    match expr {
        Expr::Column(name) => name.clone(),
        Expr::Call(function) => function.name().to_owned(),
        Expr::Bool(_) => "?column?".to_owned(),
        Expr::Cast(inner, ty) => match name_of(inner) {
            name if name == "?column?" => cast_name(*ty).to_owned(),
            name => name,
        },
        Expr::Null | Expr::Int(_) | Expr::Quoted(_) | Expr::Param(_) | Expr::Sum { .. } => {
            "?column?".to_owned()
        }
    }
}

/// The name that a cast gives to the column of its result.
fn cast_name(ty: Type) -> &'static str {
    match ty {
        Type::Bool => "bool",
        Type::Int4 => "int4",
        Type::Int8 => "int8",
        Type::Text | Type::Unknown => "text",
        Type::Varchar(_) => "varchar",
        Type::Timestamp => "timestamptz",
    }
}

fn comparable(a: Type, b: Type) -> bool {
    b == Type::Unknown || a == b || a.is_integer() && b.is_integer() || a.is_text() && b.is_text()
}

fn no_operator(sign: &str, left: Type, right: Type) -> SqlError {
    let text = format!("operator does not exist: {} {sign} {}", left.name(), right.name());
    SqlError::new("42883", text)
}

/// A value converted to a type that it can be converted to.
pub(crate) fn convert(value: Value, ty: Type) -> Result<Value, SqlError> {
    match (value, ty) {
        (Value::Null, _) => Ok(Value::Null),
        (Value::Int(value), Type::Int4 | Type::Int8) => in_range(Some(value), ty),
        (Value::Text(text), Type::Varchar(Some(max))) => {
            let len = text.trim_end_matches(' ').chars().count();
            let fits = len <= max as usize;
            let text = text.chars().take(max as usize).collect();
            let long = || SqlError::new("22001", format!("value too long for type character varying({max})"));
            fits.then_some(Value::Text(text)).ok_or_else(long)
        }
        (Value::Text(text), _) => ty.read(&text),
        (Value::Bool(value), Type::Text | Type::Varchar(_)) => Ok(Value::Text(value.to_string())),
        (value, Type::Text | Type::Varchar(_)) => convert(Value::Text(value.text().unwrap_or_default()), ty),
        (value, _) => Ok(value),
    }
}

/// An integer as a value of its type.
pub(crate) fn in_range(value: Option<i64>, ty: Type) -> Result<Value, SqlError> {
    let beyond = || SqlError::new("22003", format!("{} out of range", ty.name()));
    value.filter(|value| ty.holds(*value)).map(Value::Int).ok_or_else(beyond)
}
