//! The memory of a process that is copied.

use crate::linux::kernel::clock_page::PAGE;
use crate::linux::kernel::text::text_of;

/// Memory that a copy of the process would not have, or would have without its content.
pub(crate) struct Region {
    start: u64,
    length: u64,
    /// The advice that a program has given for it, and the one that takes it back.
    advice: [i32; 2],
}

impl Region {
    /// The arguments of `madvise` that make it as it was.
    pub(crate) fn done(&self) -> [u64; 3] {
        [self.start, self.length, self.advice[0] as u64]
    }

    /// The arguments of `madvise` that let copies have it.
    pub(crate) fn undone(&self) -> [u64; 3] {
        [self.start, self.length, self.advice[1] as u64]
    }
}

/// The memory that copies must be given in an unusual way; none if they would share some of it, other than the clock.
pub(crate) fn unusual(process: u32) -> Option<Vec<Region>> {
    let maps = text_of(format!("/proc/{process}/smaps")).ok()?;
    let (mut here, mut found) = ((0, 0), Vec::new());
    for line in maps.lines() {
        if let Some(flags) = line.strip_prefix("VmFlags:") {
            for flag in flags.split_whitespace() {
                let advice = match flag {
                    "dc" => [libc::MADV_DONTFORK, libc::MADV_DOFORK],
                    "wf" => [libc::MADV_WIPEONFORK, libc::MADV_KEEPONFORK],
                    _ => continue,
                };
                found.push(Region { start: here.0, length: here.1 - here.0, advice });
            }
            continue;
        }
        let mut words = line.split_whitespace();
        let (range, rights) = (words.next()?, words.next().unwrap_or_default());
        let Some((start, end)) = range.split_once('-') else { continue };
        here = (u64::from_str_radix(start, 16).ok()?, u64::from_str_radix(end, 16).ok()?);
        if rights.contains('w') && rights.ends_with('s') && here.0 != PAGE {
            return None;
        }
    }
    Some(found)
}
