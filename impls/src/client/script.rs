//! A Lua script that a client sends, by its hash once the server knows it.

use std::ops::Deref;
use std::sync::OnceLock;

use redis::Script;

/// A script whose hash is computed at its first use.
pub(crate) struct Lua {
    text: &'static str,
    script: OnceLock<Script>,
}

impl Lua {
    pub(crate) const fn new(text: &'static str) -> Lua {
        Lua { text, script: OnceLock::new() }
    }
}

impl Deref for Lua {
    type Target = Script;

    fn deref(&self) -> &Script {
        self.script.get_or_init(|| Script::new(self.text))
    }
}
