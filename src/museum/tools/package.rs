//! A package, as it is asked for.

use std::collections::BTreeMap;

use crate::museum::registry::Pin;

/// A version of a package, with what the adapter needs besides. Names and versions are checked.
#[derive(Clone, Copy, Debug)]
pub(in crate::museum) struct Package<'a> {
    /// Its name in the registry.
    pub(in crate::museum) name: &'a str,
    pub(in crate::museum) version: &'a str,
    /// Further packages, with their versions.
    pub(in crate::museum) with: &'a BTreeMap<String, Pin>,
}

impl<'a> Package<'a> {
    /// The names and versions of the package and of the further ones.
    pub(super) fn all(&self) -> impl Iterator<Item = (&'a str, &'a str)> {
        let further = self.with.iter().map(|(name, pin)| (name.as_str(), pin.version.as_str()));
        std::iter::once((self.name, self.version)).chain(further)
    }
}
