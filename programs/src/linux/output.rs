//! What a program prints: bytes in, whole lines out.

use std::os::fd::OwnedFd;

/// One of the two outputs.
pub(crate) struct Output {
    file: OwnedFd,
    pending: Vec<u8>,
    /// Bytes so far.
    pub(crate) total: usize,
}

impl Output {
    pub(crate) fn new(file: OwnedFd) -> Self {
        Self { file, pending: Vec::new(), total: 0 }
    }

    pub(crate) fn file(&self) -> &OwnedFd {
        &self.file
    }

    /// Takes what the kernel holds.
    pub(crate) fn drain(&mut self) {
        let mut room = [0; 16 << 10];
        while let Ok(got) = rustix::io::read(&self.file, &mut room) {
            if got == 0 {
                return;
            }
            self.total += got;
            self.pending.extend_from_slice(&room[..got]);
        }
    }

    /// The next whole line; a line that is too long ends where it is too long.
    pub(crate) fn line(&mut self, most: usize) -> Option<String> {
        let end = self.pending.iter().position(|&byte| byte == b'\n');
        let (text, used) = match end {
            Some(end) if end <= most => (end, end + 1),
            _ if self.pending.len() > most => (most, most),
            _ => return None,
        };
        let line = String::from_utf8_lossy(&self.pending[..text]).trim_end_matches('\r').to_owned();
        self.pending.drain(..used);
        Some(line)
    }

    /// What is left when the program ended in the middle of a line.
    pub(crate) fn rest(&mut self) -> Option<String> {
        let rest = std::mem::take(&mut self.pending);
        (!rest.is_empty()).then(|| String::from_utf8_lossy(&rest).into_owned())
    }
}
