//! Calls by which a program would see the machine behind its host.

use std::collections::VecDeque;

use rustix::io::Errno;
use syscalls::Sysno;

use crate::Step;
use crate::linux::kernel::notify::Notice;
use crate::linux::state::call::Answer;

/// Codes of `arch_prctl` that map the kernel's vDSO again, with the machine's clock (`ARCH_MAP_VDSO_X32` and its kin), which libc does
/// not name.
const MAP_VDSO: std::ops::RangeInclusive<i32> = 0x2001..=0x2003;
/// The argument of `personality` that asks and changes nothing.
const ASK: u32 = u32::MAX;

/// `arch_prctl`: all but the kernel's vDSO.
pub(crate) fn set_registers(events: &mut VecDeque<Step>, notice: &Notice) -> Result<Answer, Errno> {
    match MAP_VDSO.contains(&notice.int(0)) {
        true => refuse(events, "the machine's clock"),
        false => Ok(Answer::Go),
    }
}

/// `personality`: addresses stay the same in each run.
pub(crate) fn set_personality(events: &mut VecDeque<Step>, notice: &Notice) -> Result<Answer, Errno> {
    let asked = notice.arg(0) as u32;
    match asked == ASK || asked & libc::ADDR_NO_RANDOMIZE as u32 != 0 {
        true => Ok(Answer::Go),
        false => refuse(events, "random addresses"),
    }
}

/// `setrlimit` and `prlimit64` of processor time: the signal at its end comes by the machine's clock.
pub(crate) fn limit_processor_time(events: &mut VecDeque<Step>, notice: &Notice) -> Result<Answer, Errno> {
    match notice.call() == Sysno::prlimit64 && notice.arg(2) == 0 {
        true => Ok(Answer::Go),
        false => refuse(events, "a limit of processor time"),
    }
}

/// `close_range` and `fcntl` with what would hide a thread from the supervisor.
pub(crate) fn hide(events: &mut VecDeque<Step>, notice: &Notice) -> Result<Answer, Errno> {
    match notice.call() {
        Sysno::close_range => refuse(events, "files of a thread's own"),
        _ => refuse(events, "another signal for a ready file"),
    }
}

fn refuse(events: &mut VecDeque<Step>, what: &str) -> Result<Answer, Errno> {
    events.push_back(Step::Refused(what.to_owned()));
    Err(Errno::PERM)
}
