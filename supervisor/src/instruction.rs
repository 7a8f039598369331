//! An instruction by which a program sees the machine.

use std::path::PathBuf;

/// Such an instruction, in the code that a program has loaded.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Instruction {
    /// How assemblers call it, such as `rdtsc` (which stands for `rdtscp`, too); or the machine's clock, where the kernel keeps it readable.
    pub name: &'static str,
    /// The program or the library that has it.
    pub file: PathBuf,
}
