//! The designs on PostgreSQL.

pub mod row_lock;
