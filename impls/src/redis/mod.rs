//! The designs on one Redis store, replicated or not: one file for each, and beside them what they share.

pub(crate) mod activity_renewal;
pub(crate) mod bulk;
pub(crate) mod by_channel;
pub(crate) mod cluster;
pub(crate) mod common;
pub(crate) mod counted;
pub(crate) mod fair;
pub(crate) mod get_del;
pub(crate) mod manual_renew;
pub(crate) mod permits;
pub(crate) mod read_write;
pub(crate) mod reentrant;
pub(crate) mod renewal_service;
mod renewer;
pub(crate) mod replicated;
pub(crate) mod replicated_wait;
pub(crate) mod segmented;
pub(crate) mod session;
pub(crate) mod set_px_del;
pub(crate) mod setnx;
pub(crate) mod setnx_expire;
pub(crate) mod single;
pub(crate) mod single_fenced;
pub(crate) mod synced;
pub(crate) mod timer_renew;
pub(crate) mod watchdog;
