//! The scripts that a node knows, and what one may do while it runs.

use super::shebang::Flags;

/// A script that a node knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Script {
    pub(crate) sha: Sha,
    pub(crate) body: Vec<u8>,
    /// What it says of itself.
    pub(crate) flags: Flags,
}

/// The SHA-1 of a script, by which it is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Sha([u8; 20]);

/// What stands for a byte that is no hexadecimal digit: no value of digits has all these bits.
const NO_DIGIT: u8 = 0xff;

/// The value of each byte as a hexadecimal digit: every call of a script reads forty of them.
const DIGITS: [u8; 256] = {
    let mut digits = [NO_DIGIT; 256];
    let mut value = 0;
    while value < 16 {
        digits[b"0123456789abcdef"[value as usize] as usize] = value;
        digits[b"0123456789ABCDEF"[value as usize] as usize] = value;
        value += 1;
    }
    digits
};

impl Sha {
    pub(crate) fn of(bytes: &[u8]) -> Sha {
        Sha(sha1_smol::Sha1::from(bytes).digest().bytes())
    }

    /// Reads 40 hexadecimal digits in any case.
    pub(crate) fn parse(hex: &[u8]) -> Option<Sha> {
        let mut bytes = [0; 20];
        if hex.len() != 2 * bytes.len() {
            return None;
        }
        let mut seen = 0;
        for (byte, pair) in bytes.iter_mut().zip(hex.chunks_exact(2)) {
            let (high, low) = (DIGITS[usize::from(pair[0])], DIGITS[usize::from(pair[1])]);
            *byte = high << 4 | low & 15;
            seen |= high | low;
        }
        (seen != NO_DIGIT).then_some(Sha(bytes))
    }

    pub(crate) fn hex(self) -> [u8; 40] {
        let mut hex = [0; 40];
        for (pair, byte) in hex.chunks_exact_mut(2).zip(self.0) {
            pair[0] = b"0123456789abcdef"[usize::from(byte >> 4)];
            pair[1] = b"0123456789abcdef"[usize::from(byte & 15)];
        }
        hex
    }
}

/// What a script that runs may do, and what it did.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Running {
    /// True if it may not write.
    pub(crate) read_only: bool,
    /// True if it may write even when there is too little memory.
    pub(crate) allows_oom: bool,
    /// True if it has written: then nothing that becomes of the node in the meantime stops it.
    pub(crate) wrote: bool,
}
