//! The operations of sections on the data that a lock guards, at the resource or in the lock's own store.

use picklock_model::ids::Token;

/// An operation on the resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Reads the register.
    Read,
    /// Writes the register.
    Write(i64),
    /// Takes from the stock if there is enough.
    Take(i64),
    /// Reads what is left in stock.
    ReadStock,
    /// Takes from the stock whether there is enough or not: for whoever has looked before.
    Sell(i64),
    /// Writes the register if it holds the value expected.
    Swap {
        /// The value that it must hold.
        expected: i64,
        /// The new value.
        value: i64,
    },
    /// Inserts a row under a unique id, unless there is one; the register counts the rows.
    Insert(u64),
    /// Takes from the stock if exactly as much is left as expected.
    TakeIf {
        /// The amount that must be left.
        expected: i64,
        /// How much to take.
        amount: i64,
    },
}

/// The result of an operation on data in a lock's own store, and from when on it counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Applied {
    /// It is done: the value after it.
    Now(i64),
    /// It is done for its holder and is made for all others with the release: the value that it will have then. The
    /// outcome of the change is that of the release.
    AtRelease(i64),
}

impl Applied {
    /// The value after the operation, as its holder sees it.
    #[must_use]
    pub const fn value(self) -> i64 {
        match self {
            Applied::Now(value) | Applied::AtRelease(value) => value,
        }
    }
}

/// The reason why an operation brought no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ResourceError {
    /// The token was lower than the highest seen.
    #[error("refused: the resource has seen token {highest}")]
    Refused {
        /// The highest token seen.
        highest: Token,
    },
    /// Too little is left in stock.
    #[error("too little is left in stock")]
    SoldOut,
    /// The register or stock did not hold the value expected.
    #[error("the resource holds {found}")]
    Differs {
        /// The value that it holds.
        found: i64,
    },
    /// The whole of a joint change was given up: nothing of it was changed.
    #[error("given up: nothing was changed")]
    Undone,
    /// The request was never sent.
    #[error("the resource could not be reached")]
    NotSent,
    /// The request was sent; whether it was carried out is not known.
    #[error("no answer from the resource")]
    EffectUnknown,
}
