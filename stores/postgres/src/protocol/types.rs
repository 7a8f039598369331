//! Types: their numbers, their names, their sizes, and which of them are of a kind.
//!
//! Source: PostgreSQL 15, `pg_type.dat`.

use super::enumeration::Enumeration;
use super::error::SqlError;

/// The type of a column, a parameter or an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    /// `boolean`.
    Bool,
    /// `smallint`.
    Int2,
    /// `integer`.
    Int4,
    /// `bigint`.
    Int8,
    /// `double precision`.
    Float8,
    /// `numeric`, as EXTRACT gives it: with six digits behind the point.
    Numeric,
    /// `text`.
    Text,
    /// `character varying`, perhaps with a length.
    Varchar(Option<u32>),
    /// `timestamp`, without a time zone.
    Timestamp,
    /// `timestamp with time zone`.
    Timestamptz,
    /// `interval`.
    Interval,
    /// `uuid`.
    Uuid,
    /// `bytea`.
    Bytea,
    /// `name`, of the catalogue.
    Name,
    /// `oid`, of the catalogue.
    Oid,
    /// `regtype`: the OID of a type, shown as its name.
    Regtype,
    /// `regclass`: a relation by its name.
    Regclass,
    /// A type of CREATE TYPE ... AS ENUM.
    Enum(&'static Enumeration),
    /// An array of one dimension.
    Array(Element),
    /// The result of a function that is called for its effect.
    Void,
    /// A quoted literal whose type nothing says; a result of it is text.
    Unknown,
}

/// The type of the elements of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Element {
    Bool,
    Bytea,
    Int2,
    Int4,
    Int8,
    Float8,
    Text,
    Varchar(Option<u32>),
    Timestamp,
    Timestamptz,
    Uuid,
    Enum(&'static Enumeration),
}

impl Type {
    /// The number of the type; an expression of unknown type comes out as text.
    #[must_use]
    pub(crate) fn oid(self) -> u32 {
        match self {
            Type::Bool => 16,
            Type::Bytea => 17,
            Type::Name => 19,
            Type::Oid => 26,
            Type::Float8 => 701,
            Type::Numeric => 1700,
            Type::Regclass => 2205,
            Type::Regtype => 2206,
            Type::Enum(enumeration) => enumeration.oid,
            Type::Array(element) => element.oid(),
            Type::Int8 => 20,
            Type::Int2 => 21,
            Type::Int4 => 23,
            Type::Text | Type::Unknown => 25,
            Type::Varchar(_) => 1043,
            Type::Timestamp => 1114,
            Type::Timestamptz => 1184,
            Type::Interval => 1186,
            Type::Void => 2278,
            Type::Uuid => 2950,
        }
    }

    /// The type of this number, as a client gives it for a parameter; none for "find out". Types that somebody has created are not among them.
    pub(crate) fn of_oid(oid: u32) -> Result<Option<Type>, SqlError> {
        Ok(Some(match oid {
            0 | 705 => return Ok(None),
            16 => Type::Bool,
            17 => Type::Bytea,
            19 => Type::Name,
            20 => Type::Int8,
            21 => Type::Int2,
            23 => Type::Int4,
            25 => Type::Text,
            26 => Type::Oid,
            701 => Type::Float8,
            1043 => Type::Varchar(None),
            1114 => Type::Timestamp,
            1184 => Type::Timestamptz,
            1186 => Type::Interval,
            2950 => Type::Uuid,
            _ => {
                let refused = || SqlError::unsupported(format!("the type with OID {oid}"));
                Type::Array(Element::of_oid(oid).ok_or_else(refused)?)
            }
        }))
    }

    /// The bytes that a value takes; -1 for any number.
    pub(crate) fn size(self) -> i16 {
        match self {
            Type::Bool => 1,
            Type::Int2 => 2,
            Type::Int4 => 4,
            Type::Int8 | Type::Float8 | Type::Timestamp | Type::Timestamptz => 8,
            Type::Interval | Type::Uuid => 16,
            Type::Void | Type::Oid | Type::Regtype | Type::Regclass | Type::Enum(_) => 4,
            Type::Name => 64,
            _ => -1,
        }
    }

    /// The type's modifier: the length of a `varchar(n)`, with its header; -1 for none.
    pub(crate) fn modifier(self) -> i32 {
        match self {
            Type::Varchar(Some(len)) | Type::Array(Element::Varchar(Some(len))) => {
                i32::try_from(len).unwrap_or(i32::MAX - 4) + 4
            }
            _ => -1,
        }
    }

    /// The type with this modifier.
    pub(crate) fn modified(self, modifier: i32) -> Type {
        let len = u32::try_from(modifier - 4).ok();
        match self {
            Type::Varchar(_) => Type::Varchar(len),
            Type::Array(Element::Varchar(_)) => Type::Array(Element::Varchar(len)),
            ty => ty,
        }
    }

    /// The type without a length, as a parameter or the result of a function has it.
    pub(crate) fn bare(self) -> Type {
        match self {
            Type::Varchar(_) => Type::Varchar(None),
            Type::Array(Element::Varchar(_)) => Type::Array(Element::Varchar(None)),
            ty => ty,
        }
    }

    /// The name as errors give it.
    #[must_use]
    pub(crate) fn name(self) -> &'static str {
        match self {
            Type::Bool => "boolean",
            Type::Int2 => "smallint",
            Type::Int4 => "integer",
            Type::Int8 => "bigint",
            Type::Float8 => "double precision",
            Type::Numeric => "numeric",
            Type::Text => "text",
            Type::Varchar(_) => "character varying",
            Type::Timestamp => "timestamp without time zone",
            Type::Timestamptz => "timestamp with time zone",
            Type::Interval => "interval",
            Type::Uuid => "uuid",
            Type::Bytea => "bytea",
            Type::Name => "name",
            Type::Oid => "oid",
            Type::Regtype => "regtype",
            Type::Regclass => "regclass",
            Type::Enum(enumeration) => &enumeration.name,
            Type::Array(element) => element.array_name(),
            Type::Void => "void",
            Type::Unknown => "unknown",
        }
    }

    /// The name in the catalogue, by which a cast names its column; an array has its element's there.
    pub(crate) fn short_name(self) -> &'static str {
        match self {
            Type::Bool => "bool",
            Type::Int2 => "int2",
            Type::Int4 => "int4",
            Type::Int8 => "int8",
            Type::Float8 => "float8",
            Type::Unknown => "text",
            Type::Varchar(_) => "varchar",
            Type::Timestamp => "timestamp",
            Type::Timestamptz => "timestamptz",
            Type::Array(element) => element.ty().short_name(),
            ty => ty.name(),
        }
    }

    pub(crate) fn is_integer(self) -> bool {
        matches!(self, Type::Int2 | Type::Int4 | Type::Int8)
    }

    pub(crate) fn is_number(self) -> bool {
        self.is_integer() || matches!(self, Type::Numeric | Type::Float8)
    }

    pub(crate) fn is_text(self) -> bool {
        matches!(self, Type::Text | Type::Varchar(_) | Type::Name)
    }

    /// True if an integer of this type can be `value`.
    pub(crate) fn holds(self, value: i64) -> bool {
        match self {
            Type::Int2 => i16::try_from(value).is_ok(),
            Type::Int4 => i32::try_from(value).is_ok(),
            _ => true,
        }
    }

    /// True if a number of this type becomes one of the other by itself.
    pub(crate) fn widens_to(self, other: Type) -> bool {
        let width = |ty| match ty {
            Type::Int2 => 1,
            Type::Int4 => 2,
            Type::Int8 => 3,
            Type::Numeric => 4,
            Type::Float8 => 5,
            _ => 0,
        };
        width(self) > 0 && width(self) < width(other)
    }
}

impl Element {
    /// The element of arrays of values of a type, if there are any.
    pub(crate) fn of(ty: Type) -> Option<Element> {
        Some(match ty {
            Type::Bool => Element::Bool,
            Type::Bytea => Element::Bytea,
            Type::Int2 => Element::Int2,
            Type::Int4 => Element::Int4,
            Type::Int8 => Element::Int8,
            Type::Float8 => Element::Float8,
            Type::Text => Element::Text,
            Type::Varchar(len) => Element::Varchar(len),
            Type::Timestamp => Element::Timestamp,
            Type::Timestamptz => Element::Timestamptz,
            Type::Uuid => Element::Uuid,
            Type::Enum(enumeration) => Element::Enum(enumeration),
            _ => return None,
        })
    }

    pub(crate) fn ty(self) -> Type {
        match self {
            Element::Bool => Type::Bool,
            Element::Bytea => Type::Bytea,
            Element::Int2 => Type::Int2,
            Element::Int4 => Type::Int4,
            Element::Int8 => Type::Int8,
            Element::Float8 => Type::Float8,
            Element::Text => Type::Text,
            Element::Varchar(len) => Type::Varchar(len),
            Element::Timestamp => Type::Timestamp,
            Element::Timestamptz => Type::Timestamptz,
            Element::Uuid => Type::Uuid,
            Element::Enum(enumeration) => Type::Enum(enumeration),
        }
    }

    /// The OID of the array type and the name of that.
    fn entry(self) -> (u32, &'static str) {
        match self {
            Element::Bool => (1000, "boolean[]"),
            Element::Bytea => (1001, "bytea[]"),
            Element::Int2 => (1005, "smallint[]"),
            Element::Int4 => (1007, "integer[]"),
            Element::Int8 => (1016, "bigint[]"),
            Element::Float8 => (1022, "double precision[]"),
            Element::Text => (1009, "text[]"),
            Element::Varchar(_) => (1015, "character varying[]"),
            Element::Timestamp => (1115, "timestamp without time zone[]"),
            Element::Timestamptz => (1185, "timestamp with time zone[]"),
            Element::Uuid => (2951, "uuid[]"),
            Element::Enum(enumeration) => (enumeration.oid + 1, &enumeration.array_name),
        }
    }

    /// The element of the array type with this OID.
    fn of_oid(oid: u32) -> Option<Element> {
        let all = [
            Element::Bool,
            Element::Bytea,
            Element::Int2,
            Element::Int4,
            Element::Int8,
            Element::Float8,
            Element::Text,
            Element::Varchar(None),
            Element::Timestamp,
            Element::Timestamptz,
            Element::Uuid,
        ];
        all.into_iter().find(|element| element.oid() == oid)
    }

    /// The OID of the array type.
    fn oid(self) -> u32 {
        self.entry().0
    }

    /// The name of the array type.
    fn array_name(self) -> &'static str {
        self.entry().1
    }
}
