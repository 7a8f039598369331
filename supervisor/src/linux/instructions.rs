//! Instructions that show a program the machine, and that no filter sees: the processor's counters and its random numbers.
//!
//! They are looked for in the code that a program has mapped when its start-up is over, as bytes: what lies there may be part of
//! another instruction, or never be run. So it is a hint, for a program whose runs are seen to differ.

use std::{
    collections::BTreeSet,
    fs::{self, File},
    os::unix::fs::FileExt,
    path::PathBuf,
};

use memchr::memmem;

use super::group::Group;
use crate::{Clock, Instruction, Setup, Step};

/// The most steps after which the code is looked at.
const STEPS: usize = 1_000;
/// How far behind a look at the counter its halves are put together.
const REACH: usize = 24;

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
    let alive = group.table.processes.iter().filter(|process| process.alive);
    let code: BTreeSet<_> = alive.flat_map(|process| mapped(process.pid)).collect();
    let found = code.into_iter().flat_map(|(file, start, length)| {
        let mut bytes = vec![0; length];
        let is_read = File::open(&file).and_then(|file| file.read_exact_at(&mut bytes, start)).is_ok();
        let names = if is_read { names_in(&bytes) } else { Vec::new() };
        names.into_iter().map(move |name| Instruction { name, file: file.clone() })
    });
    let found: BTreeSet<_> = found.collect();
    found.into_iter().collect()
}

/// The files of which a process has mapped code, with where it begins in them and how long it is.
fn mapped(process: u32) -> Vec<(PathBuf, u64, usize)> {
    let maps = fs::read_to_string(format!("/proc/{process}/maps")).unwrap_or_default();
    let line = |line: &str| {
        let mut parts = line.split_whitespace();
        let (range, rights, offset) = (parts.next()?, parts.next()?, parts.next()?);
        let file = parts.nth(2).filter(|file| file.starts_with('/') && rights.contains('x'))?;
        let (from, to) = range.split_once('-')?;
        let number = |text: &str| u64::from_str_radix(text, 16).ok();
        Some((PathBuf::from(file), number(offset)?, (number(to)? - number(from)?) as usize))
    };
    maps.lines().filter_map(line).collect()
}

fn names_in(code: &[u8]) -> Vec<&'static str> {
    let after = |at: usize, most: usize| &code[(at + 2).min(code.len())..(at + 2 + most).min(code.len())];
    // Its halves are put together behind it, by a shift of the upper one; two bytes alone stand in any code.
    let shifts = |at: usize| memmem::find(after(at, REACH), &[0xc1, 0xe2, 0x20]).is_some();
    // Its operand is a register.
    let takes =
        |at: usize, kinds: std::ops::RangeInclusive<u8>| after(at, 1).iter().any(|byte| kinds.contains(byte));
    let is_prefixed = |at: usize| at > 0 && code[at - 1] == 0xf3 || at > 1 && code[at - 2] == 0xf3;
    let mut names = Vec::new();
    if memmem::find_iter(code, &[0x0f, 0x31]).any(shifts) || memmem::find(code, &[0x0f, 0x01, 0xf9]).is_some()
    {
        names.push("rdtsc");
    }
    let numbers: Vec<usize> = memmem::find_iter(code, &[0x0f, 0xc7]).collect();
    if numbers.iter().any(|&at| takes(at, 0xf8..=0xff) && is_prefixed(at)) {
        names.push("rdpid");
    }
    if numbers.iter().any(|&at| takes(at, 0xf0..=0xf7)) {
        names.push("rdrand");
    }
    if numbers.iter().any(|&at| takes(at, 0xf8..=0xff) && !is_prefixed(at)) {
        names.push("rdseed");
    }
    names
}

#[cfg(test)]
mod tests {
    use super::names_in;

    #[test]
    fn each_instruction_is_known_by_its_bytes() {
        let nothing: [&'static str; 0] = [];
        assert_eq!(names_in(&[0x0f, 0x31, 0x90, 0x90]), nothing);
        // rdtsc; shl rdx, 32
        assert_eq!(names_in(&[0x0f, 0x31, 0x48, 0xc1, 0xe2, 0x20]), ["rdtsc"]);
        // rdpid rax; rdrand eax; rdseed rax
        assert_eq!(names_in(&[0xf3, 0x0f, 0xc7, 0xf8]), ["rdpid"]);
        assert_eq!(names_in(&[0x0f, 0xc7, 0xf0]), ["rdrand"]);
        assert_eq!(names_in(&[0x48, 0x0f, 0xc7, 0xf8]), ["rdseed"]);
        // cmpxchg8b [rdi]
        assert_eq!(names_in(&[0x0f, 0xc7, 0x0f]), nothing);
    }
}
