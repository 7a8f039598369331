//! Instructions by which a program sees the machine, and which no supervisor can answer.

use std::path::PathBuf;

use crate::Setup;

/// Such an instruction, in the code that a program has loaded.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Instruction {
    /// How assemblers call it: `rdtsc` (which stands for `rdtscp`, too), `rdpid`, `rdrand` or `rdseed`.
    pub name: &'static str,
    /// The program or the library that has it.
    pub file: PathBuf,
}

/// Starts a program, and looks through the code that it has loaded when it waits for the first time. Code that is there need not
/// be run: this is a hint, for programs whose runs differ.
#[must_use]
pub fn of(setup: &Setup) -> Vec<Instruction> {
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    return crate::linux::instructions::of(setup);
    #[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
    {
        let _ = setup;
        Vec::new()
    }
}
