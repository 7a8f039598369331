//! The cjson library: its options.

use std::cell::RefCell;

/// The options that a script can set.
#[derive(Clone, Copy)]
pub(in crate::server::lua) struct Options {
    /// True if arrays that are too sparse become objects instead of errors.
    pub(super) sparse_convert: bool,
    pub(super) sparse_ratio: f64,
    pub(super) sparse_safe: f64,
    pub(super) encode_depth: usize,
    pub(super) decode_depth: usize,
    pub(super) precision: usize,
    pub(super) keep_buffer: bool,
    pub(super) encode_invalid: Invalid,
    pub(super) decode_invalid: bool,
}

/// The treatment of numbers that JSON does not know.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Invalid {
    Refuse,
    Write,
    Null,
}

const OPTIONS: Options = Options {
    sparse_convert: false,
    sparse_ratio: 2.0,
    sparse_safe: 10.0,
    encode_depth: 1000,
    decode_depth: 1000,
    precision: 14,
    keep_buffer: true,
    encode_invalid: Invalid::Refuse,
    decode_invalid: true,
};

thread_local! {
    pub(super) static CURRENT: RefCell<Options> = const { RefCell::new(OPTIONS) };
}

/// Sets all options as they are at the start of a script.
pub(in crate::server::lua) fn reset() {
    CURRENT.set(OPTIONS);
}

pub(super) fn options() -> Options {
    CURRENT.with_borrow(|options| *options)
}
