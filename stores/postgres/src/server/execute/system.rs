//! The rows of the tables of the catalogue.
//!
//! Of the types that somebody has created the enums are among them. Background processes are not among the sessions.

use super::scene::Scene;
use crate::protocol::{Element, SqlError, Type, Value};
use crate::server::plan::System;

/// The number of the schema `pg_catalog`, and that of `public`.
const SCHEMAS: [(i64, &str); 2] = [(11, "pg_catalog"), (2200, "public")];

/// The types by their names in the catalogue.
const TYPES: [(&str, Type); 14] = [
    ("bool", Type::Bool),
    ("bytea", Type::Bytea),
    ("name", Type::Name),
    ("int8", Type::Int8),
    ("int2", Type::Int2),
    ("int4", Type::Int4),
    ("text", Type::Text),
    ("oid", Type::Oid),
    ("varchar", Type::Varchar(None)),
    ("timestamp", Type::Timestamp),
    ("timestamptz", Type::Timestamptz),
    ("interval", Type::Interval),
    ("uuid", Type::Uuid),
    ("float8", Type::Float8),
];

/// Names of types that PostgreSQL has and that are not known here.
const UNKNOWN: [&str; 11] =
    ["numeric", "decimal", "real", "float4", "date", "time", "timetz", "bit", "char", "json", "jsonb"];

/// The OID of the type of a name; null if there is none.
pub(super) fn type_of(name: &str) -> Result<Value, SqlError> {
    if UNKNOWN.contains(&name) {
        return Err(SqlError::unsupported(format!("type \"{name}\"")));
    }
    let found = TYPES.iter().find(|(known, ty)| *known == name || ty.name() == name);
    Ok(found.map_or(Value::Null, |(_, ty)| Value::Int(i64::from(ty.oid()))))
}

/// The name of the type of an OID.
pub(super) fn type_name(oid: i64) -> Value {
    let found = TYPES.iter().find(|(_, ty)| i64::from(ty.oid()) == oid);
    Value::Text(found.map_or_else(|| oid.to_string(), |(_, ty)| ty.name().to_owned()))
}

pub(super) fn rows(scene: &Scene<'_>, system: System) -> Vec<Vec<Value>> {
    let name = |name: &str| Value::Text(name.to_owned());
    let oid = |ty: Type| Value::Int(i64::from(ty.oid()));
    match system {
        System::Activity => scene.pids.keys().map(|pid| vec![Value::Int(i64::from(*pid))]).collect(),
        System::Types => {
            let row = |(known, ty): &(&str, Type)| {
                let array = Element::of(*ty).map_or(Value::Int(0), |element| oid(Type::Array(element)));
                vec![oid(*ty), name(known), Value::Int(SCHEMAS[0].0), array, name(",")]
            };
            let own = |(known, ty): (&String, &Type)| {
                let Type::Enum(made) = ty else { return None };
                let array = Value::Int(i64::from(made.oid) + 1);
                Some(vec![oid(*ty), name(known), Value::Int(SCHEMAS[1].0), array, name(",")])
            };
            TYPES.iter().map(row).chain(scene.heap.catalogue.types().filter_map(own)).collect()
        }
        System::Namespaces => {
            SCHEMAS.iter().map(|(number, known)| vec![Value::Int(*number), name(known)]).collect()
        }
        System::Tables => {
            let tables = scene.heap.catalogue.seen(scene.actor.top);
            tables.map(|schema| vec![name("public"), name(&schema.name)]).collect()
        }
    }
}
