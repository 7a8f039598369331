//! The code that is run: a script, or a function of a library.

use std::borrow::Cow;
use std::sync::Arc;

use super::errors::{CHUNK, LIBRARY};
use crate::server::node::Script;
use crate::server::shebang::Flags;
use crate::server::store::Library;

/// What is run: a script, or a function of a library.
#[derive(Clone, Copy)]
pub(crate) enum Code<'a> {
    /// A script.
    Script(&'a Script),
    /// A function by its name.
    Function(&'a Arc<Library>, &'a [u8]),
}

impl Code<'_> {
    /// What it says that it does.
    pub(super) fn flags(self) -> Flags {
        match self {
            Code::Script(script) => script.flags,
            Code::Function(library, name) => library.functions[name].flags,
        }
    }

    /// Its name and its file, as errors say them.
    pub(super) fn names(self) -> (Cow<'static, str>, &'static str) {
        match self {
            Code::Script(script) => (String::from_utf8_lossy(&script.sha.hex()).into_owned().into(), CHUNK),
            Code::Function(_, name) => (String::from_utf8_lossy(name).into_owned().into(), LIBRARY),
        }
    }
}
