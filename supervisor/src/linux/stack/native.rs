//! The stacks of compiled programs: unwound by their tables of call frames, and named by their debug information.

use std::collections::BTreeMap;
use std::fs;
use std::ops::Range;

use addr2line::Loader;
use framehop::x86_64::{CacheX86_64, UnwindRegsX86_64, UnwinderX86_64};
use framehop::{ExplicitModuleSectionInfo, FrameAddress, Module, Unwinder as _};
use object::{Object as _, ObjectSection as _, ObjectSegment as _};

use crate::Frame;
use crate::linux::memory::Memory;

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
    /// What is added to an address in the file.
    shift: u64,
    loader: Option<Loader>,
}

impl Native {
    /// The reader of a process with these mappings.
    pub(super) fn of(pid: u32, maps: &str) -> Native {
        let mut ranges: BTreeMap<&str, Range<u64>> = BTreeMap::new();
        for (range, path) in maps.lines().filter_map(mapping) {
            let whole = ranges.entry(path).or_insert_with(|| range.clone());
            *whole = whole.start.min(range.start)..whole.end.max(range.end);
        }
        let mut native =
            Native { pid, unwinder: UnwinderX86_64::new(), cache: CacheX86_64::new(), files: Vec::new() };
        ranges.into_iter().for_each(|(path, range)| native.add(path, range));
        native
    }

    /// Adds a file; one that is no program, or cannot be read, is left out.
    fn add(&mut self, path: &str, addresses: Range<u64>) {
        let place = format!("/proc/{}/root{path}", self.pid);
        let Ok(bytes) = fs::read(&place) else { return };
        let Ok(file) = object::File::parse(&*bytes) else { return };
        let Some(first) = file.segments().map(|segment| segment.address() & !0xfff).min() else { return };
        let section = |name: &str| {
            let section = file.section_by_name(name)?;
            let bytes = section.uncompressed_data().ok()?.into_owned();
            Some((section.address()..section.address() + section.size(), bytes))
        };
        let ((text_svma, text), (eh_frame_svma, eh_frame)) =
            (split(section(".text")), split(section(".eh_frame")));
        let (eh_frame_hdr_svma, eh_frame_hdr) = split(section(".eh_frame_hdr"));
        let sections = ExplicitModuleSectionInfo {
            base_svma: first,
            text_svma,
            text,
            eh_frame_svma,
            eh_frame,
            eh_frame_hdr_svma,
            eh_frame_hdr,
            debug_frame: section(".debug_frame").map(|(_, bytes)| bytes),
            ..ExplicitModuleSectionInfo::default()
        };
        let base = addresses.start;
        self.unwinder.add_module(Module::new(path.to_owned(), addresses.clone(), base, sections));
        self.files.push(Mapped {
            path: path.to_owned(),
            addresses,
            shift: base.wrapping_sub(first),
            loader: Loader::new(&place).ok(),
        });
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

    /// The frame pointer within a function that sets it, by how far its first instructions move the stack.
    fn frame_pointer(&self, address: u64, stack: u64) -> Option<u64> {
        let mapped = self.mapped(address)?;
        let function =
            mapped.loader.as_ref()?.find_symbol_info(address.wrapping_sub(mapped.shift))?.address();
        let code = Memory(self.pid).read(function.wrapping_add(mapped.shift), PROLOGUE).ok()?;
        Some(stack + moved_by(&code)?)
    }

    fn mapped(&self, address: u64) -> Option<&Mapped> {
        self.files.iter().find(|mapped| mapped.addresses.contains(&address))
    }

    /// The functions at an address, those that were inlined first.
    fn frames(&self, address: u64) -> Vec<Frame> {
        let Some(mapped) = self.mapped(address) else { return Vec::new() };
        let Some(loader) = &mapped.loader else { return Vec::new() };
        let Ok(mut found) = loader.find_frames(address.wrapping_sub(mapped.shift)) else { return Vec::new() };
        let mut frames = Vec::new();
        while let Ok(Some(frame)) = found.next() {
            let (Some(function), Some(location)) = (&frame.function, &frame.location) else { continue };
            let (Some(file), Some(line)) = (location.file, location.line) else { continue };
            let function = function.demangle().map_or_else(|_| String::new(), |name| name.into_owned());
            let function = without_hash(&function).to_owned();
            let library = is_library(file) || mapped.path.contains("/lib/");
            frames.push(Frame { library, function, file: file.to_owned(), line, text: None });
        }
        frames
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

/// The range of a mapping of a file, and its path.
fn mapping(line: &str) -> Option<(Range<u64>, &str)> {
    let path = &line[line.find('/')?..];
    let (start, end) = line.split_whitespace().next()?.split_once('-')?;
    Some((u64::from_str_radix(start, 16).ok()?..u64::from_str_radix(end, 16).ok()?, path))
}

/// The top of a thread's stack, and the address behind the call that it makes.
fn place_of(tid: u32) -> Option<(u64, u64)> {
    let call = fs::read_to_string(format!("/proc/{tid}/syscall")).ok()?;
    let mut last = call.split_whitespace().rev();
    let mut word = || u64::from_str_radix(last.next()?.strip_prefix("0x")?, 16).ok();
    let (at, stack) = (word()?, word()?);
    Some((stack, at))
}

/// A function of Rust without the hash at its end.
fn without_hash(function: &str) -> &str {
    match function.rsplit_once("::h") {
        Some((name, hash)) if hash.len() == 16 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()) => name,
        _ => function,
    }
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
    is_gos_own || file == "<autogenerated>" || folders.iter().any(|folder| file.contains(folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mapping_has_a_range_and_a_path() {
        let line = "55d0c0000000-55d0c0001000 r-xp 00001000 fe:01 1311 /usr/bin/a name";
        assert_eq!(mapping(line), Some((0x55d0_c000_0000..0x55d0_c000_1000, "/usr/bin/a name")));
        assert_eq!(mapping("7ffc0000-7ffd0000 rw-p 00000000 00:00 0 [stack]"), None);
    }

    #[test]
    fn files_of_libraries_are_known_by_their_folder() {
        assert!(is_library("/root/.cargo/registry/src/index/redis-1.0.0/src/client.rs"));
        assert!(is_library("/usr/local/go/src/net/net.go"));
        assert!(is_library("net/net.go"));
        assert!(is_library("<autogenerated>"));
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

    #[test]
    fn a_function_of_rust_has_no_hash() {
        assert_eq!(without_hash("lock::release::h0123456789abcdef"), "lock::release");
        assert_eq!(without_hash("lock::hold"), "lock::hold");
    }
}
