//! The rights on nodes, as far as they are everybody's: nobody has a name here.
//!
//! *Source:* `ZooKeeperServer.checkACL` and `PrepRequestProcessor.fixupACL` of ZooKeeper 3.8.

use crate::messages::{Acl, error};

pub(crate) const READ: i32 = 1;
pub(crate) const WRITE: i32 = 2;
pub(crate) const CREATE: i32 = 4;
pub(crate) const DELETE: i32 = 8;
pub(crate) const ADMIN: i32 = 16;

/// Everybody may do everything.
pub(crate) fn open() -> Vec<Acl> {
    vec![Acl::open()]
}

/// Everybody may read.
pub(crate) fn readable() -> Vec<Acl> {
    vec![Acl { rights: READ, ..Acl::open() }]
}

/// True if it speaks of everybody.
fn is_anyone(acl: &Acl) -> bool {
    acl.scheme == "world" && acl.id == "anyone"
}

/// True if rights are asked for that are modelled: those of everybody.
pub(crate) fn are_modelled(acl: &[Acl]) -> bool {
    acl.iter().all(|acl| is_anyone(acl) || acl.scheme == "world" || acl.scheme == "auth")
}

/// The rights that are asked for, each once.
///
/// # Errors
/// Without any, and for those of somebody.
pub(crate) fn checked(acl: &[Acl]) -> Result<Vec<Acl>, i32> {
    let mut all: Vec<Acl> = Vec::new();
    for one in acl {
        if !is_anyone(one) {
            return Err(error::INVALID_ACL);
        }
        if !all.contains(one) {
            all.push(one.clone());
        }
    }
    if all.is_empty() { Err(error::INVALID_ACL) } else { Ok(all) }
}

/// Whether everybody has one of these rights.
///
/// # Errors
/// When nobody has.
pub(crate) fn check(acl: &[Acl], rights: i32) -> Result<(), i32> {
    let may = acl.is_empty() || acl.iter().any(|acl| is_anyone(acl) && acl.rights & rights != 0);
    if may { Ok(()) } else { Err(error::NO_AUTH) }
}
