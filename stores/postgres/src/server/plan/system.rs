//! The tables of the catalogue that drivers and lock libraries ask.
//!
//! Each has the columns that they name, and no others. Source: "System Catalogs" and "The Information Schema", PostgreSQL 15
//! documentation.

use std::sync::Arc;

use crate::protocol::{Type, Value};
use crate::server::data::{Column, ColumnDefault, Schema};

/// A table of the catalogue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum System {
    /// `pg_stat_activity`: the sessions of clients.
    Activity,
    /// `pg_type`: the types that are known.
    Types,
    /// `pg_namespace`: the schemas.
    Namespaces,
    /// `information_schema.tables`: the tables of `public`.
    Tables,
}

const ALL: [(&str, System); 4] = [
    ("pg_stat_activity", System::Activity),
    ("pg_type", System::Types),
    ("pg_namespace", System::Namespaces),
    ("information_schema.tables", System::Tables),
];

/// True for a name that belongs to the catalogue of PostgreSQL.
pub(super) fn is_of_catalogue(name: &str) -> bool {
    ["pg_", "information_schema."].iter().any(|start| name.starts_with(start))
}

/// True for the columns of a table of the catalogue, which has more of them in PostgreSQL.
pub(super) fn is_catalogue(schema: &Schema) -> bool {
    let is_it = |(name, _): &(&str, System)| {
        System::named(name).is_some_and(|(_, known)| known.name == schema.name && *known == *schema)
    };
    schema.keys.is_empty() && ALL.iter().any(is_it)
}

impl System {
    /// The table of this name and its columns.
    pub(super) fn named(name: &str) -> Option<(System, Arc<Schema>)> {
        let (name, system) = ALL.iter().find(|(known, _)| *known == name)?;
        let columns: &[(&str, Type)] = match system {
            System::Activity => &[("pid", Type::Int4)],
            System::Types => &[
                ("oid", Type::Oid),
                ("typname", Type::Name),
                ("typnamespace", Type::Oid),
                ("typarray", Type::Oid),
                ("typdelim", Type::Text),
            ],
            System::Namespaces => &[("oid", Type::Oid), ("nspname", Type::Name)],
            System::Tables => &[("table_schema", Type::Name), ("table_name", Type::Name)],
        };
        let column = |(name, ty): &(&str, Type)| Column {
            name: (*name).to_owned(),
            ty: *ty,
            not_null: false,
            default: ColumnDefault::Value(Value::Null),
            always: false,
        };
        let columns = columns.iter().map(column).collect();
        // It is called by its last name.
        let name = name.rsplit('.').next().unwrap_or(name);
        Some((*system, Arc::new(Schema { name: name.into(), columns, ..Schema::default() })))
    }
}
