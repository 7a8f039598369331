//! The lines of INFO, `name:value`.
//!
//! Sentinels ask for it all the time, and it has two hundred lines: formatting them one by one was a twentieth of all that a
//! suite costs.

use bstr::ByteSlice as _;

use crate::server::stream::ReplicationId;

/// A type that can stand for a value.
pub(super) trait Value {
    /// Appends it.
    fn write(&self, text: &mut String);
}

impl Value for str {
    fn write(&self, text: &mut String) {
        text.push_str(self);
    }
}

impl Value for String {
    fn write(&self, text: &mut String) {
        text.push_str(self);
    }
}

impl Value for ReplicationId {
    fn write(&self, text: &mut String) {
        text.push_str(&self.as_bytes().to_str_lossy());
    }
}

impl<T: Value + ?Sized> Value for &T {
    fn write(&self, text: &mut String) {
        (**self).write(text);
    }
}

macro_rules! numbers {
    ($($number:ty),*) => {
        $(impl Value for $number {
            fn write(&self, text: &mut String) {
                match u8::try_from(*self) {
                    Ok(digit @ 0..=9) => text.push(char::from(b'0' + digit)),
                    _ => text.push_str(itoa::Buffer::new().format(*self)),
                }
            }
        })*
    };
}

numbers!(u8, u16, u64, usize, i32, i64);

/// Lines that are always the same, as one text.
macro_rules! constant {
    ($($name:literal: $value:literal),* $(,)?) => { concat!($($name, ":", $value, "\r\n"),*) };
}
pub(super) use constant;

/// Appends a line.
pub(super) fn line(text: &mut String, name: &str, value: &dyn Value) {
    text.push_str(name);
    text.push(':');
    value.write(text);
    text.push_str("\r\n");
}

/// Appends lines.
pub(super) fn lines(text: &mut String, facts: &[(&str, &dyn Value)]) {
    for (name, value) in facts {
        line(text, name, value);
    }
}
