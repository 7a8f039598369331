//! Reading and writing the memory of a program's process.

use std::{fs::File, os::unix::fs::FileExt};

use rustix::io::Errno;

/// The memory of a process, by any of its threads.
#[derive(Clone, Copy)]
pub(crate) struct Memory(pub(crate) u32);

impl Memory {
    /// Reads `len` bytes.
    pub(crate) fn read(self, address: u64, len: usize) -> Result<Vec<u8>, Errno> {
        let mut bytes = vec![0; len];
        if self.read_some(address, &mut bytes)? == len { Ok(bytes) } else { Err(Errno::FAULT) }
    }

    fn read_some(self, address: u64, bytes: &mut [u8]) -> Result<usize, Errno> {
        if bytes.is_empty() {
            return Ok(0);
        }
        let local = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() };
        let remote = libc::iovec { iov_base: address as *mut libc::c_void, iov_len: bytes.len() };
        // SAFETY: the local vector covers exactly `bytes`; the remote one is the kernel's to check.
        let got = unsafe { libc::process_vm_readv(self.0 as i32, &local, 1, &remote, 1, 0) };
        usize::try_from(got).map_err(|_| Errno::FAULT)
    }

    /// Writes bytes where the program may write.
    pub(crate) fn write(self, address: u64, bytes: &[u8]) -> Result<(), Errno> {
        if bytes.is_empty() {
            return Ok(());
        }
        let local = libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
        let remote = libc::iovec { iov_base: address as *mut libc::c_void, iov_len: bytes.len() };
        // SAFETY: the local vector covers exactly `bytes`, which the call only reads.
        let put = unsafe { libc::process_vm_writev(self.0 as i32, &local, 1, &remote, 1, 0) };
        if usize::try_from(put) == Ok(bytes.len()) { Ok(()) } else { Err(Errno::FAULT) }
    }

    /// Writes bytes even where the program may not: its code.
    pub(crate) fn patch(self, patches: &[(u64, Vec<u8>)]) -> std::io::Result<()> {
        let file = File::options().read(true).write(true).open(format!("/proc/{}/mem", self.0))?;
        patches.iter().try_for_each(|(address, bytes)| file.write_all_at(bytes, *address))
    }

    pub(crate) fn u32(self, address: u64) -> Result<u32, Errno> {
        let mut bytes = [0; 4];
        if self.read_some(address, &mut bytes)? == 4 {
            Ok(u32::from_le_bytes(bytes))
        } else {
            Err(Errno::FAULT)
        }
    }

    pub(crate) fn u64(self, address: u64) -> Result<u64, Errno> {
        let mut bytes = [0; 8];
        if self.read_some(address, &mut bytes)? == 8 {
            Ok(u64::from_le_bytes(bytes))
        } else {
            Err(Errno::FAULT)
        }
    }

    /// A `timespec` as nanoseconds; none for a null pointer.
    pub(crate) fn timespec(self, address: u64) -> Result<Option<u64>, Errno> {
        if address == 0 {
            return Ok(None);
        }
        let bytes = self.read(address, 16)?;
        let part = |at: usize| i64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
        let (seconds, nanos) = (part(0), part(8));
        if seconds < 0 || !(0..1_000_000_000).contains(&nanos) {
            return Err(Errno::INVAL);
        }
        Ok(Some((seconds as u64).saturating_mul(1_000_000_000).saturating_add(nanos as u64)))
    }

    /// Writes seconds and a fraction, as `timespec` and `timeval` have them.
    pub(crate) fn write_pair(self, address: u64, seconds: u64, fraction: u64) -> Result<(), Errno> {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&seconds.to_le_bytes());
        bytes[8..].copy_from_slice(&fraction.to_le_bytes());
        self.write(address, &bytes)
    }

    /// The text up to a zero byte, at most a path's length.
    pub(crate) fn text(self, address: u64) -> Result<Vec<u8>, Errno> {
        let mut text = Vec::new();
        let mut at = address;
        while text.len() < libc::PATH_MAX as usize {
            // A page at a time: the next one may not be there.
            let mut part = vec![0; (4096 - at as usize % 4096).min(256)];
            let got = self.read_some(at, &mut part)?;
            part.truncate(got);
            if let Some(end) = part.iter().position(|&byte| byte == 0) {
                text.extend_from_slice(&part[..end]);
                return Ok(text);
            }
            if got == 0 {
                return Err(Errno::FAULT);
            }
            text.extend_from_slice(&part);
            at = at.wrapping_add(got as u64);
        }
        Err(Errno::NAMETOOLONG)
    }
}
