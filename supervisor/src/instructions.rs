//! Instructions by which a program sees the machine, and which no supervisor can answer.

use crate::Setup;
pub use crate::instruction::Instruction;

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
