//! Messages on a stream of HTTP/2: a byte that says that they are not compressed, their length, and they themselves.

use bytes::{BufMut as _, Bytes, BytesMut};
use h2::RecvStream;
use prost::Message;

use super::status::Status;

/// A byte for the compression, and a length.
const PREFIX: usize = 5;

/// The longest message that is read, as etcd's (`max-request-bytes` and something for gRPC).
const LONGEST: usize = 2 << 20;

/// A message as it is sent.
pub(super) fn encoded(message: &impl Message) -> Bytes {
    let len = message.encoded_len();
    let mut bytes = BytesMut::with_capacity(PREFIX + len);
    bytes.put_u8(0);
    bytes.put_u32(u32::try_from(len).unwrap_or(u32::MAX));
    // The buffer grows: there is nothing that could fail.
    let _ = message.encode(&mut bytes);
    bytes.freeze()
}

/// The messages that come on a stream.
pub(super) struct Incoming {
    pub(super) body: RecvStream,
    received: BytesMut,
}

impl Incoming {
    pub(super) fn new(body: RecvStream) -> Incoming {
        Incoming { body, received: BytesMut::new() }
    }

    /// The next message; none at the end of the stream. May be dropped and called again.
    ///
    /// # Errors
    /// When the connection breaks, the call is cancelled, or what comes is no message of this kind.
    pub(super) async fn next<M: Message + Default>(&mut self) -> Result<Option<M>, Status> {
        loop {
            if let Some(message) = self.whole()? {
                return M::decode(message).map(Some).map_err(|_| Status::malformed("a call"));
            }
            match self.body.data().await {
                Some(Ok(data)) => {
                    // The window is given back at once: a call of a lock is short.
                    let _ = self.body.flow_control().release_capacity(data.len());
                    self.received.extend_from_slice(&data);
                }
                Some(Err(error)) => return Err(broken(&error)),
                None => return Ok(None),
            }
        }
    }

    fn whole(&mut self) -> Result<Option<Bytes>, Status> {
        let Some((prefix, rest)) = self.received.split_first_chunk::<PREFIX>() else { return Ok(None) };
        let [compressed, length @ ..] = *prefix;
        let len = u32::from_be_bytes(length) as usize;
        if compressed != 0 {
            return Err(Status::malformed("a call"));
        }
        if len > LONGEST {
            return Err(Status::too_long(len, LONGEST));
        }
        if rest.len() < len {
            return Ok(None);
        }
        let mut message = self.received.split_to(PREFIX + len);
        Ok(Some(message.split_off(PREFIX).freeze()))
    }
}

/// The status of a call whose connection has broken, or that was cancelled.
pub(super) fn broken(error: &h2::Error) -> Status {
    match error.reason() {
        Some(h2::Reason::CANCEL) => Status::cancelled(),
        _ => Status::unavailable(error.to_string()),
    }
}
