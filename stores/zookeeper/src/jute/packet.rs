//! Packets: their length as a number of four bytes, then so many bytes.

use super::{Malformed, Record};

/// The longest packet, in bytes (`jute.maxbuffer`).
pub const PACKET_MAX: usize = 0xf_ffff;

/// These records as a packet.
#[must_use]
pub fn packet(header: &impl Record, body: &impl Record) -> Vec<u8> {
    let mut out = vec![0; 4];
    header.put(&mut out);
    body.put(&mut out);
    let len = (out.len() as i32 - 4).to_be_bytes();
    out[..4].copy_from_slice(&len);
    out
}

/// The bytes of a connection, as they come in, cut into packets.
#[derive(Clone, Debug, Default)]
pub struct Packets {
    bytes: Vec<u8>,
}

impl Packets {
    /// More bytes came in.
    pub fn extend(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// The first four bytes, if they are there: a length, or one of the words that a server is asked without a session.
    #[must_use]
    pub fn first_four(&self) -> Option<[u8; 4]> {
        self.bytes.first_chunk().copied()
    }

    /// The next packet without its length; none if it is not whole yet. In the buffer it takes four bytes more.
    ///
    /// # Errors
    /// When the length cannot be one. Nothing can be read any more then.
    pub fn next_packet(&mut self) -> Result<Option<Vec<u8>>, Malformed> {
        let Some(len) = self.first_four() else { return Ok(None) };
        let len = usize::try_from(i32::from_be_bytes(len)).map_err(|_| Malformed)?;
        if len > PACKET_MAX {
            return Err(Malformed);
        }
        let Some(packet) = self.bytes.get(4..4 + len).map(<[u8]>::to_vec) else { return Ok(None) };
        self.bytes.drain(..4 + len);
        Ok(Some(packet))
    }
}
