//! The names that nodes of a cluster have for each other, and for the links between them.

use std::fmt;

use data_encoding::HEXLOWER_PERMISSIVE;

/// The name of a node: forty hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct NodeId([u8; NodeId::BYTES]);

impl NodeId {
    /// How many bytes a name has.
    pub(crate) const BYTES: usize = 20;

    /// The name that a node has given itself before the world began.
    pub(crate) fn of(text: &str) -> NodeId {
        NodeId(sha1_smol::Sha1::from(text.as_bytes()).digest().bytes())
    }

    /// A name of these bytes.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<NodeId> {
        bytes.try_into().ok().map(NodeId)
    }

    /// A name as it is written.
    pub(crate) fn parse(digits: &[u8]) -> Option<NodeId> {
        NodeId::from_bytes(&HEXLOWER_PERMISSIVE.decode(digits).ok()?)
    }

    /// Its bytes.
    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&HEXLOWER_PERMISSIVE.encode(&self.0))
    }
}

impl fmt::Debug for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "NodeId({self})")
    }
}

/// The name of a connection of the bus within a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct BusLink(pub(crate) u64);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_read_as_it_is_written() {
        let id = NodeId::of("node-1");
        assert_eq!(id.to_string().len(), 40);
        assert_eq!(NodeId::parse(id.to_string().as_bytes()), Some(id));
        assert_eq!(NodeId::parse(id.to_string().to_uppercase().as_bytes()), Some(id));
        assert_eq!(NodeId::parse(b"node-1"), None);
    }
}
