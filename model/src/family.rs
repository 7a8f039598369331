//! The family of a design, as its spelling names it.

/// The name of the family of a design that is spelled so: `redlock` of `redlock{nodes=7}`.
#[must_use]
pub fn name_of(spelling: &str) -> &str {
    spelling.split_once('{').map_or(spelling, |(name, _)| name)
}
