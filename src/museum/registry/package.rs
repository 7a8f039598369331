//! A package, as it is asked for.

use std::collections::BTreeMap;

/// A version of a package, with what the adapter needs besides.
#[derive(Clone, Copy, Debug)]
pub(in crate::museum) struct Package<'a> {
    /// Its name in the registry.
    pub(in crate::museum) name: &'a str,
    pub(in crate::museum) version: &'a str,
    /// Further packages, with their versions.
    pub(in crate::museum) with: &'a BTreeMap<String, String>,
}
