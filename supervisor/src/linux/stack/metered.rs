//! Debug information, read with a budget.
//!
//! A program brings its debug information along, and can make it as tangled as it likes. The budget ends each loop over it, after the
//! same reads in each run.

use std::{
    borrow::Cow,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use addr2line::gimli::{Error, LittleEndian, Reader, ReaderOffsetId, Result};

/// Bytes of debug information that are left to be read.
#[derive(Clone, Debug)]
pub(super) struct Budget(Arc<AtomicU64>);

impl Budget {
    pub(super) fn new(bytes: u64) -> Self {
        Self(Arc::new(AtomicU64::new(bytes)))
    }

    /// Takes bytes from the budget; false if there are too few.
    fn takes(&self, bytes: usize) -> bool {
        let left = self.0.load(Ordering::Relaxed);
        let rest = left.checked_sub(bytes as u64 + 1);
        self.0.store(rest.unwrap_or_default(), Ordering::Relaxed);
        rest.is_some()
    }
}

/// A part of a section.
#[derive(Clone, Debug)]
pub(super) struct Metered {
    section: Arc<[u8]>,
    start: usize,
    end: usize,
    budget: Budget,
}

impl Metered {
    pub(super) fn new(section: Arc<[u8]>, budget: Budget) -> Self {
        Self { start: 0, end: section.len(), section, budget }
    }

    fn bytes(&self) -> &[u8] {
        &self.section[self.start..self.end]
    }

    fn ended(&self) -> Error {
        Error::UnexpectedEof(self.offset_id())
    }

    /// Moves beyond bytes, for the price of as many.
    fn pass(&mut self, bytes: usize) -> Result<usize> {
        if bytes > self.len() || !self.budget.takes(bytes) {
            return Err(self.ended());
        }
        let passed = self.start;
        self.start += bytes;
        Ok(passed)
    }
}

impl Reader for Metered {
    type Endian = LittleEndian;
    type Offset = usize;

    fn endian(&self) -> LittleEndian {
        LittleEndian
    }

    fn len(&self) -> usize {
        self.end - self.start
    }

    fn empty(&mut self) {
        self.end = self.start;
    }

    fn truncate(&mut self, len: usize) -> Result<()> {
        if len > self.len() {
            return Err(self.ended());
        }
        self.end = self.start + len;
        Ok(())
    }

    fn offset_from(&self, base: &Self) -> usize {
        self.start - base.start
    }

    fn offset_id(&self) -> ReaderOffsetId {
        ReaderOffsetId(self.bytes().as_ptr() as u64)
    }

    fn lookup_offset_id(&self, id: ReaderOffsetId) -> Option<usize> {
        let offset = id.0.checked_sub(self.offset_id().0)?;
        usize::try_from(offset).ok().filter(|&offset| offset <= self.len())
    }

    fn find(&self, byte: u8) -> Result<usize> {
        let found = memchr::memchr(byte, self.bytes());
        if !self.budget.takes(found.unwrap_or(self.len())) {
            return Err(self.ended());
        }
        found.ok_or_else(|| self.ended())
    }

    fn skip(&mut self, len: usize) -> Result<()> {
        // What is skipped costs as little as one byte.
        let rest = len.saturating_sub(1);
        if len > self.len() {
            return Err(self.ended());
        }
        self.start += rest;
        self.pass(len - rest).map(drop)
    }

    fn split(&mut self, len: usize) -> Result<Self> {
        let mut part = self.clone();
        self.skip(len)?;
        part.end = self.start;
        Ok(part)
    }

    fn to_slice(&self) -> Result<Cow<'_, [u8]>> {
        Ok(self.bytes().into())
    }

    fn to_string(&self) -> Result<Cow<'_, str>> {
        std::str::from_utf8(self.bytes()).map(Cow::from).map_err(|_| Error::BadUtf8)
    }

    fn to_string_lossy(&self) -> Result<Cow<'_, str>> {
        Ok(String::from_utf8_lossy(self.bytes()))
    }

    fn read_slice(&mut self, buf: &mut [u8]) -> Result<()> {
        let start = self.pass(buf.len())?;
        buf.copy_from_slice(&self.section[start..start + buf.len()]);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reader(bytes: &[u8], budget: u64) -> Metered {
        Metered::new(bytes.into(), Budget::new(budget))
    }

    #[test]
    fn it_reads_as_the_bytes_stand() {
        let mut all = reader(b"\x01\x02\x03name\0rest", 1_000);
        assert_eq!((all.read_u8(), all.read_u16(), all.len()), (Ok(1), Ok(0x0302), 9));
        let base = all.clone();
        let name = all.read_null_terminated_slice().expect("a name");
        assert_eq!(
            (name.to_string().expect("text").into_owned(), all.offset_from(&base)),
            ("name".into(), 5)
        );
        assert_eq!(base.lookup_offset_id(all.offset_id()), Some(5));
        assert_eq!(all.lookup_offset_id(base.offset_id()), None);
        assert!(all.skip(5).is_err() && all.skip(4).is_ok() && all.read_u8().is_err());
    }

    #[test]
    fn a_budget_ends_each_reader_of_it() {
        let mut one = reader(&[0; 100], 10);
        let mut other = one.clone();
        let read = (0..100).filter(|_| one.read_u8().is_ok() && other.read_u8().is_ok()).count();
        assert_eq!((read, one.read_u8().is_err(), other.find(1).is_err()), (2, true, true));
    }
}
