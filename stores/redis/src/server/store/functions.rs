//! Libraries of functions: they belong to the dataset, since they are in its snapshots and in its stream.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::protocol::resp::Reply;
use crate::server::shebang::Flags;

/// A library that was loaded. What its code keeps between two calls belongs to it, and begins anew when it is loaded again.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Library {
    /// Its name.
    pub(crate) name: Vec<u8>,
    /// Its code, with the first line, which names it.
    pub(crate) code: Vec<u8>,
    /// Its functions by name.
    pub(crate) functions: BTreeMap<Vec<u8>, Function>,
}

impl Library {
    /// The name of a function as it was registered, by this name in any case.
    fn function(&self, name: &[u8]) -> Option<&[u8]> {
        self.functions.keys().find(|known| known.eq_ignore_ascii_case(name)).map(Vec::as_slice)
    }
}

/// A function, as its library registers it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Function {
    /// Its description, if it has one.
    pub(crate) description: Option<Vec<u8>>,
    /// What it may do.
    pub(crate) flags: Flags,
}

/// The libraries of a dataset.
#[derive(Clone, Debug, Default)]
pub(crate) struct Functions {
    libraries: BTreeMap<Vec<u8>, Arc<Library>>,
}

impl Functions {
    /// The libraries by name.
    pub(crate) fn libraries(&self) -> impl ExactSizeIterator<Item = &Arc<Library>> {
        self.libraries.values()
    }

    /// How many functions there are.
    pub(crate) fn len(&self) -> usize {
        self.libraries().map(|library| library.functions.len()).sum()
    }

    /// The library of a function, and the function's name as it was registered: it is called in any case.
    pub(crate) fn find(&self, name: &[u8]) -> Option<(&Arc<Library>, &[u8])> {
        self.libraries().find_map(|library| library.function(name).map(|known| (library, known)))
    }

    /// Adds libraries, all or none, and replaces those of the same names if so asked.
    ///
    /// # Errors
    /// The reply to give when a library or a function of the same name is there.
    pub(crate) fn join(&mut self, new: Functions, replace: bool) -> Result<(), Reply> {
        let taken = self.libraries.keys().find(|name| new.libraries.contains_key(*name));
        if let Some(name) = taken.filter(|_| !replace) {
            return Err(exists("Library", name));
        }
        let kept = || self.libraries().filter(|library| !new.libraries.contains_key(&library.name));
        let added = new.libraries().flat_map(|library| library.functions.keys());
        for name in added {
            if kept().any(|library| library.function(name).is_some()) {
                return Err(exists("Function", name));
            }
        }
        self.libraries.extend(new.libraries);
        Ok(())
    }

    /// True if there is a library of this name.
    pub(crate) fn has(&self, name: &[u8]) -> bool {
        self.libraries.contains_key(name)
    }

    /// Removes a library; false if there is none of this name.
    pub(crate) fn remove(&mut self, name: &[u8]) -> bool {
        self.libraries.remove(name).is_some()
    }

    /// Removes all libraries.
    pub(crate) fn clear(&mut self) {
        self.libraries.clear();
    }
}

impl From<Arc<Library>> for Functions {
    fn from(library: Arc<Library>) -> Functions {
        Functions { libraries: BTreeMap::from([(library.name.clone(), library)]) }
    }
}

fn exists(what: &str, name: &[u8]) -> Reply {
    Reply::Error(format!("ERR {what} {} already exists", String::from_utf8_lossy(name)).into())
}
