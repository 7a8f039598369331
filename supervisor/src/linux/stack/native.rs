//! The stacks of compiled programs: unwound by their tables of call frames, and named by their debug information.

use std::collections::BTreeMap;
use std::ops::Range;

use framehop::x86_64::{CacheX86_64, UnwindRegsX86_64, UnwinderX86_64};
use framehop::{ExplicitModuleSectionInfo, FrameAddress, Module, Unwinder as _};

use super::{
    binary::{Binary, Section},
    mapped::{self, mapping},
    rules,
};
use crate::Frame;
use crate::linux::kernel::memory::Memory;
use crate::linux::kernel::text::text_of;

/// No stack is followed beyond so many frames.
const DEEPEST: usize = 256;

/// So many bytes at the start of a function show how it sets its frame up.
const PROLOGUE: usize = 48;

/// A process of a compiled program.
pub(super) struct Native {
    pid: u32,
    unwinder: UnwinderX86_64<Vec<u8>>,
    cache: CacheX86_64,
    files: Vec<Mapped>,
}

/// A file that is mapped as code.
struct Mapped {
    path: String,
    addresses: Range<u64>,
    content: Content,
}

/// The content of a mapped file.
enum Content {
    /// No stack led there so far.
    Unread,
    Code {
        binary: Box<Binary>,
        /// The difference between an address in memory and in the file.
        shift: u64,
    },
    /// It is no program, or cannot be read.
    Other,
}

impl Native {
    /// The reader of a process with these mappings.
    pub(super) fn of(pid: u32, maps: &str) -> Native {
        let mut ranges: BTreeMap<&str, Range<u64>> = BTreeMap::new();
        for (range, path) in maps.lines().filter_map(mapping) {
            let whole = ranges.entry(path).or_insert_with(|| range.clone());
            *whole = whole.start.min(range.start)..whole.end.max(range.end);
        }
        let files = ranges.into_iter().map(|(path, addresses)| Mapped {
            path: path.to_owned(),
            addresses,
            content: Content::Unread,
        });
        Native { pid, unwinder: UnwinderX86_64::new(), cache: CacheX86_64::new(), files: files.collect() }
    }

    pub(super) fn read(&mut self, tid: u32) -> Vec<Frame> {
        let Some((stack, at)) = place_of(tid) else { return Vec::new() };
        // The call keeps all registers, and does not say what is in them: zero stands for a frame pointer that is not known.
        let mut registers = UnwindRegsX86_64::new(at, stack, 0);
        let (mut place, mut addresses) = (FrameAddress::InstructionPointer(at), Vec::new());
        while addresses.len() < DEEPEST {
            // Of a caller it is the call, not what follows it.
            let address = place.address_for_lookup();
            addresses.push(address);
            self.load(address);
            if registers.bp() == 0 {
                registers.set_bp(self.frame_pointer(address, registers.sp()).unwrap_or(0));
            }
            let memory = Memory(self.pid);
            let mut word = |address| memory.u64(address).map_err(|_| ());
            let caller = self.unwinder.unwind_frame(place, &mut registers, &mut self.cache, &mut word);
            let Some(caller) = caller.ok().flatten().and_then(FrameAddress::from_return_address) else {
                break;
            };
            place = caller;
        }
        addresses.into_iter().flat_map(|address| self.frames(address)).collect()
    }

    /// Reads the file that an address belongs to, if it was not read yet.
    fn load(&mut self, address: u64) {
        let is_here = |mapped: &&mut Mapped| mapped.addresses.contains(&address);
        let Some(mapped) = self.files.iter_mut().find(is_here) else { return };
        if !matches!(mapped.content, Content::Unread) {
            return;
        }
        mapped.content = Content::Other;
        let Some(mut binary) = mapped::mapped(self.pid, &mapped.path).and_then(Binary::read) else { return };
        let base = mapped.addresses.start;
        let module = Module::new(mapped.path.clone(), mapped.addresses.clone(), base, tables(&mut binary));
        self.unwinder.add_module(module);
        let shift = base.wrapping_sub(binary.first);
        mapped.content = Content::Code { binary: Box::new(binary), shift };
    }

    /// The file of code that an address belongs to, and the address in it.
    fn code(&self, address: u64) -> Option<(&Mapped, &Binary, u64)> {
        let mapped = self.files.iter().find(|mapped| mapped.addresses.contains(&address))?;
        match &mapped.content {
            Content::Code { binary, shift } => Some((mapped, binary, address.wrapping_sub(*shift))),
            Content::Unread | Content::Other => None,
        }
    }

    /// The frame pointer within a function that sets it, by how far its first instructions move the stack.
    fn frame_pointer(&self, address: u64, stack: u64) -> Option<u64> {
        let (_, binary, inside) = self.code(address)?;
        let start = address.wrapping_sub(inside.checked_sub(binary.function(inside)?)?);
        let code = Memory(self.pid).read(start, PROLOGUE).ok()?;
        stack.checked_add(moved_by(&code)?)
    }

    /// The functions at an address, those that were inlined first.
    fn frames(&self, address: u64) -> Vec<Frame> {
        let Some((mapped, binary, inside)) = self.code(address) else { return Vec::new() };
        let frame = |place: super::binary::Place| {
            let library = is_library(&place.file) || mapped.path.contains("/lib/");
            Frame { library, function: place.function, file: place.file, line: place.line, text: None }
        };
        binary.places(inside).into_iter().map(frame).collect()
    }
}

/// The tables of a file that unwind its stack. An index of them is made from the entries: the one in the file may lead to others.
fn tables(binary: &mut Binary) -> ExplicitModuleSectionInfo<Vec<u8>> {
    let (text_svma, text) = split(binary.text.take());
    let ends = |section: &Section| rules::eh_frame_ends(&section.1);
    let (eh_frame_svma, eh_frame) = split(binary.eh_frame.take().filter(ends));
    let debug_frame = binary.debug_frame.take().map(|(_, bytes)| bytes);
    ExplicitModuleSectionInfo {
        base_svma: binary.first,
        text_svma,
        text,
        eh_frame_svma,
        eh_frame,
        debug_frame: debug_frame.filter(|bytes| rules::debug_frame_ends(bytes)),
        ..ExplicitModuleSectionInfo::default()
    }
}

/// How far a function that sets the frame pointer moves the stack below it, by its first instructions; none if it does not set it,
/// or moves the stack in another way.
fn moved_by(code: &[u8]) -> Option<u64> {
    let code = code.strip_prefix(&[0xf3, 0x0f, 0x1e, 0xfa]).unwrap_or(code); // endbr64
    let mut code = code.strip_prefix(&[0x55, 0x48, 0x89, 0xe5])?; // push rbp; mov rbp, rsp
    let mut moved = 0;
    loop {
        code = match code {
            [0x50..=0x57, rest @ ..] | [0x41, 0x50..=0x57, rest @ ..] => rest, // push
            [0x48, 0x83, 0xec, by, ..] => return Some(moved + u64::from(*by)), // sub rsp
            [0x48, 0x81, 0xec, a, b, c, d, ..] => {
                return Some(moved + u64::from(u32::from_le_bytes([*a, *b, *c, *d])));
            }
            [0x49, 0x89, 0xe3, ..] => return None, // it probes a large frame, page by page
            _ => return Some(moved),
        };
        moved += 8;
    }
}

fn split<A, B>(pair: Option<(A, B)>) -> (Option<A>, Option<B>) {
    pair.map_or((None, None), |(one, other)| (Some(one), Some(other)))
}

/// The top of a thread's stack, and the address behind the call that it makes.
fn place_of(tid: u32) -> Option<(u64, u64)> {
    let call = text_of(format!("/proc/{tid}/syscall")).ok()?;
    let mut last = call.split_whitespace().rev();
    let mut word = || u64::from_str_radix(last.next()?.strip_prefix("0x")?, 16).ok();
    let (at, stack) = (word()?, word()?);
    Some((stack, at))
}

/// True if a source file belongs to a library, or to the language itself.
fn is_library(file: &str) -> bool {
    let folders = [
        "/.cargo/registry/",
        "/.cargo/git/",
        "/rustc/",
        "/rustlib/",
        "/pkg/mod/",
        "/vendor/",
        "/go/src/",
        "/lib/go-",
    ];
    // Go leaves the folder of its own files away where it is asked to keep paths out.
    let is_gos_own = file.ends_with(".go") && !file.starts_with('/');
    // Methods that its compiler makes have no line of anybody.
    is_gos_own || file.ends_with("<autogenerated>") || folders.iter().any(|folder| file.contains(folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_libraries_are_known_by_their_folder() {
        assert!(is_library("/root/.cargo/registry/src/index/redis-1.0.0/src/client.rs"));
        assert!(is_library("/usr/local/go/src/net/net.go"));
        assert!(is_library("net/net.go"));
        assert!(is_library("<autogenerated>"));
        assert!(is_library("/work/adapter/<autogenerated>"), "below the folder of the unit");
        assert!(!is_library("/home/me/lock/main.go"));
        assert!(!is_library("src/main.rs"));
    }

    #[test]
    fn the_first_instructions_show_how_far_the_stack_moves() {
        let (frame, push_r15, push_rbx) = ([0x55, 0x48, 0x89, 0xe5], [0x41, 0x57], [0x53]);
        let pushes = [&frame[..], &push_r15, &push_rbx].concat();
        assert_eq!(moved_by(&[&pushes[..], &[0x48, 0x83, 0xec, 0x18]].concat()), Some(16 + 0x18));
        assert_eq!(moved_by(&[&pushes[..], &[0x48, 0x81, 0xec, 0, 1, 0, 0]].concat()), Some(16 + 0x100));
        assert_eq!(moved_by(&[&pushes[..], &[0x31, 0xc0]].concat()), Some(16));
        assert_eq!(moved_by(&[0x48, 0x83, 0xec, 0x18]), None, "it sets no frame pointer");
    }
}
