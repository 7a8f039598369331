//! The origins of the bytes that wait in the buffer of a server.
//!
//! [`ReadHalf::origin`](super::stream::ReadHalf::origin) names the message of the last read. That is enough for a server that
//! executes what it has read before it reads on. One that goes on reading meanwhile, because an earlier request has to wait,
//! or that reads for several sections at once, keeps with its buffer from which message each part of it came.

use std::collections::VecDeque;

use picklock_model::ids::Origin;

/// The messages from which the bytes of a buffer came, in order.
#[derive(Clone, Debug, Default)]
pub struct Origins {
    /// How many bytes came with each message.
    parts: VecDeque<(usize, Origin)>,
    /// The message of what was taken last.
    last: Origin,
}

impl Origins {
    /// So many bytes were read: the length and the origin of one read, to be noted after each.
    pub fn read(&mut self, bytes: usize, origin: Origin) {
        match self.parts.back_mut() {
            Some((len, last)) if *last == origin => *len += bytes,
            _ => self.parts.push_back((bytes, origin)),
        }
    }

    /// Takes the next so many bytes out, a request: its origin is the message that brought the last of them. For none at
    /// all it is that of the request before.
    pub fn take(&mut self, mut bytes: usize) -> Origin {
        while bytes > 0
            && let Some((len, origin)) = self.parts.front_mut()
        {
            let part = bytes.min(*len);
            (*len, bytes, self.last) = (*len - part, bytes - part, *origin);
            if *len == 0 {
                self.parts.pop_front();
            }
        }
        self.last
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use picklock_model::ids::{EventId, GrantId, HostId};

    fn of(section: u32) -> Origin {
        let grant = GrantId::new(HostId(1), section);
        Origin { cause: Some(EventId(section)), grant: Some(grant) }
    }

    #[test]
    fn each_request_has_the_origin_of_its_last_byte_however_reads_are_cut() {
        let mut origins = Origins::default();
        origins.read(10, of(1));
        origins.read(4, of(2));
        origins.read(3, of(3));
        assert_eq!(origins.take(6), of(1));
        assert_eq!(origins.take(6), of(2), "begun by the first message and ended by the second");
        assert_eq!(origins.take(0), of(2));
        assert_eq!(origins.take(5), of(3));
        assert!(origins.parts.is_empty());
    }

    #[test]
    fn more_than_was_read_is_of_the_last_message() {
        let mut origins = Origins::default();
        assert_eq!(origins.take(3), Origin::default());
        origins.read(1, of(1));
        assert_eq!(origins.take(9), of(1));
    }
}
