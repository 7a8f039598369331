//! The repro files of a gate: the place of the runs that violate something, and the lines of code that make them again.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use picklock_campaign::summary::Violation;

use super::Gate;

/// The directory that holds `repro`.
pub(super) fn out(gate: &Gate) -> PathBuf {
    gate.out.clone().unwrap_or_else(default_out)
}

/// `picklock` in the target directory that the test was built in, which is the directory above it that cargo has
/// marked as a cache; shown from here if it lies below.
fn default_out() -> PathBuf {
    let is_target = |directory: &&Path| directory.join("CACHEDIR.TAG").is_file();
    let program = std::env::current_exe().unwrap_or_default();
    let target = program.ancestors().find(is_target).unwrap_or(Path::new("target"));
    let here = std::env::current_dir().unwrap_or_default();
    target.strip_prefix(&here).unwrap_or(target).join("picklock")
}

/// The line that makes the run in a file again.
pub(super) fn replay_line(repro: &Path) -> String {
    format!("picklock::replay(design, {:?})", repro.display().to_string())
}

/// Replaces the command that replays a violation by the code that does.
pub(super) fn in_code(violation: &mut Violation) {
    let seed = violation.first_seed;
    let whole = format!(".seeds({seed}..{})", seed.saturating_add(1));
    violation.replay = match &violation.repro {
        Some(repro) => format!("{}; the whole run: {whole}", replay_line(repro)),
        None => whole,
    };
    if let Some(story) = violation.story.as_mut().map(Arc::make_mut) {
        story.replay.clone_from(&violation.replay);
    }
}
