//! Lua's patterns, with a count of the steps (`lstrlib.c` of Lua 5.1.5).
//!
//! The functions are those of the C library under their names there. Left out: a pattern with more than 1,000 repetitions in a row
//! is "too complex", as from Lua 5.2 on. In 5.1 it overflows the stack of the server.

use super::call::Call;
use crate::server::lua::meter::spend;

/// The maximum number of captures of a pattern.
const CAPTURES_MAX: usize = 32;
/// The maximum number of repetitions and captures that wait for the rest of the pattern.
const DEPTH_MAX: u32 = 1_000;
/// The number of steps after which they are counted as work.
const STEPS: u32 = 1_000;

/// The end of a capture.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Len {
    /// It has none yet.
    Unfinished,
    /// It is a place, `()`.
    Position,
    Bytes(usize),
}

#[derive(Clone, Copy)]
struct Capture {
    init: usize,
    len: Len,
}

/// A capture as a value.
pub(super) enum Captured<'a> {
    Text(&'a [u8]),
    Position(usize),
}

/// The state of a match.
pub(super) struct Matcher<'a> {
    call: &'a Call<'a>,
    src: &'a [u8],
    pattern: &'a [u8],
    captures: [Capture; CAPTURES_MAX],
    level: usize,
    depth: u32,
    steps: u32,
}

type Found = mlua::Result<Option<usize>>;

impl<'a> Matcher<'a> {
    /// A pattern ends at its first zero byte.
    pub(super) fn new(call: &'a Call<'a>, src: &'a [u8], pattern: &'a [u8]) -> Matcher<'a> {
        let captures = [Capture { init: 0, len: Len::Unfinished }; CAPTURES_MAX];
        Matcher { call, src, pattern: until_zero(pattern), captures, level: 0, depth: 0, steps: 0 }
    }

    /// The end of what fits the pattern from there on.
    pub(super) fn fits(&mut self, s: usize) -> Found {
        (self.level, self.depth) = (0, 0);
        let end = self.do_match(s, 0);
        self.pay()?;
        end
    }

    /// Counts the steps so far as work.
    fn pay(&mut self) -> mlua::Result<()> {
        spend(self.call.lua, u64::from(std::mem::take(&mut self.steps)))
    }

    fn step(&mut self) -> mlua::Result<()> {
        self.steps += 1;
        if self.steps >= STEPS { self.pay() } else { Ok(()) }
    }

    /// The byte of the pattern there; zero at its end.
    fn at(&self, p: usize) -> u8 {
        self.pattern.get(p).copied().unwrap_or(0)
    }

    fn do_match(&mut self, s: usize, p: usize) -> Found {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(self.call.error("pattern too complex"));
        }
        let end = self.matched(s, p);
        self.depth -= 1;
        end
    }

    fn matched(&mut self, mut s: usize, mut p: usize) -> Found {
        loop {
            self.step()?;
            match (self.at(p), self.at(p + 1)) {
                (b'(', b')') => return self.start_capture(s, p + 2, Len::Position),
                (b'(', _) => return self.start_capture(s, p + 1, Len::Unfinished),
                (b')', _) => return self.end_capture(s, p + 1),
                (b'%', b'b') => match self.match_balance(s, p + 2)? {
                    Some(end) => (s, p) = (end, p + 4),
                    None => return Ok(None),
                },
                (b'%', b'f') => match self.match_frontier(s, p + 2)? {
                    Some(end) => p = end,
                    None => return Ok(None),
                },
                (b'%', digit) if digit.is_ascii_digit() => match self.match_capture(s, digit)? {
                    Some(end) => (s, p) = (end, p + 2),
                    None => return Ok(None),
                },
                (0, _) => return Ok(Some(s)),
                (b'$', 0) => return Ok((s == self.src.len()).then_some(s)),
                _ => {
                    let end = self.class_end(p)?;
                    let fits = self.single_match(s, p, end);
                    match self.at(end) {
                        b'?' => {
                            if fits && let Some(found) = self.do_match(s + 1, end + 1)? {
                                return Ok(Some(found));
                            }
                            p = end + 1;
                        }
                        b'*' => return self.max_expand(s, p, end),
                        b'+' if fits => return self.max_expand(s + 1, p, end),
                        b'+' => return Ok(None),
                        b'-' => return self.min_expand(s, p, end),
                        _ if fits => (s, p) = (s + 1, end),
                        _ => return Ok(None),
                    }
                }
            }
        }
    }

    fn class_end(&self, p: usize) -> mlua::Result<usize> {
        let mut end = p + 1;
        match self.at(p) {
            b'%' if self.at(end) == 0 => {
                return Err(self.call.error("malformed pattern (ends with '%')"));
            }
            b'%' => end += 1,
            b'[' => {
                if self.at(end) == b'^' {
                    end += 1;
                }
                loop {
                    let byte = self.at(end);
                    if byte == 0 {
                        return Err(self.call.error("malformed pattern (missing ']')"));
                    }
                    end += 1;
                    if byte == b'%' && self.at(end) != 0 {
                        end += 1;
                    }
                    if self.at(end) == b']' {
                        return Ok(end + 1);
                    }
                }
            }
            _ => {}
        }
        Ok(end)
    }

    fn single_match(&mut self, s: usize, p: usize, end: usize) -> bool {
        let Some(byte) = self.src.get(s).copied() else { return false };
        match self.at(p) {
            b'.' => true,
            b'%' => is_of_class(byte, self.at(p + 1)),
            b'[' => {
                self.steps += u32::try_from(end - p).unwrap_or(u32::MAX) / 4;
                self.is_in_set(byte, p, end - 1)
            }
            plain => plain == byte,
        }
    }

    /// `[...]` from its first byte to its last.
    fn is_in_set(&self, byte: u8, mut p: usize, last: usize) -> bool {
        let mut sign = true;
        if self.at(p + 1) == b'^' {
            sign = false;
            p += 1;
        }
        p += 1;
        while p < last {
            if self.at(p) == b'%' {
                p += 1;
                if is_of_class(byte, self.at(p)) {
                    return sign;
                }
            } else if self.at(p + 1) == b'-' && p + 2 < last {
                p += 2;
                if (self.at(p - 2)..=self.at(p)).contains(&byte) {
                    return sign;
                }
            } else if self.at(p) == byte {
                return sign;
            }
            p += 1;
        }
        !sign
    }

    fn match_balance(&mut self, s: usize, p: usize) -> Found {
        let (begin, end) = (self.at(p), self.at(p + 1));
        if begin == 0 || end == 0 {
            return Err(self.call.error("unbalanced pattern"));
        }
        if self.src.get(s) != Some(&begin) {
            return Ok(None);
        }
        let mut open = 1;
        for at in s + 1..self.src.len() {
            self.step()?;
            if self.src[at] == end {
                open -= 1;
                if open == 0 {
                    return Ok(Some(at + 1));
                }
            } else if self.src[at] == begin {
                open += 1;
            }
        }
        Ok(None)
    }

    /// The place in the pattern behind a frontier that is there.
    fn match_frontier(&mut self, s: usize, p: usize) -> Found {
        if self.at(p) != b'[' {
            return Err(self.call.error("missing '[' after '%f' in pattern"));
        }
        let end = self.class_end(p)?;
        let previous = s.checked_sub(1).map_or(0, |before| self.src[before]);
        let next = self.src.get(s).copied().unwrap_or(0);
        let is_there = !self.is_in_set(previous, p, end - 1) && self.is_in_set(next, p, end - 1);
        Ok(is_there.then_some(end))
    }

    fn max_expand(&mut self, s: usize, p: usize, end: usize) -> Found {
        let mut count = 0;
        while self.single_match(s + count, p, end) {
            self.step()?;
            count += 1;
        }
        loop {
            if let Some(found) = self.do_match(s + count, end + 1)? {
                return Ok(Some(found));
            }
            match count.checked_sub(1) {
                Some(fewer) => count = fewer,
                None => return Ok(None),
            }
        }
    }

    fn min_expand(&mut self, mut s: usize, p: usize, end: usize) -> Found {
        loop {
            if let Some(found) = self.do_match(s, end + 1)? {
                return Ok(Some(found));
            }
            if !self.single_match(s, p, end) {
                return Ok(None);
            }
            s += 1;
        }
    }

    fn start_capture(&mut self, s: usize, p: usize, len: Len) -> Found {
        let level = self.level;
        if level >= CAPTURES_MAX {
            return Err(self.call.error("too many captures"));
        }
        self.captures[level] = Capture { init: s, len };
        self.level = level + 1;
        let found = self.do_match(s, p)?;
        if found.is_none() {
            self.level -= 1;
        }
        Ok(found)
    }

    fn end_capture(&mut self, s: usize, p: usize) -> Found {
        let open = self.captures[..self.level].iter().rposition(|one| one.len == Len::Unfinished);
        let open = open.ok_or_else(|| self.call.error("invalid pattern capture"))?;
        self.captures[open].len = Len::Bytes(s - self.captures[open].init);
        let found = self.do_match(s, p)?;
        if found.is_none() {
            self.captures[open].len = Len::Unfinished;
        }
        Ok(found)
    }

    fn match_capture(&mut self, s: usize, digit: u8) -> Found {
        let capture = usize::from(digit).checked_sub(usize::from(b'1'));
        let capture = capture.filter(|nth| *nth < self.level).map(|nth| self.captures[nth]);
        let capture = capture.filter(|capture| capture.len != Len::Unfinished);
        let Capture { init, len } = capture.ok_or_else(|| self.call.error("invalid capture index"))?;
        let Len::Bytes(len) = len else { return Ok(None) };
        self.steps += u32::try_from(len).unwrap_or(u32::MAX) / 16;
        Ok(self.src[s..].starts_with(&self.src[init..init + len]).then_some(s + len))
    }

    /// The capture of this number, from 0 on; the whole match where the pattern has none.
    pub(super) fn capture(&self, nth: usize, s: usize, end: usize) -> mlua::Result<Captured<'a>> {
        if nth >= self.level {
            return match nth {
                0 => Ok(Captured::Text(&self.src[s..end])),
                _ => Err(self.call.error("invalid capture index")),
            };
        }
        let Capture { init, len } = self.captures[nth];
        match len {
            Len::Unfinished => Err(self.call.error("unfinished capture")),
            Len::Position => Ok(Captured::Position(init + 1)),
            Len::Bytes(len) => Ok(Captured::Text(&self.src[init..init + len])),
        }
    }

    pub(super) fn source(&self) -> &'a [u8] {
        self.src
    }

    /// The number of captures of a match, or of the whole match where the pattern has none.
    pub(super) fn count(&self, whole: bool) -> usize {
        if self.level == 0 && whole { 1 } else { self.level }
    }
}

/// A text of C in these bytes.
pub(super) fn until_zero(bytes: &[u8]) -> &[u8] {
    let end = memchr::memchr(0, bytes).unwrap_or(bytes.len());
    &bytes[..end]
}

/// The classes of C in its own locale.
fn is_of_class(byte: u8, class: u8) -> bool {
    let is = match class.to_ascii_lowercase() {
        b'a' => byte.is_ascii_alphabetic(),
        b'c' => byte.is_ascii_control(),
        b'd' => byte.is_ascii_digit(),
        b'l' => byte.is_ascii_lowercase(),
        b'p' => byte.is_ascii_punctuation(),
        b's' => byte == b' ' || (b'\t'..=b'\r').contains(&byte),
        b'u' => byte.is_ascii_uppercase(),
        b'w' => byte.is_ascii_alphanumeric(),
        b'x' => byte.is_ascii_hexdigit(),
        b'z' => byte == 0,
        _ => return class == byte,
    };
    is == class.is_ascii_lowercase()
}
