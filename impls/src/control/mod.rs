//! The controls: no lock at all, and a lock that cannot fail. They show that a scenario harms what is unprotected,
//! and that the judge is silent on what is sound.

pub(crate) mod no_lock;
pub(crate) mod oracle;
