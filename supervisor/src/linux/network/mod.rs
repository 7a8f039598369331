//! Sockets: connections that end at the supervisor, and what a program learns of its host.

pub(super) mod addresses;
pub(super) mod connections;
pub(super) mod datagrams;
pub(super) mod families;
pub(super) mod interfaces;
pub(super) mod netlink;
pub(super) mod options;
pub(super) mod sockets;
pub(super) mod unix;
