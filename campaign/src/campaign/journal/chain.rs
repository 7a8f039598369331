//! The checksums of a journal's lines.
//!
//! Each line ends with `"sum"`, the checksum of the line before it, its own place and its own text. So a line is bound to the
//! campaign (the first line names it) and to its place: one that was changed, moved, left out or taken from another journal does not
//! fit. It is no signature: whoever means to forge a journal can.

use xxhash_rust::xxh3::Xxh3;

/// The text before the checksum of a line.
const FIELD: &[u8] = b",\"sum\":\"";
/// The text after it.
const END: &[u8] = b"\"}";
/// A checksum is so many hexadecimal digits.
const DIGITS: usize = 32;

/// The checksums up to a line.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Chain {
    lines: u64,
    last: u128,
}

impl Chain {
    /// Adds a line, a JSON object, and returns it with its checksum.
    pub(super) fn seal(&mut self, object: &[u8]) -> Vec<u8> {
        let text = object.strip_suffix(b"}").expect("a line of a journal is an object with fields");
        self.add(text);
        let mut line = text.to_vec();
        line.extend_from_slice(FIELD);
        line.extend_from_slice(format!("{:0DIGITS$x}", self.last).as_bytes());
        line.extend_from_slice(END);
        line
    }

    /// Takes the checksum off the next line, given without its end: the JSON object that was sealed.
    ///
    /// # Errors
    /// When the line has none, or it is not that of this line at this place; in words. The chain is then as it was.
    pub(super) fn open(&mut self, line: &[u8]) -> Result<Vec<u8>, &'static str> {
        let none = "it has no checksum";
        let (text, sum) = line
            .strip_suffix(END)
            .and_then(|line| line.split_at_checked(line.len().checked_sub(DIGITS)?))
            .and_then(|(text, sum)| Some((text.strip_suffix(FIELD)?, sum)))
            .ok_or(none)?;
        let mut next = *self;
        next.add(text);
        if sum != format!("{:0DIGITS$x}", next.last).as_bytes() {
            return Err("its checksum is not that of this line at this place");
        }
        *self = next;
        Ok([text, b"}"].concat())
    }

    fn add(&mut self, text: &[u8]) {
        self.lines += 1;
        let mut sum = Xxh3::new();
        sum.update(&self.last.to_le_bytes());
        sum.update(&self.lines.to_le_bytes());
        sum.update(text);
        self.last = sum.digest128();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sealed(lines: &[&str]) -> Vec<Vec<u8>> {
        let mut chain = Chain::default();
        lines.iter().map(|line| chain.seal(line.as_bytes())).collect()
    }

    fn opened(lines: &[Vec<u8>]) -> Result<Vec<Vec<u8>>, &'static str> {
        let mut chain = Chain::default();
        lines.iter().map(|line| chain.open(line)).collect()
    }

    #[test]
    fn what_was_sealed_is_opened() {
        let lines = sealed(&[r#"{"a":1}"#, r#"{"b":[2]}"#]);
        assert_eq!(opened(&lines).unwrap(), [br#"{"a":1}"#.to_vec(), br#"{"b":[2]}"#.to_vec()]);
    }

    #[test]
    fn a_line_is_bound_to_its_place_and_to_the_lines_before() {
        let lines = sealed(&[r#"{"a":1}"#, r#"{"b":2}"#, r#"{"c":3}"#]);
        let other = sealed(&[r#"{"a":2}"#, r#"{"b":2}"#]);
        for wrong in [
            vec![lines[0].clone(), lines[2].clone(), lines[1].clone()],
            vec![lines[0].clone(), lines[2].clone()],
            vec![lines[0].clone(), lines[1].clone(), lines[1].clone()],
            vec![lines[0].clone(), other[1].clone()],
            vec![br#"{"a":1}"#.to_vec()],
            vec![Vec::new()],
        ] {
            opened(&wrong).unwrap_err();
        }
    }
}
