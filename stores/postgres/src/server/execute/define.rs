//! CREATE.

use std::sync::Arc;

use super::scene::{Effect, Scene, Stop};
use crate::protocol::{Enumeration, SqlError, Type, Value};
use crate::server::data::{Key, Routine, Schema, Sequence, Snapshot};
use crate::server::locks::Wait;
use crate::server::sql;

/// Says that something is there already; an error unless the statement allows for it.
fn exists(scene: &mut Scene<'_>, name: &str, if_not_exists: bool) -> Result<(), SqlError> {
    let text = format!("relation \"{name}\" already exists");
    if !if_not_exists {
        return Err(SqlError::new("42P07", text));
    }
    scene.notices.push(SqlError::notice("42P07", format!("{text}, skipping")));
    Ok(())
}

/// Creates a table. Who finds that another transaction is creating it waits for the end of that; `waited` says so afterwards.
pub(super) fn create(
    scene: &mut Scene<'_>,
    schema: &Arc<Schema>,
    if_not_exists: bool,
    sequences: &[String],
    waited: bool,
) -> Result<String, Stop> {
    let name = &schema.name;
    let creator = scene.heap.catalogue.table(name).and_then(|table| table.creator);
    if scene.heap.catalogue.schema(scene.actor.top, name).is_some() {
        if waited {
            // It was not there when the statement began: the index of the types' names finds it.
            let text = "duplicate key value violates unique constraint \"pg_type_typname_nsp_index\"";
            let detail = format!("Key (typname, typnamespace)=({name}, 2200) already exists.");
            return Err(SqlError::new("23505", text).with_detail(detail).into());
        }
        exists(scene, name, if_not_exists)?;
    } else if let Some((_, part)) = creator {
        return Err(Stop::Wait(Wait::End(part)));
    } else {
        for sequence in sequences {
            if scene.sequences.get(sequence).is_some() {
                return Err(SqlError::unsupported("a second sequence of this name").into());
            }
            define(scene, sequence, Sequence::new(1, 1, None));
        }
        scene.heap.create(Some(scene.actor), Arc::clone(schema));
    }
    Ok("CREATE TABLE".to_owned())
}

/// Creates a sequence, which is there at once for everybody.
fn define(scene: &mut Scene<'_>, name: &str, sequence: Sequence) {
    scene.effects.push(Effect::Sequence(name.to_owned(), sequence.clone()));
    scene.sequences.create(name.to_owned(), sequence);
}

/// Creates a domain, which is there at once for everybody.
pub(super) fn create_domain(scene: &mut Scene<'_>, name: &str, ty: Type) -> Result<String, Stop> {
    new_type(scene, name)?;
    define_type(scene, name, ty);
    Ok("CREATE DOMAIN".to_owned())
}

/// Creates an enum, which is there at once for everybody.
pub(super) fn create_enum(scene: &mut Scene<'_>, name: &str, labels: &[String]) -> Result<String, Stop> {
    new_type(scene, name)?;
    if let Some((_, label)) = labels.iter().enumerate().find(|(at, label)| labels[..*at].contains(label)) {
        let text = "duplicate key value violates unique constraint \"pg_enum_typid_label_index\"";
        let oid = scene.heap.catalogue.next_oid();
        let detail = format!("Key (enumtypid, enumlabel)=({oid}, {label}) already exists.");
        return Err(SqlError::new("23505", text).with_detail(detail).into());
    }
    if let Some(label) = labels.iter().find(|label| label.is_empty() || label.len() > 63) {
        return Err(SqlError::new("42602", format!("invalid enum label \"{label}\"")).into());
    }
    let oid = scene.heap.catalogue.next_oid();
    let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
    define_type(scene, name, Type::Enum(Enumeration::of(oid, name, &labels)));
    Ok("CREATE TYPE".to_owned())
}

fn new_type(scene: &Scene<'_>, name: &str) -> Result<(), SqlError> {
    match scene.heap.catalogue.ty(name) {
        Some(_) => Err(SqlError::new("42710", format!("type \"{name}\" already exists"))),
        None => Ok(()),
    }
}

fn define_type(scene: &mut Scene<'_>, name: &str, ty: Type) {
    scene.heap.catalogue.define(name.to_owned(), ty);
    scene.effects.push(Effect::Type(name.to_owned(), ty));
}

/// Creates a function, which is there at once for everybody.
pub(super) fn create_routine(
    scene: &mut Scene<'_>,
    routine: &Arc<Routine>,
    replaces: bool,
) -> Result<String, Stop> {
    if let Some(known) = scene.heap.catalogue.routine(&routine.name) {
        let types = |routine: &Routine| routine.params.iter().map(|(_, ty)| *ty).collect::<Vec<_>>();
        if types(known) != types(routine) {
            return Err(SqlError::unsupported("a second function of this name").into());
        }
        if !replaces {
            let text = format!("function \"{}\" already exists with same argument types", routine.name);
            return Err(SqlError::new("42723", text).into());
        }
    }
    scene.heap.catalogue.add_routine(Arc::clone(routine));
    scene.effects.push(Effect::Routine(Arc::clone(routine)));
    Ok("CREATE FUNCTION".to_owned())
}

pub(super) fn create_sequence(
    scene: &mut Scene<'_>,
    sequence: &sql::Sequence,
    if_not_exists: bool,
) -> Result<String, Stop> {
    let sql::Sequence { name, start, increment, cycles } = sequence;
    if scene.sequences.get(name).is_some() {
        exists(scene, name, if_not_exists)?;
    } else {
        define(scene, name, Sequence::new(*start, *increment, None).cycling(*cycles));
    }
    Ok("CREATE SEQUENCE".to_owned())
}

pub(super) fn create_index(
    scene: &mut Scene<'_>,
    schema: &Arc<Schema>,
    key: Option<&Key>,
    if_not_exists: bool,
) -> Result<String, Stop> {
    // One that is not unique changes nothing but the time that a statement takes.
    let Some(key) = key else { return Ok("CREATE INDEX".to_owned()) };
    let name = &schema.name;
    let top = scene.actor.top;
    let creator = scene.heap.catalogue.table(name).map(|table| table.creator);
    let is_own = creator.flatten().is_some_and(|(creator, _)| creator == top);
    if creator.is_none_or(|creator| creator.is_some() && !is_own)
        || !is_own && !scene.heap.is_quiet(top, name)
    {
        return Err(SqlError::unsupported("an index of a table that transactions are changing").into());
    }
    if schema.keys.iter().any(|other| other.name == key.name) {
        exists(scene, &key.name, if_not_exists)?;
        return Ok("CREATE INDEX".to_owned());
    }
    let snapshot = Snapshot { commits: scene.heap.commits(), ..scene.snapshot };
    let rows = scene.heap.scan(name, &snapshot, None);
    let rows = rows.into_iter().filter_map(|tid| scene.heap.row(&super::scan::place(schema, tid)));
    let mut all: Vec<Vec<Value>> = rows.filter_map(|row| key.of(&row)).collect();
    all.sort();
    if let Some(pair) = all.windows(2).find(|pair| pair[0] == pair[1]) {
        let values: Vec<String> = pair[0].iter().filter_map(Value::text).collect();
        let text = format!("could not create unique index \"{}\"", key.name);
        let detail = format!("Key ({})=({}) is duplicated.", key.shown(schema), values.join(", "));
        return Err(SqlError::new("23505", text).with_detail(detail).into());
    }
    scene.heap.add_key(name, key.clone());
    // The log has a new table with its keys when its transaction is committed.
    if let Some(table) = scene.heap.catalogue.table(name).filter(|_| !is_own) {
        scene.effects.push(Effect::Keyed(Arc::clone(&table.schema)));
    }
    Ok("CREATE INDEX".to_owned())
}
