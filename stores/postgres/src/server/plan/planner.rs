//! The state of planning: tables that are found, parameters whose types are found, subqueries.

use std::sync::Arc;

use super::system::{System, is_of_catalogue};
use super::typed::{Aggregated, Numbering, Origin, Query, Typed};
use crate::protocol::{Element, SqlError, Type};
use crate::server::data::{Routine, Schema};
use crate::server::deep::{DEPTH_MAX, too_deep};
use crate::server::sql::TypeName;

/// The name of a sequence in a text: in small letters, unless it stands in double quotes.
pub(crate) fn folded_name(text: &str) -> String {
    let bare = text.strip_prefix("public.").unwrap_or(text);
    match bare.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        Some(quoted) => quoted.to_owned(),
        None => bare.to_lowercase(),
    }
}

/// The tables that a transaction sees, and the names of sequences.
#[derive(Clone, Copy)]
pub(crate) struct Known<'a> {
    pub(crate) table: &'a dyn Fn(&str) -> Option<Arc<Schema>>,
    pub(crate) sequence: &'a dyn Fn(&str) -> bool,
    /// The domain or enum of a name.
    pub(crate) ty: &'a dyn Fn(&str) -> Option<Type>,
    pub(crate) routine: &'a dyn Fn(&str) -> Option<Arc<Routine>>,
}

impl Known<'_> {
    /// The type of this name.
    pub(super) fn ty(&self, name: &TypeName) -> Result<Type, SqlError> {
        let refused = |name: &str| SqlError::unsupported(format!("type \"{name}\""));
        match name {
            TypeName::Known(ty) => Ok(*ty),
            TypeName::Named(name) => (self.ty)(name).ok_or_else(|| refused(name)),
            TypeName::ArrayOf(name) => {
                let element = (self.ty)(name).and_then(Element::of);
                element.map(Type::Array).ok_or_else(|| refused(&format!("{name}[]")))
            }
        }
    }
}

/// The state while a statement is planned.
pub(super) struct Planner<'a> {
    pub(super) known: Known<'a>,
    pub(super) params: Vec<Option<Type>>,
    pub(super) subqueries: Vec<Query>,
    /// The statements of WITH so far: their names, their columns, and true for those that lock rows.
    pub(super) parts: Vec<(String, Arc<Schema>, bool)>,
    /// The aggregates of the SELECT that is planned, where it has some.
    pub(super) aggregates: Option<Vec<Aggregated>>,
    /// The arrays whose elements are rows of the SELECT that is planned, where it may have some.
    pub(super) sets: Option<Vec<Typed>>,
    /// Where the statement is planned, if it may have none there.
    pub(super) place: &'static str,
    /// What the rows of that SELECT are numbered by.
    pub(super) numbers: Option<Vec<Numbering>>,
    /// How many columns come before those of these elements.
    pub(super) width: usize,
    /// How deep the calls of functions in SQL lie in each other.
    pub(super) depth: u32,
    /// The number of expressions and SELECTs that are being planned, the bodies of functions in SQL among them.
    level: u16,
    /// The number of expressions and SELECTs so far.
    steps: u32,
}

/// The maximum number of steps of a planner. A part whose type depends on its place is planned twice, so nested ones multiply.
const STEPS_MAX: u32 = 1_000_000;

impl<'a> Planner<'a> {
    pub(super) fn new(known: Known<'a>, params: &[Option<Type>]) -> Planner<'a> {
        let (subqueries, parts) = (Vec::new(), Vec::new());
        Planner {
            known,
            params: params.to_vec(),
            subqueries,
            parts,
            aggregates: None,
            sets: None,
            numbers: None,
            place: "",
            width: 0,
            depth: 0,
            level: 0,
            steps: 0,
        }
    }

    /// Plans what may contain itself: every recursion of the planner goes through here.
    ///
    /// # Errors
    /// 54001 if it is nested too deeply, or takes too many steps.
    pub(super) fn deeper<T>(
        &mut self,
        plan: impl FnOnce(&mut Self) -> Result<T, SqlError>,
    ) -> Result<T, SqlError> {
        if self.level == DEPTH_MAX || self.steps == STEPS_MAX {
            return Err(too_deep());
        }
        self.level += 1;
        self.steps += 1;
        let planned = plan(self);
        self.level -= 1;
        planned
    }

    pub(super) fn table(&self, name: &str) -> Result<Arc<Schema>, SqlError> {
        let missing = || SqlError::new("42P01", format!("relation \"{name}\" does not exist"));
        (self.known.table)(name).ok_or_else(missing)
    }

    /// The table, statement of WITH or table of the catalogue of this name.
    pub(super) fn source(&self, name: &str) -> Result<(Origin, Arc<Schema>), SqlError> {
        if let Some(at) = self.parts.iter().position(|(known, ..)| known == name) {
            let schema = &self.parts[at].1;
            if schema.columns.is_empty() {
                let text = format!("WITH query \"{name}\" does not have a RETURNING clause");
                return Err(SqlError::new("0A000", text));
            }
            return Ok((Origin::Part(at), Arc::clone(schema)));
        }
        match (self.table(name), System::named(name)) {
            (Ok(schema), _) => Ok((Origin::Table, schema)),
            (_, Some((system, schema))) => Ok((Origin::Catalogue(system), schema)),
            _ if is_of_catalogue(name) => {
                Err(SqlError::unsupported(format!("the table {name} of the catalogue")))
            }
            (Err(error), None) => Err(error),
        }
    }

    /// The name of a relation in a text, if there is one of it.
    pub(super) fn relation(&self, text: &str) -> Option<String> {
        let name = folded_name(text);
        let known = (self.known.table)(&name).is_some() || (self.known.sequence)(&name);
        known.then_some(name)
    }

    /// Refuses the name of a sequence that is not there.
    pub(super) fn sequence(&self, name: &str) -> Result<(), SqlError> {
        let name = &folded_name(name);
        let missing = || SqlError::new("42P01", format!("relation \"{name}\" does not exist"));
        (self.known.sequence)(name).then_some(()).ok_or_else(missing)
    }
}
