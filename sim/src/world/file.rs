//! A file of a host's disk: what a process reads back, and what of it survives a power loss.

/// A file of a host's disk.
#[derive(Clone, Debug, Default)]
pub(crate) struct File {
    pub(crate) bytes: Vec<u8>,
    /// The part of it that survives a power loss.
    synced: Vec<u8>,
    /// True if it was replaced since it was synced; otherwise what is synced is its beginning.
    replaced: bool,
}

impl File {
    /// Puts other bytes into its place.
    pub(crate) fn replace(&mut self, bytes: &[u8]) {
        self.bytes = bytes.to_vec();
        self.replaced = true;
    }

    /// Makes all of it survive a power loss.
    pub(crate) fn sync(&mut self) {
        if self.replaced {
            self.synced.clone_from(&self.bytes);
            self.replaced = false;
        } else {
            // Only the appended bytes: a file that is synced after every write is not copied each time.
            self.synced.extend_from_slice(&self.bytes[self.synced.len()..]);
        }
    }

    /// Loses what was not synced.
    pub(super) fn lose_power(&mut self) {
        self.bytes.clone_from(&self.synced);
        self.replaced = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after_power_loss(mut file: File) -> Vec<u8> {
        file.lose_power();
        file.bytes
    }

    #[test]
    fn a_power_loss_takes_what_was_not_synced_whether_appended_or_replaced() {
        let mut file = File::default();
        file.bytes.extend_from_slice(b"one");
        assert_eq!(after_power_loss(file.clone()), b"");
        file.sync();
        file.bytes.extend_from_slice(b" two");
        assert_eq!(after_power_loss(file.clone()), b"one");
        file.sync();
        file.replace(b"o");
        assert_eq!(after_power_loss(file.clone()), b"one two");
        file.bytes.extend_from_slice(b"ther");
        file.sync();
        assert_eq!(after_power_loss(file.clone()), b"other");
        file.bytes.extend_from_slice(b" end");
        file.lose_power();
        file.bytes.extend_from_slice(b" side");
        file.sync();
        assert_eq!(after_power_loss(file), b"other side");
    }
}
