//! The messages of a stream as one sees them who passes them on: their kinds and their ends, and little of their content.

/// A message: its kind and all its bytes.
pub(crate) struct Frame {
    pub(crate) kind: u8,
    pub(crate) bytes: Vec<u8>,
}

/// The longest message that is kept until it is complete.
const MOST: usize = 1 << 24;

/// A message that no server and no client sends.
#[derive(Debug)]
pub(crate) struct Senseless;

/// Takes a message off the front, if it is complete.
pub(crate) fn frame(input: &mut Vec<u8>) -> Result<Option<Frame>, Senseless> {
    let Some(length) = input.get(1..5) else { return Ok(None) };
    let length = u32::from_be_bytes([length[0], length[1], length[2], length[3]]) as usize;
    if !(4..=MOST).contains(&length) {
        return Err(Senseless);
    }
    if input.len() <= length {
        return Ok(None);
    }
    let bytes: Vec<u8> = input.drain(..=length).collect();
    Ok(Some(Frame { kind: bytes[0], bytes }))
}

impl Frame {
    /// The status of a session that is ready for a query: I, T or E.
    pub(crate) fn status(&self) -> Option<u8> {
        (self.kind == b'Z').then(|| self.bytes.get(5).copied()).flatten()
    }

    /// The number and the secret of a session.
    pub(crate) fn key(&self) -> Option<(i32, i32)> {
        let number = |at: usize| {
            let bytes = self.bytes.get(at..at + 4)?;
            Some(i32::from_be_bytes(bytes.try_into().ok()?))
        };
        (self.kind == b'K').then(|| Some((number(5)?, number(9)?))).flatten()
    }

    /// What follows its length.
    pub(crate) fn content(&self) -> &[u8] {
        self.bytes.get(5..).unwrap_or_default()
    }

    /// True for what a server answers by saying that it is ready.
    pub(crate) fn is_answered(&self) -> bool {
        matches!(self.kind, b'Q' | b'S')
    }
}

/// A message of this kind.
pub(crate) fn frame_of(kind: u8, parts: &[&[u8]]) -> Vec<u8> {
    [&[kind][..], &opening_of(parts)].concat()
}

/// A message without a kind, as the first ones of a connection are.
pub(crate) fn opening_of(fields: &[&[u8]]) -> Vec<u8> {
    let content = fields.concat();
    let length = u32::try_from(content.len() + 4).unwrap_or(u32::MAX);
    [&length.to_be_bytes()[..], &content].concat()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn messages_are_found_however_they_are_cut(
            contents in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 1..6),
            cut in 1..30_usize,
        ) {
            let whole: Vec<u8> = contents
                .iter()
                .flat_map(|content| {
                    let length = (content.len() as u32 + 4).to_be_bytes();
                    [&b"Q"[..], &length, content].concat()
                })
                .collect();
            let (mut input, mut found) = (Vec::new(), Vec::new());
            for part in whole.chunks(cut) {
                input.extend_from_slice(part);
                while let Some(frame) = frame(&mut input).unwrap() {
                    found.push(frame.bytes[5..].to_vec());
                }
            }
            prop_assert_eq!(found, contents);
            prop_assert!(input.is_empty());
        }
    }

    #[test]
    fn a_length_that_makes_no_sense_is_refused() {
        assert!(frame(&mut b"Q\0\0\0\x03".to_vec()).is_err());
        assert!(frame(&mut b"Q\xff\xff\xff\xff".to_vec()).is_err());
    }
}
