//! The versions of etcd that a simulated member can be of, as far as locks see a difference.

/// A version of etcd.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// 3.4.23, as Debian 12 has it: a candidate does not ask before it stands for election; a leader that was paused renews and ends leases
    /// without making sure that it still leads (3.4.31); a lock is granted without a last look at the own key (3.5.0); a request for progress is
    /// always answered (3.5.8). What else differs matters to no lock, and is that of 3.6: of two reasons to refuse a transaction the one of a put
    /// came first, the order of a range was not checked, and a compaction forgot a deletion of its very revision.
    V34,
    /// 3.6.5, which the designs are on, and the simulated control planes.
    V36,
    /// 3.7.3, the current one, and the one that is served unless another is asked for: keys that are asked for without their values come without their leases, and a watch from a
    /// revision below 0 is refused. Neither matters to a lock.
    V37,
}

impl Version {
    /// The words for it in a parameter.
    pub const NAMES: &[&str] = &["3.4", "3.6", "3.7"];

    /// The version of this name; the current one for any other.
    #[must_use]
    pub fn named(name: &str) -> Version {
        match name {
            "3.4" => Version::V34,
            "3.6" => Version::V36,
            _ => Version::V37,
        }
    }

    /// What a member says that it is.
    pub(crate) fn full(self) -> &'static str {
        match self {
            Version::V34 => "3.4.23",
            Version::V36 => "3.6.5",
            Version::V37 => "3.7.3",
        }
    }
}
