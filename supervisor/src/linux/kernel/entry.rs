//! The entry of a process into a new program.
//!
//! The kernel maps code that reads the clock (the vDSO) and the clock itself (`[vvar]`) into each new program, which could read both
//! before its first call. So the supervisor traces the process through its `execve` and prepares the memory before the first
//! instruction: a copy of the vDSO with other code replaces the kernel's, the kernel's clock is unmapped, and the clock page is
//! mapped. The descriptor of the page is closed again before the program runs.
//!
//! A kernel that seals its own mappings (`CONFIG_MSEAL_SYSTEM_MAPPINGS`) refuses the replacement. The vDSO is then overwritten in its place,
//! and `[vvar]` stays readable.

use std::{io, ops::Range, os::fd::AsFd};

use syscalls::Sysno;

use super::clock_page::{self, ClockPage, Code, Image, PAGE};
use super::memory::Memory;
use super::notify::{Listener, Notice};
use super::text::text_of;
use super::tracing::{Registers, Stop, Traced};
use crate::ClockReads;

/// The kernel's own mappings in a new program.
struct Kernels {
    code: Option<Range<u64>>,
    clocks: Vec<Range<u64>>,
}

/// The outcome of an `execve`.
pub(crate) enum Entered {
    /// The process runs another program.
    Program(Image),
    /// The kernel found no program. The caller gets the kernel's error.
    Refused,
    /// The program is a 32-bit one, whose clock cannot be replaced. The process is killed.
    Killed,
}

/// The process that makes an `execve`, and the surroundings of its program.
pub(crate) struct Entry<'a> {
    pub(crate) listener: &'a Listener,
    /// The number of the process. The thread that makes the call gets it, and all others end.
    pub(crate) process: u32,
    pub(crate) page: Option<&'a ClockPage>,
    pub(crate) clock_reads: ClockReads,
    /// The bytes at `AT_RANDOM`.
    pub(crate) random: [u8; 16],
}

impl Entry<'_> {
    /// Lets the kernel do the call, and prepares the memory of the new program.
    pub(crate) fn make(&self, notice: &Notice) -> io::Result<Entered> {
        let mut traced = Traced::seize_for_entry(notice.thread())?;
        let calling = traced.leave_call(self.listener, notice)?;
        // A signal would be taken for a stop; it is delivered afterwards.
        let blocked = traced.blocked()?;
        traced.set_blocked(u64::MAX)?;
        let arguments: Vec<u64> = (0..6).map(|n| notice.arg(n)).collect();
        traced.start_call(&calling, notice.call(), &arguments, self.listener)?;
        if traced.wait_for_entry(self.process)? == Stop::Other {
            // The registers are those of the failed call.
            traced.set_blocked(blocked)?;
            traced.let_go()?;
            return Ok(Entered::Refused);
        }
        // To the end of the `execve`.
        traced.run_to_call()?;
        let start = traced.registers()?;
        let Some(image) = self.prepare(&mut traced, &start)? else { return Ok(Entered::Killed) };
        traced.set_registers(&start)?;
        traced.set_blocked(blocked)?;
        traced.let_go()?;
        Ok(Entered::Program(image))
    }

    /// Prepares the memory; none for a 32-bit program.
    fn prepare(&self, traced: &mut Traced, start: &Registers) -> io::Result<Option<Image>> {
        let memory = Memory(self.process);
        let kernels = Kernels::of(self.process)?;
        let Ok(code) = kernels.code.map(|range| Code::read(memory, range)).transpose() else {
            return Ok(None);
        };
        let overwritten = clock_page::overwrite(memory, code.as_ref(), self.clock_reads, self.random)?;
        let (Some(code), Some(call)) = (code, overwritten.call) else { return Ok(Some(overwritten.image)) };
        let at = Registers { rip: call, orig_rax: u64::MAX, ..*start };
        replace(traced, &at, memory, &code.range, &kernels.clocks)?;
        let mut image = overwritten.image;
        if let (Some(page), true) = (self.page, image.flag.is_some())
            && !self.map(traced, &at, page)?
        {
            // Each clock read is a call then.
            image.flag = None;
        }
        Ok(Some(image))
    }

    /// Maps the clock page; false if the program has left no room for a descriptor.
    fn map(&self, traced: &mut Traced, at: &Registers, page: &ClockPage) -> io::Result<bool> {
        let mut placed = Ok(0);
        // Any call does whose notice reaches the supervisor, and that changes nothing.
        traced.notified_call(at, Sysno::sigaltstack, &[0, 0], self.listener, |notice| {
            placed = self.listener.add(notice, page.as_fd());
            Ok(())
        })?;
        let Ok(descriptor) = placed else { return Ok(false) };
        let descriptor = descriptor as u64;
        let access = (libc::PROT_READ | libc::PROT_WRITE) as u64;
        let flags = (libc::MAP_SHARED | libc::MAP_FIXED) as u64;
        let arguments = [PAGE, clock_page::SIZE as u64, access, flags, descriptor, 0];
        traced.notified_call(at, Sysno::mmap, &arguments, self.listener, |_| Ok(()))?;
        traced.call(at, Sysno::close, &[descriptor])?;
        Ok(true)
    }
}

/// Replaces the kernel's code by a copy of what is there now, and unmaps the kernel's clocks. A kernel that seals them keeps both.
fn replace(
    traced: &mut Traced,
    at: &Registers,
    memory: Memory,
    code: &Range<u64>,
    clocks: &[Range<u64>],
) -> io::Result<()> {
    let length = code.end - code.start;
    let bytes = memory.read(code.start, length as usize)?;
    let access = (libc::PROT_READ | libc::PROT_EXEC) as u64;
    let flags = (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED) as u64;
    match traced.call(at, Sysno::mmap, &[code.start, length, access, flags, u64::MAX, 0]) {
        Err(error) if error.raw_os_error() == Some(libc::EPERM) => return Ok(()),
        mapped => mapped?,
    };
    memory.patch(&[(code.start, bytes)])?;
    for clock in clocks {
        traced.call(at, Sysno::munmap, &[clock.start, clock.end - clock.start])?;
    }
    Ok(())
}

impl Kernels {
    fn of(process: u32) -> io::Result<Self> {
        let maps = text_of(format!("/proc/{process}/maps"))?;
        let mut kernels = Self { code: None, clocks: Vec::new() };
        for line in maps.lines() {
            let mut words = line.split_whitespace();
            let Some((range, name)) = words.next().zip(words.nth(4)) else { continue };
            let range = || {
                let (start, end) = range.split_once('-')?;
                Some(u64::from_str_radix(start, 16).ok()?..u64::from_str_radix(end, 16).ok()?)
            };
            match name {
                "[vdso]" => kernels.code = range(),
                // The kernel's clock and, on a virtual machine, the host's.
                _ if name.starts_with("[vvar") => kernels.add_clock(range()),
                _ => {}
            }
        }
        Ok(kernels)
    }

    /// Adds a mapping. Adjacent mappings become a single range, because each range costs a traced call.
    fn add_clock(&mut self, clock: Option<Range<u64>>) {
        let Some(clock) = clock else { return };
        match self.clocks.last_mut().filter(|last| last.end == clock.start) {
            Some(last) => last.end = clock.end,
            None => self.clocks.push(clock),
        }
    }
}
