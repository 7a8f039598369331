//! A service that renews leases for clients, on a host of its own: where it stands, what it is asked, and what it does.

mod service;
mod store;
mod wire;

pub(super) use store::RenewedRedis;
pub(super) use wire::{Held, free, hold};

/// The host of the service.
pub(super) const HOST: &str = "renewer-1";

/// The port that it listens on.
pub(super) const PORT: u16 = 7420;
