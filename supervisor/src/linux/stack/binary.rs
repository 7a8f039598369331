//! A file of code: the tables that unwind its stack, and the debug information that gives its lines.
//!
//! Sections are read with a limit, and nothing is read beside them: debug information names other files, which would be opened with the
//! rights of picklock.

use std::{fs::File, ops::Range, sync::Arc};

use addr2line::{Context, LookupResult, gimli};
use object::{
    Endianness, Object as _, ObjectSection as _, ObjectSegment as _, ObjectSymbol as _, ReadCache, ReadRef,
    SymbolKind, read::elf::ElfFile64,
};

use super::{
    mapped::Opened,
    metered::{Budget, Metered},
    names::readable,
};

/// Bytes of all sections that are read of a file, unpacked.
const MOST_BYTES: u64 = 256 << 20;
/// Bytes of the lines: each becomes an entry of the memory's.
const MOST_LINES: u64 = 32 << 20;
/// Bytes of debug information that are read of a file in all.
const MOST_READ: u64 = 400_000_000;

/// The depth of the deepest entry of debug information that is read: functions within functions.
const DEEPEST: isize = 200;

/// A section: where it is, and its bytes.
pub(super) type Section = (Range<u64>, Vec<u8>);

/// A place in the source.
pub(super) struct Place {
    pub(super) function: String,
    pub(super) file: String,
    pub(super) line: u32,
}

/// A file of code.
pub(super) struct Binary {
    /// The address of its first page.
    pub(super) first: u64,
    pub(super) text: Option<Section>,
    pub(super) eh_frame: Option<Section>,
    pub(super) debug_frame: Option<Section>,
    /// Where its functions begin, in order.
    functions: Vec<u64>,
    lines: Option<Context<Metered>>,
}

impl Binary {
    /// Reads a file; none for one that is no program or too large.
    pub(super) fn read(opened: Opened) -> Option<Binary> {
        let cache = ReadCache::new(opened.file);
        let file = ElfFile64::<Endianness, &ReadCache<File>>::parse(&cache).ok()?;
        let first = file.segments().map(|segment| segment.address() & !0xfff).min()?;
        let mut left = MOST_BYTES;
        let mut section = |name: &str| section(&file, name, &mut left);
        let (text, debug_frame) = (section(".text"), section(".debug_frame"));
        let eh_frame = section(".eh_frame");
        let budget = Budget::new(MOST_READ);
        let mut load = |id: gimli::SectionId| {
            let found = section(id.name())
                .filter(|(_, bytes)| id != gimli::SectionId::DebugLine || bytes.len() as u64 <= MOST_LINES);
            let bytes: Arc<[u8]> = found.map_or_else(Vec::new, |(_, bytes)| bytes).into();
            Ok::<_, gimli::Error>(Metered::new(bytes, budget.clone()))
        };
        let dwarf = gimli::Dwarf::load(&mut load).ok().filter(|dwarf| check_depth(dwarf).is_ok());
        let lines = dwarf.and_then(|dwarf| Context::from_dwarf(dwarf).ok());
        let mut functions: Vec<u64> = file
            .symbols()
            .chain(file.dynamic_symbols())
            .filter(|symbol| symbol.kind() == SymbolKind::Text && symbol.is_definition())
            .map(|symbol| symbol.address())
            .collect();
        functions.sort_unstable();
        Some(Binary { first, text, eh_frame, debug_frame, functions, lines })
    }

    /// Where the function begins that has this address.
    pub(super) fn function(&self, address: u64) -> Option<u64> {
        let after = self.functions.partition_point(|&start| start <= address);
        self.functions.get(after.checked_sub(1)?).copied()
    }

    /// The places of an address, those that were inlined first.
    pub(super) fn places(&self, address: u64) -> Vec<Place> {
        let Some(lines) = &self.lines else { return Vec::new() };
        let Ok(mut frames) = LookupResult::skip_all_loads(lines.find_frames(address)) else {
            return Vec::new();
        };
        let mut places = Vec::new();
        while let Ok(Some(frame)) = frames.next() {
            let (Some(function), Some(location)) = (&frame.function, &frame.location) else { continue };
            let (Some(file), Some(line)) = (location.file, location.line) else { continue };
            let function = function.raw_name().map_or_else(|_| String::new(), |name| readable(&name));
            places.push(Place { function, file: file.to_owned(), line });
        }
        places
    }
}

/// Looks whether debug information is no deeper than functions are: its reader descends step by step.
///
/// # Errors
/// If it is deeper, or cannot be read.
fn check_depth(dwarf: &gimli::Dwarf<Metered>) -> gimli::Result<()> {
    let mut units = dwarf.units();
    while let Some(header) = units.next()? {
        let abbreviations = dwarf.abbreviations(&header)?;
        let mut entries = header.entries_raw(&abbreviations, None)?;
        while !entries.is_empty() {
            if entries.next_depth() > DEEPEST {
                return Err(gimli::Error::TooManyIterations);
            }
            if let Some(abbreviation) = entries.read_abbreviation()? {
                entries.skip_attributes(abbreviation.attributes())?;
            }
        }
    }
    Ok(())
}

/// A section of a file, unpacked, if it is there and no larger than what is `left`.
fn section<'a, R: ReadRef<'a>>(
    file: &ElfFile64<'a, Endianness, R>,
    name: &str,
    left: &mut u64,
) -> Option<Section> {
    let section = file.section_by_name(name)?;
    let size = section.compressed_file_range().ok()?.uncompressed_size;
    *left = left.checked_sub(size)?;
    let bytes = section.uncompressed_data().ok()?.into_owned();
    Some((section.address()..section.address().saturating_add(size), bytes))
}
