//! Who is told how a campaign goes on.

/// Is told how a campaign goes on; called from several threads.
pub trait Observer: Sync {
    /// So many more runs are done.
    fn ran(&self, runs: u64);
    /// The runs are over and so many violations are about to be reduced and confirmed.
    fn telling(&self, violations: u64);
    /// One of them is done.
    fn told(&self);
}

/// Says nothing.
pub struct Silent;

impl Observer for Silent {
    fn ran(&self, _: u64) {}
    fn telling(&self, _: u64) {}
    fn told(&self) {}
}
