//! The client side that designs share: connections over the streams of a host, what a client relies on and how it
//! retries, renewal.

pub(crate) mod attempts;
pub mod cluster;
pub mod connection;
pub(crate) mod consul;
pub(crate) mod etcd;
pub(crate) mod flag;
pub(crate) mod kubernetes;
pub(crate) mod policy;
pub(crate) mod pool;
pub(crate) mod renewal;
pub(crate) mod script;
pub mod session;
pub(crate) mod zookeeper;
