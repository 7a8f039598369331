//! The contract of a protocol whose segments cannot be read alone.

/// Reads the segments of one connection to a member, in the order in which they are sent.
///
/// It is for protocols in which a segment has a meaning only together with earlier ones: a message that goes on in the next segment, a
/// table that both ends keep. It keeps a bounded part of what it has read.
pub trait ConnectionReader: Send {
    /// The content of the next segment to the member (`request`), or of the next one from it, as a story shows it. A message is in
    /// the text of the segment in which it ends. `None` if there is nothing that can be read.
    fn read(&mut self, request: bool, bytes: &[u8]) -> Option<String>;
}
