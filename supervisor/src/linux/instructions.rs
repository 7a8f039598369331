//! Instructions that show a program the machine, and that no filter sees: the processor's counters, its number, and its random numbers.
//!
//! They are looked for in the code that a program has mapped when its start-up is over. Code need not be run: so it is a hint, for a program
//! whose runs are seen to differ. The code is read through the program's memory, as it was loaded or made.

use std::{collections::BTreeSet, fs, ops::Range, path::PathBuf};

use iced_x86::{Decoder, DecoderOptions, Mnemonic};

use super::group::Group;
use super::kernel::memory::Memory;
use super::kernel::text::text_of;
use crate::{Clock, Instruction, Setup, Step};

/// The most steps after which the code is looked at.
const STEPS: usize = 1_000;
/// Bytes of code that are looked at in one piece, and of all code.
const PIECE: usize = 1 << 20;
const MOST: u64 = 1 << 30;
/// Bytes of the longest instruction.
const LONGEST: usize = 15;
/// The instructions, and the name that is printed for each.
const INSTRUCTIONS: [(Mnemonic, &str); 10] = [
    (Mnemonic::Rdtsc, "rdtsc"),
    (Mnemonic::Rdtscp, "rdtsc"),
    (Mnemonic::Rdpid, "rdpid"),
    (Mnemonic::Rdrand, "rdrand"),
    (Mnemonic::Rdseed, "rdseed"),
    (Mnemonic::Rdpmc, "rdpmc"),
    (Mnemonic::Tpause, "umwait"),
    (Mnemonic::Umwait, "umwait"),
    (Mnemonic::Cpuid, "cpuid"),
    // The kernel keeps the number of the processor in the limit of a segment.
    (Mnemonic::Lsl, "lsl"),
];
/// The kernel's clock, on a kernel that seals its own mappings: it cannot be taken away.
const CLOCK: &str = "[vvar]";

/// The instructions of this kind in the code of a program, as it is when it waits for the first time.
pub(crate) fn of(setup: &Setup) -> Vec<Instruction> {
    let Ok(mut group) = Group::start(setup) else { return Vec::new() };
    let clock: Clock = setup.clock;
    for _ in 0..STEPS {
        match group.step(clock) {
            Ok(Step::Waits { .. }) => break,
            Ok(Step::Exited(_)) | Err(_) => return Vec::new(),
            Ok(_) => {}
        }
    }
    let (mut found, mut left) = (BTreeSet::new(), MOST);
    for process in group.table.processes.iter().filter(|process| process.alive) {
        look_at(process.pid, &mut left, &mut found);
    }
    found.into_iter().collect()
}

/// Looks at the code of a process.
fn look_at(process: u32, left: &mut u64, found: &mut BTreeSet<Instruction>) {
    let maps = text_of(format!("/proc/{process}/maps")).unwrap_or_default();
    let program = fs::read_link(format!("/proc/{process}/exe")).unwrap_or_default();
    let kernels = kernels_code(process);
    for (range, rights, name) in maps.lines().filter_map(mapping) {
        if name == CLOCK {
            found.insert(Instruction { name: "the machine's clock", file: CLOCK.into() });
        }
        let is_kernels = name.starts_with('[') || kernels.is_some_and(|kernels| range.contains(&kernels));
        let length = (range.end - range.start).min(*left);
        if !rights.contains('x') || is_kernels {
            continue;
        }
        *left -= length;
        let file = if name.is_empty() { program.clone() } else { PathBuf::from(name) };
        let names = names_of(Memory(process), range.start..range.start + length);
        found.extend(names.into_iter().map(|name| Instruction { name, file: file.clone() }));
    }
}

/// Where the kernel's code was: it is overwritten, and what is left of it is not called.
fn kernels_code(process: u32) -> Option<u64> {
    let auxiliary = fs::read(format!("/proc/{process}/auxv")).ok()?;
    auxiliary.chunks_exact(16).find_map(|pair| {
        let word = |at: usize| u64::from_le_bytes(pair[at..at + 8].try_into().expect("eight bytes"));
        (word(0) == u64::from(linux_raw_sys::auxvec::AT_SYSINFO_EHDR)).then(|| word(8))
    })
}

/// A line of `maps`: the range, the rights and the name.
fn mapping(line: &str) -> Option<(Range<u64>, &str, &str)> {
    let mut words = line.split_whitespace();
    let (start, end) = words.next()?.split_once('-')?;
    let rights = words.next()?;
    let name = line.find(['/', '[']).map_or("", |at| &line[at..]);
    Some((u64::from_str_radix(start, 16).ok()?..u64::from_str_radix(end, 16).ok()?, rights, name))
}

fn names_of(memory: Memory, range: Range<u64>) -> BTreeSet<&'static str> {
    let mut names = BTreeSet::new();
    let mut at = range.start;
    while at < range.end {
        let length = ((range.end - at) as usize).min(PIECE);
        let Ok(code) = memory.read(at, length) else { break };
        let is_last = at + length as u64 == range.end;
        // The end of a piece may be in the middle of an instruction.
        let end = if is_last { length } else { length.saturating_sub(LONGEST) };
        at += names_in(&code, end, &mut names) as u64;
    }
    names
}

/// Adds the names of the instructions that begin before `end`; where the next one begins.
fn names_in(code: &[u8], end: usize, names: &mut BTreeSet<&'static str>) -> usize {
    let mut decoder = Decoder::new(64, code, DecoderOptions::NONE);
    while decoder.can_decode() && decoder.position() < end {
        let mnemonic = decoder.decode().mnemonic();
        names.extend(INSTRUCTIONS.iter().filter(|known| known.0 == mnemonic).map(|known| known.1));
    }
    decoder.position()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(code: &[u8]) -> Vec<&'static str> {
        let mut names = BTreeSet::new();
        names_in(code, code.len(), &mut names);
        names.into_iter().collect()
    }

    #[test]
    fn each_instruction_is_known() {
        let nothing: [&'static str; 0] = [];
        assert_eq!(names(&[0x0f, 0x31]), ["rdtsc"]);
        assert_eq!(names(&[0x0f, 0x01, 0xf9]), ["rdtsc"]);
        // rdpid rax; rdrand eax; rdseed rax
        assert_eq!(names(&[0xf3, 0x0f, 0xc7, 0xf8]), ["rdpid"]);
        assert_eq!(names(&[0x0f, 0xc7, 0xf0]), ["rdrand"]);
        assert_eq!(names(&[0x48, 0x0f, 0xc7, 0xf8]), ["rdseed"]);
        // lsl eax, eax; cpuid; tpause eax
        assert_eq!(names(&[0x0f, 0x03, 0xc0]), ["lsl"]);
        assert_eq!(names(&[0x0f, 0xa2]), ["cpuid"]);
        assert_eq!(names(&[0x66, 0x0f, 0xae, 0xf0]), ["umwait"]);
        // cmpxchg8b [rdi]; mov eax, 0x310f, which only has the bytes
        assert_eq!(names(&[0x0f, 0xc7, 0x0f]), nothing);
        assert_eq!(names(&[0xb8, 0x0f, 0x31, 0, 0]), nothing);
    }

    #[test]
    fn the_threat_model_has_a_row_for_each_cause() {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/guide/threat-model.md");
        let page = fs::read_to_string(page).unwrap();
        let (_, traces) = page.split_once("## Visible traces of the machine").unwrap();
        let rows: Vec<&str> = traces.lines().filter(|line| line.starts_with('|')).collect();
        for name in INSTRUCTIONS.iter().map(|known| known.1).chain([CLOCK]) {
            let quoted = format!("`{name}`");
            assert!(rows.iter().any(|row| row.contains(&quoted) && row.contains("**seen")), "{name}");
        }
    }

    #[test]
    fn code_is_read_in_pieces() {
        let mut code = vec![0x90_u8; PIECE + 100];
        code[PIECE - 1..PIECE + 1].copy_from_slice(&[0x0f, 0x31]);
        let start = code.as_ptr() as u64;
        let found = names_of(Memory(std::process::id()), start..start + code.len() as u64);
        assert_eq!(found.into_iter().collect::<Vec<_>>(), ["rdtsc"]);
    }
}
