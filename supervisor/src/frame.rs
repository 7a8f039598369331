//! The frames of a thread's stack, in the terms of its source.

/// One frame of the stack of a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// The function, as its language spells it.
    pub function: String,
    /// The path of the source file, as the program knows it.
    pub file: String,
    /// The line in this file, from 1.
    pub line: u32,
    /// The text of the line without its indentation, if the file can be read.
    pub text: Option<String>,
    /// True if the file belongs to a library or to the language itself.
    pub library: bool,
}
