//! One direction of a connection of HTTP/2, as far as gRPC needs it (RFC 9113): headers, data and the end of streams.
//!
//! Frames of connections (settings, pings, windows) are passed over. After bytes that make no sense, or a frame that is longer than any of
//! a lock, nothing more can be read: the table of header fields would be another one than that of the sender.

use loona_hpack::Decoder;

/// The longest frame that is read. A sender may use 16 KiB unless the receiver allows more.
const LONGEST_FRAME: usize = 1 << 20;

/// The longest block of header fields that is read.
const LONGEST_BLOCK: usize = 1 << 16;

/// The largest table of header fields that a sender may ask for. It is 4 KiB unless the receiver allows more.
const LARGEST_TABLE: usize = 1 << 16;

const HEAD: usize = 9;

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const PUSH_PROMISE: u8 = 5;
const CONTINUATION: u8 = 9;

const END_STREAM: u8 = 0x1;
const END_HEADERS: u8 = 0x4;
const PADDED: u8 = 0x8;
const PRIORITY: u8 = 0x20;

/// A part of a stream.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) stream: u32,
    pub(super) content: Content,
    /// True if nothing follows in this direction.
    pub(super) is_last: bool,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Content {
    Fields(Vec<(String, String)>),
    Data(Vec<u8>),
    Reset,
}

/// The reader of one direction.
pub(super) struct Frames {
    /// The beginning of a frame of which the rest is missing.
    begun: Vec<u8>,
    block: Option<Block>,
    fields: Decoder<'static>,
    is_lost: bool,
}

/// Header fields whose rest is in the next frame.
struct Block {
    stream: u32,
    is_last: bool,
    bytes: Vec<u8>,
}

/// A whole frame.
struct Frame<'b> {
    kind: u8,
    flags: u8,
    stream: u32,
    payload: &'b [u8],
}

impl Default for Frames {
    fn default() -> Frames {
        let mut fields = Decoder::new();
        fields.set_max_allowed_table_size(LARGEST_TABLE);
        Frames { begun: Vec::new(), block: None, fields, is_lost: false }
    }
}

impl Frames {
    /// The parts of streams that end in these bytes.
    pub(super) fn read(&mut self, bytes: &[u8]) -> Vec<Part> {
        let mut parts = Vec::new();
        if self.is_lost {
            return parts;
        }
        let mut joined = std::mem::take(&mut self.begun);
        joined.extend_from_slice(bytes);
        let mut rest = joined.as_slice();
        while let Some(len) = length(rest) {
            if len > LONGEST_FRAME {
                self.is_lost = true;
                return parts;
            }
            let Some((frame, after)) = rest.split_at_checked(HEAD + len) else { break };
            rest = after;
            match self.frame(&Frame::of(frame)) {
                Some(part) => parts.extend(part),
                None => {
                    self.is_lost = true;
                    return parts;
                }
            }
        }
        self.begun = rest.to_vec();
        parts
    }

    /// The part that ends with a frame, if one does; `None` if it makes no sense.
    fn frame(&mut self, frame: &Frame<'_>) -> Option<Option<Part>> {
        let (stream, is_last) = (frame.stream, frame.flags & END_STREAM != 0);
        match (frame.kind, self.block.take()) {
            (CONTINUATION, Some(block)) if block.stream == stream => {
                self.fields_of(block, frame.payload, frame)
            }
            (CONTINUATION | PUSH_PROMISE, _) | (_, Some(_)) => None,
            (HEADERS, None) => {
                let fields = frame.content()?;
                self.fields_of(Block { stream, is_last, bytes: Vec::new() }, fields, frame)
            }
            (DATA, None) => {
                let content = Content::Data(frame.content()?.to_vec());
                Some(Some(Part { stream, content, is_last }))
            }
            (RST_STREAM, None) => Some(Some(Part { stream, content: Content::Reset, is_last: true })),
            _ => Some(None),
        }
    }

    /// The fields of a block, once all of it is there.
    fn fields_of(&mut self, mut block: Block, more: &[u8], frame: &Frame<'_>) -> Option<Option<Part>> {
        block.bytes.extend_from_slice(more);
        if block.bytes.len() > LONGEST_BLOCK {
            return None;
        }
        if frame.flags & END_HEADERS == 0 {
            self.block = Some(block);
            return Some(None);
        }
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        let fields = self.fields.decode(&block.bytes).ok()?;
        let fields = fields.into_iter().map(|(name, value)| (text(name), text(value))).collect();
        Some(Some(Part { stream: block.stream, content: Content::Fields(fields), is_last: block.is_last }))
    }
}

/// The length of the payload of the next frame, once its head is there.
fn length(bytes: &[u8]) -> Option<usize> {
    let head: &[u8; HEAD] = bytes.first_chunk()?;
    Some(usize::from(head[0]) << 16 | usize::from(head[1]) << 8 | usize::from(head[2]))
}

impl<'b> Frame<'b> {
    fn of(bytes: &'b [u8]) -> Frame<'b> {
        let (head, payload) = bytes.split_at(HEAD);
        // The first bit of a stream's number is reserved.
        let stream = u32::from_be_bytes([head[5] & 0x7f, head[6], head[7], head[8]]);
        Frame { kind: head[3], flags: head[4], stream, payload }
    }

    /// The payload of data or headers, without padding and priority.
    fn content(&self) -> Option<&'b [u8]> {
        let mut content = self.payload;
        if self.flags & PADDED != 0 {
            let (padding, rest) = content.split_first()?;
            content = rest.get(..rest.len().checked_sub(usize::from(*padding))?)?;
        }
        if self.kind == HEADERS && self.flags & PRIORITY != 0 {
            content = content.get(5..)?;
        }
        Some(content)
    }
}
