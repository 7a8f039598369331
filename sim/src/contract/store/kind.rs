//! Kinds of stores by name: what can be asked of one before there is a design on it.

use super::form::Form;
use super::serving::Serving;
use super::spec::StoreSpec;
use crate::contract::param::Param;

/// A kind of store, as the list of all kinds has it.
#[derive(Clone, Copy, Debug)]
pub struct StoreKind {
    /// Its name.
    pub name: &'static str,
    /// Its parameters that a scenario may set.
    pub params: &'static [Param],
    /// Its topologies, the usual one first.
    pub forms: &'static [Form],
    /// How it is served to clients outside of the world.
    pub serving: Serving,
    /// Its real server.
    pub real: Option<Installed>,
}

/// The real server on this machine, as far as it is installed.
#[derive(Clone, Copy, Debug)]
pub struct Installed {
    /// The program that has to be installed.
    pub program: &'static str,
    /// The package of Debian that has it.
    pub package: &'static str,
    /// True if it takes over from the simulated server where a program sends a statement that is not modelled, unless the user asks for simulated
    /// servers.
    pub takes_over: bool,
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
