//! The scripts that a node knows, and what one may do while it runs.

use data_encoding::HEXLOWER;

use crate::server::shebang::Flags;

/// A script that a node knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Script {
    pub(crate) sha: Sha,
    pub(crate) body: Vec<u8>,
    /// Its flags.
    pub(crate) flags: Flags,
}

/// The SHA-1 of a script in hexadecimal digits, by which it is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Sha([u8; 40]);

impl Sha {
    pub(crate) fn of(bytes: &[u8]) -> Sha {
        let mut digits = [0; 40];
        HEXLOWER.encode_mut(&sha1_smol::Sha1::from(bytes).digest().bytes(), &mut digits);
        Sha(digits)
    }

    /// The name of a script in any case: whatever has 40 letters may be one.
    pub(crate) fn parse(hex: &[u8]) -> Option<Sha> {
        let mut digits: [u8; 40] = hex.try_into().ok()?;
        digits.make_ascii_lowercase();
        Some(Sha(digits))
    }

    pub(crate) fn hex(self) -> [u8; 40] {
        self.0
    }
}

/// The rights of a script that runs, and its effects.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Running {
    /// True if it may not write.
    pub(crate) read_only: bool,
    /// True if it may write even when there is too little memory.
    pub(crate) allows_oom: bool,
    /// True if its keys may be in several slots.
    pub(crate) crosses_slots: bool,
    /// True if it has written: then nothing that becomes of the node in the meantime stops it.
    pub(crate) wrote: bool,
}
