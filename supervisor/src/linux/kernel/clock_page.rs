//! The clock reads of a program.
//!
//! The C library and others read the clock without a call, by code that the kernel maps into each process (the vDSO).
//! That code is overwritten: in the `Notified` mode by the plain calls, in the `Page` mode by the code below, which reads a
//! page that is shared with the supervisor. It counts the clock reads, so that a program which waits for time to pass is noticed.
//!
//! The size of the page is sealed: a program that got hold of its file cannot shorten it under the supervisor's mapping.

use std::{
    arch::global_asm,
    fs,
    ops::Range,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    ptr::NonNull,
    sync::atomic::{AtomicI32, AtomicU64, Ordering},
};

use object::{Object, ObjectSymbol, read::elf::ElfFile64};
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, ftruncate, memfd_create};
use syscalls::Sysno;

use super::go;
use super::memory::Memory;
use super::text::bytes_of;
use crate::{Clock, ClockReads};

/// Where the page lies in every process.
pub(crate) const PAGE: u64 = 0x6f00_0000_0000;
/// Bytes of the page.
pub(crate) const SIZE: usize = 4096;
/// Clock reads between two moves of the time.
const READS: i32 = 1_500;
const SECOND: u64 = 1_000_000_000;

// Read by the supervisor as bytes, and run by the program only. The supervisor is notified of the first clock read of each
// process, and sets `pl_stub` then: the next reads use the page.
global_asm!(
    ".pushsection .rodata",
    ".balign 16",
    "pl_stub: .quad 0",
    "pl_clock: cmp dword ptr [rip + pl_stub], 0",
    "je 90f",
    "movabs rax, {page}",
    "dec dword ptr [rax + 32]",
    "js 90f",
    "test edi, edi", // CLOCK_REALTIME, CLOCK_REALTIME_COARSE, CLOCK_TAI
    "jz 2f",
    "cmp edi, 5",
    "je 2f",
    "cmp edi, 11",
    "je 2f",
    "add rax, 16",
    "2: mov rcx, [rax]",
    "mov [rsi], rcx",
    "mov rcx, [rax + 8]",
    "mov [rsi + 8], rcx",
    "xor eax, eax",
    "ret",
    "90: mov eax, {clock_gettime}",
    "syscall",
    "ret",
    "pl_day: cmp dword ptr [rip + pl_stub], 0",
    "je 92f",
    "movabs rax, {page}",
    "dec dword ptr [rax + 32]",
    "js 92f",
    "test rdi, rdi",
    "jz 3f",
    "mov rcx, [rax]",
    "mov [rdi], rcx",
    "mov rcx, [rax + 40]",
    "mov [rdi + 8], rcx",
    "3: xor eax, eax",
    "ret",
    "92: mov eax, {gettimeofday}",
    "syscall",
    "ret",
    "pl_end:",
    ".popsection",
    page = const PAGE,
    clock_gettime = const Sysno::clock_gettime as i32,
    gettimeofday = const Sysno::gettimeofday as i32,
);

unsafe extern "C" {
    #[link_name = "pl_stub"]
    static STUB: u8;
    #[link_name = "pl_clock"]
    static STUB_CLOCK: u8;
    #[link_name = "pl_day"]
    static STUB_DAY: u8;
    #[link_name = "pl_end"]
    static STUB_END: u8;
}

/// The bytes of the code, and where in them the two functions begin.
fn stub() -> (Vec<u8>, u64, u64) {
    let start = &raw const STUB;
    let at = |label: *const u8| label as usize - start as usize;
    let (clock, day, end) = (at(&raw const STUB_CLOCK), at(&raw const STUB_DAY), at(&raw const STUB_END));
    // SAFETY: the labels enclose constant bytes of this program's own read-only data.
    let bytes = unsafe { std::slice::from_raw_parts(start, end) };
    (bytes.to_vec(), clock as u64, day as u64)
}

/// The page, as the supervisor writes it.
#[derive(Debug)]
pub(crate) struct ClockPage {
    words: NonNull<AtomicU64>,
    file: OwnedFd,
}

impl Drop for ClockPage {
    fn drop(&mut self) {
        // SAFETY: mapped by `new` with this size, and nobody else has the pointer.
        unsafe { libc::munmap(self.words.as_ptr().cast(), SIZE) };
    }
}

// SAFETY: the mapping belongs to the process, not to the thread, and the pointer to nobody else.
unsafe impl Send for ClockPage {}

// SAFETY: all that is done through a shared reference is atomic.
unsafe impl Sync for ClockPage {}

impl AsFd for ClockPage {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

impl ClockPage {
    pub(crate) fn new() -> std::io::Result<Self> {
        use std::os::fd::AsRawFd;
        let file = memfd_create("clock", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
        ftruncate(&file, SIZE as u64)?;
        fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
        let access = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new mapping of a file of that size, anywhere.
        let at =
            unsafe { libc::mmap(std::ptr::null_mut(), SIZE, access, libc::MAP_SHARED, file.as_raw_fd(), 0) };
        let words = if at == libc::MAP_FAILED { None } else { NonNull::new(at.cast()) };
        Ok(Self { words: words.ok_or_else(std::io::Error::last_os_error)?, file })
    }

    fn word(&self, n: usize) -> &AtomicU64 {
        debug_assert!(n < 512);
        // SAFETY: within the page, aligned, and mapped as long as `self` lives.
        unsafe { &*self.words.as_ptr().add(n) }
    }

    /// Clears what a program has written to it.
    pub(crate) fn clear(&self) {
        (0..SIZE / 8).for_each(|n| self.word(n).store(0, Ordering::Relaxed));
    }

    /// Shows another time, and allows clock reads anew.
    pub(crate) fn show(&self, clock: Clock) {
        let wall = clock.wall_ns;
        let values = [wall / SECOND, wall % SECOND, clock.monotonic_ns / SECOND, clock.monotonic_ns % SECOND];
        for (n, value) in values.into_iter().enumerate() {
            self.word(n).store(value, Ordering::Relaxed);
        }
        self.word(5).store(wall % SECOND / 1000, Ordering::Relaxed);
        self.allow();
    }

    /// How many clock reads are left. It is the lower half of the fifth word: the program's code counts just that.
    fn left(&self) -> &AtomicI32 {
        // SAFETY: within the page, aligned for its type, and mapped as long as `self` lives.
        unsafe { &*self.words.as_ptr().add(4).cast::<AtomicI32>() }
    }

    /// Allows clock reads anew.
    pub(crate) fn allow(&self) {
        self.left().store(READS, Ordering::Relaxed);
    }

    /// True if there were too many clock reads.
    pub(crate) fn is_exhausted(&self) -> bool {
        self.left().load(Ordering::Relaxed) < 0
    }
}

/// The code that was overwritten in a new program.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Image {
    /// Where the code's flag lies, if the page is read.
    pub(crate) flag: Option<u64>,
}

impl Image {
    /// Sets the code's flag: the page is read from now on.
    pub(crate) fn map(self, memory: Memory) -> std::io::Result<()> {
        match self.flag {
            Some(flag) if memory.u64(PAGE).is_ok() => memory.patch(&[(flag, vec![1])]),
            _ => Ok(()),
        }
    }
}

/// A plain call: `mov eax, number; syscall; ret`.
fn plain(call: Sysno) -> Vec<u8> {
    let mut code = vec![0xb8];
    code.extend((call as u32).to_le_bytes());
    code.extend([0x0f, 0x05, 0xc3]);
    code
}

/// The vDSO of a process.
pub(crate) struct Code {
    pub(crate) range: Range<u64>,
    /// Its functions: name, place in the code, length.
    functions: Vec<(String, u64, u64)>,
}

impl Code {
    pub(crate) fn read(memory: Memory, range: Range<u64>) -> std::io::Result<Self> {
        let bytes = memory.read(range.start, (range.end - range.start) as usize)?;
        let file = ElfFile64::<object::Endianness>::parse(&*bytes).map_err(std::io::Error::other)?;
        let functions = file
            .dynamic_symbols()
            .filter_map(|symbol| Some((symbol.name().ok()?.to_owned(), symbol.address(), symbol.size())))
            .filter(|(name, ..)| name.starts_with("__vdso_"))
            .collect();
        Ok(Self { range, functions })
    }

    fn find(&self, name: &str) -> Option<(u64, u64)> {
        self.functions.iter().find(|(other, ..)| other == name).map(|&(_, at, size)| (at, size))
    }
}

/// The changes to a new program.
pub(crate) struct Overwritten {
    pub(crate) image: Image,
    /// Where its vDSO has the instruction that calls the kernel.
    pub(crate) call: Option<u64>,
}

/// The functions of the vDSO, and the calls that do the same.
const CALLS: [(&str, Sysno); 5] = [
    ("__vdso_clock_gettime", Sysno::clock_gettime),
    ("__vdso_gettimeofday", Sysno::gettimeofday),
    ("__vdso_time", Sysno::time),
    ("__vdso_clock_getres", Sysno::clock_getres),
    ("__vdso_getcpu", Sysno::getcpu),
];

/// Overwrites the code that reads the clock, and the bytes at `AT_RANDOM`, in a process before the first instruction of its program.
pub(crate) fn overwrite(
    memory: Memory,
    code: Option<&Code>,
    clock_reads: ClockReads,
    random: [u8; 16],
) -> std::io::Result<Overwritten> {
    let auxiliary = bytes_of(fs::File::open(format!("/proc/{}/auxv", memory.0))?)?;
    let value = |key: u32| {
        auxiliary.chunks_exact(16).find_map(|pair| {
            let word = |at: usize| u64::from_le_bytes(pair[at..at + 8].try_into().expect("eight bytes"));
            (word(0) == u64::from(key)).then(|| word(8))
        })
    };
    let mut patches = Vec::new();
    let mut overwritten = Overwritten { image: Image::default(), call: None };
    if let Some(code) = code {
        let start = code.range.start;
        for (name, call) in CALLS {
            patches.extend(code.find(name).map(|(at, _)| (start + at, plain(call))));
        }
        // Behind `mov eax, number`.
        overwritten.call = code.find("__vdso_time").map(|(at, _)| start + at + 5);
        // `mov rax, -ENOSYS; ret`: the C library then asks the kernel for randomness.
        let absent = vec![0x48, 0xc7, 0xc0, 0xda, 0xff, 0xff, 0xff, 0xc3];
        patches.extend(code.find("__vdso_getrandom").map(|(at, _)| (start + at, absent)));
        let (stub, clock, day) = stub();
        // A function that is overwritten anyway and has room for the code behind its own eight bytes.
        let room = CALLS
            .iter()
            .map(|(name, _)| *name)
            .chain(["__vdso_getrandom"])
            .filter_map(|name| code.find(name));
        let room = room.filter(|(_, size)| *size >= stub.len() as u64 + 32).max_by_key(|&(_, size)| size);
        if let (ClockReads::Page, Some((at, _))) = (clock_reads, room) {
            let base = (start + at + 8).next_multiple_of(16);
            let mut lead = |name: &str, target: u64| {
                let Some((at, _)) = code.find(name) else { return };
                let from = start + at;
                let mut jump = vec![0xe9];
                jump.extend((target.wrapping_sub(from + 5) as i32).to_le_bytes());
                patches.push((from, jump));
            };
            lead("__vdso_clock_gettime", base + clock);
            lead("__vdso_gettimeofday", base + day);
            patches.push((base, stub));
            overwritten.image.flag = Some(base);
        }
    }
    patches.extend(value(linux_raw_sys::auxvec::AT_RANDOM).map(|at| (at, random.to_vec())));
    if let Some(entry) = value(linux_raw_sys::auxvec::AT_ENTRY) {
        patches.extend(go::counters(memory, entry));
    }
    memory.patch(&patches)?;
    Ok(overwritten)
}
