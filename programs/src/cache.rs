//! The cache directory of the user: what is made once for the machine, and can be made again.

use std::env;
use std::path::PathBuf;

/// The directory of this name in it, which need not be there; none if the user has none.
pub(crate) fn cache(name: &str) -> Option<PathBuf> {
    let base = env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|dir| dir.is_absolute());
    let base = base.or_else(|| Some(PathBuf::from(env::var_os("HOME")?).join(".cache")))?;
    Some(base.join("picklock").join(name))
}
