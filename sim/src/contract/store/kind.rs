//! Kinds of stores by name: what can be asked of one before there is a design on it.

use super::server::Store;
use super::spec::StoreSpec;
use crate::contract::param::Param;

/// A kind of store, as the list of all kinds has it.
#[derive(Clone, Copy, Debug)]
pub struct StoreKind {
    /// Its name.
    pub name: &'static str,
    /// Its parameters that a scenario may set.
    pub params: &'static [Param],
    /// Its simulated stores, each on its own. If clients ask nobody for another server, they have no replicas.
    pub stores: Option<fn(alone: bool) -> Store>,
    /// One store of so many members that agree among themselves on who leads, or of so many groups of them.
    pub ensemble: Option<fn(members: u32) -> Store>,
    /// Its real server.
    pub real: Option<Installed>,
}

/// The real server on this machine, as far as it is installed.
#[derive(Clone, Copy, Debug)]
pub struct Installed {
    /// The program that has to be installed.
    pub program: &'static str,
    /// Name and version of what is installed.
    pub version: fn() -> Option<String>,
}

/// A kind of store that a scenario may speak of: its name and its parameters.
#[derive(Clone, Copy, Debug)]
pub struct StoreParams {
    /// The kind's name.
    pub kind: &'static str,
    /// Its parameters.
    pub params: &'static [Param],
}

impl StoreParams {
    /// The parameters of a kind.
    #[must_use]
    pub fn of(spec: &dyn StoreSpec) -> StoreParams {
        StoreParams { kind: spec.name(), params: spec.params() }
    }
}
