//! The check of an interpreter's file: py-spy's crate copies the name of each symbol, so that there must be few and short ones.

use std::fs::File;

use object::{
    Endianness, ReadCache, ReadRef,
    elf::{DT_STRSZ, DT_STRTAB, PT_LOAD},
    read::elf::{Dyn as _, ElfFile64, FileHeader as _, ProgramHeader as _, SectionHeader as _},
};

use super::mapped::{self, Opened, mapping};

/// Bytes of the largest file.
const MOST_BYTES: u64 = 256 << 20;
/// Bytes of the longest name of a symbol.
const LONGEST_NAME: usize = 1 << 10;
/// Bytes of a table of names.
const MOST_NAMES: u64 = 16 << 20;
/// Bytes of a table of symbols, each of which has 24.
const MOST_SYMBOLS: u64 = 8 << 20;

/// True if the program of a process, and the library of its interpreter, are ordinary files.
pub(super) fn is_ordinary(process: u32, maps: &str) -> bool {
    let libraries = maps.lines().filter_map(mapping).map(|(_, path)| path);
    let mut libraries: Vec<&str> = libraries.filter(|path| path.contains("/libpython")).collect();
    libraries.dedup();
    let is_small = |opened: Option<Opened>| opened.is_some_and(|opened| has_short_names(opened).is_some());
    is_small(mapped::program(process)) && libraries.iter().all(|path| is_small(mapped::mapped(process, path)))
}

fn has_short_names(opened: Opened) -> Option<()> {
    if opened.bytes > MOST_BYTES {
        return None;
    }
    let data = &ReadCache::new(opened.file);
    let file = ElfFile64::<Endianness, &ReadCache<File>>::parse(data).ok()?;
    let (header, endian) = (file.elf_header(), file.endian());
    let segments = header.program_headers(endian, data).ok()?;
    let mut tables = Vec::new();
    for section in header.section_headers(endian, data).ok()? {
        let (kind, size) = (section.sh_type(endian), section.sh_size(endian));
        let is_names = kind == object::elf::SHT_STRTAB;
        if is_names {
            tables.push((section.sh_offset(endian), size));
        } else if matches!(kind, object::elf::SHT_SYMTAB | object::elf::SHT_DYNSYM) && size > MOST_SYMBOLS {
            return None;
        }
    }
    for segment in segments {
        let Some(entries) = segment.dynamic(endian, data).ok()? else { continue };
        let value = |tag| {
            let entry = entries.iter().find(|entry| entry.d_tag(endian) == tag)?;
            Some(entry.d_val(endian))
        };
        let (Some(address), Some(size)) = (value(DT_STRTAB), value(DT_STRSZ)) else { continue };
        let loaded = segments.iter().filter(|segment| segment.p_type(endian) == PT_LOAD);
        let place = |segment: &object::elf::ProgramHeader64<Endianness>| {
            let inside = address.checked_sub(segment.p_vaddr(endian))?;
            (inside < segment.p_filesz(endian)).then(|| segment.p_offset(endian).checked_add(inside))?
        };
        tables.extend(loaded.filter_map(place).map(|offset| (offset, size)));
    }
    tables.into_iter().all(|(offset, size)| is_short(data, offset, size)).then_some(())
}

/// True if a table of names is small, and each name short.
fn is_short(data: &ReadCache<File>, offset: u64, size: u64) -> bool {
    size <= MOST_NAMES
        && data.read_bytes_at(offset, size).is_ok_and(|bytes| {
            let mut names = bytes.split(|&byte| byte == 0);
            names.all(|name| name.len() <= LONGEST_NAME)
        })
}
