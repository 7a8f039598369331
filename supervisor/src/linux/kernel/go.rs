//! Go's second clock.
//!
//! Before 1.25 Go seeds its scheduler by the processor's counter of ticks, which no filter sees. The kernel can forbid
//! the instruction, but then Python, Node and the JVM end; so it is overwritten, in programs that Go made.

use std::{fs::File, os::unix::fs::FileExt};

use memchr::memmem;
use object::{Endianness, Object, ObjectSection, ReadCache, read::elf::ElfFile64};

use super::memory::Memory;

/// How Go's compilers write the instruction, and the same with zero as the count.
const FORMS: [(&[u8], &[u8]); 3] = [
    // lfence; rdtsc
    (&[0x0f, 0xae, 0xe8, 0x0f, 0x31], &[0x31, 0xc0, 0x31, 0xd2, 0x90]),
    // rdtsc; shl rdx, 32
    (&[0x0f, 0x31, 0x48, 0xc1, 0xe2, 0x20], &[0x31, 0xc0, 0x31, 0xd2, 0x90, 0x90]),
    // rdtscp; shl rdx, 32
    (&[0x0f, 0x01, 0xf9, 0x48, 0xc1, 0xe2, 0x20], &[0x31, 0xc0, 0x99, 0x48, 0xc1, 0xe2, 0x20]),
];

/// The bytes to overwrite in a process that was just given a program, which begins at `entry`; nothing if Go did not
/// make it.
pub(crate) fn counters(memory: Memory, entry: u64) -> Vec<(u64, Vec<u8>)> {
    File::open(format!("/proc/{}/exe", memory.0)).ok().and_then(|file| find(&file, entry)).unwrap_or_default()
}

fn find(file: &File, entry: u64) -> Option<Vec<(u64, Vec<u8>)>> {
    let cache = ReadCache::new(file);
    let program = ElfFile64::<Endianness, _>::parse(&cache).ok()?;
    program.section_by_name(".go.buildinfo")?;
    let text = program.section_by_name(".text")?;
    let (offset, length) = text.file_range()?;
    if offset.checked_add(length)? > file.metadata().ok()?.len() {
        return None;
    }
    let mut code = vec![0; usize::try_from(length).ok()?];
    file.read_exact_at(&mut code, offset).ok()?;
    let start = entry.wrapping_sub(program.entry()).wrapping_add(text.address());
    let places = |(form, zero): (&[u8], &[u8])| -> Vec<(u64, Vec<u8>)> {
        memmem::find_iter(&code, form).map(|at| (start.wrapping_add(at as u64), zero.to_vec())).collect()
    };
    Some(FORMS.into_iter().flat_map(places).collect())
}
