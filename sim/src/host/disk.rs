//! A host's disk: files that survive its processes, and what of them survives a power loss.
//!
//! Left out on purpose: latency, errors and torn writes.

use super::host::Host;

impl Host {
    /// The disk of this host.
    #[must_use]
    pub fn disk(&self) -> Disk {
        Disk::new(self.clone())
    }
}

/// The disk of one host.
#[derive(Clone, Debug)]
pub struct Disk {
    host: Host,
}

impl Disk {
    pub(crate) fn new(host: Host) -> Disk {
        Disk { host }
    }

    /// The whole file; empty if there is none.
    #[must_use]
    pub fn read(&self, file: &str) -> Vec<u8> {
        let mut state = self.host.world.state();
        state.process(self.host.id()).disk.get(file).map(|file| file.bytes.clone()).unwrap_or_default()
    }

    /// Appends bytes; a power loss before the next [`sync`](Disk::sync) takes them.
    pub fn append(&self, file: &str, bytes: &[u8]) {
        self.with(file, |file| file.bytes.extend_from_slice(bytes));
    }

    /// Replaces the file; a power loss before the next [`sync`](Disk::sync) undoes that.
    pub fn write(&self, file: &str, bytes: &[u8]) {
        self.with(file, |file| file.replace(bytes));
    }

    /// Makes everything written to the file survive a power loss.
    pub fn sync(&self, file: &str) {
        self.with(file, crate::world::File::sync);
    }

    fn with(&self, name: &str, change: impl FnOnce(&mut crate::world::File)) {
        let mut state = self.host.world.state();
        if state.is_dead(self.host.id()) {
            return;
        }
        let disk = &mut state.process(self.host.id()).disk;
        if !disk.contains_key(name) {
            disk.insert(name.to_owned(), crate::world::File::default());
        }
        if let Some(file) = disk.get_mut(name) {
            change(file);
        }
    }
}
