//! The error for a format that a command does not have.

use picklock_model::text::nearest;

use super::exit::Failure;

/// There is no such format among those that are known. `of` says what they are formats of, as in ` for one run`.
pub(crate) fn unknown(name: &str, of: &str, known: &[&str]) -> Failure {
    let near = nearest(name, known.iter().copied());
    let hint = near.map(|near| format!(" (did you mean `{near}`?)")).unwrap_or_default();
    Failure::Input(format!("there is no format `{name}`{of}{hint}; there are {}", known.join(", ")))
}
