//! Calls by which a program would see the machine behind its host.

use rustix::io::Errno;
use syscalls::Sysno;

use crate::Step;
use crate::linux::state::call::Answer;
use crate::linux::state::context::Ctx;

/// Codes of `arch_prctl` that map the kernel's vDSO again, with the machine's clock (`ARCH_MAP_VDSO_X32` and its kin), which libc does
/// not name.
const MAP_VDSO: std::ops::RangeInclusive<i32> = 0x2001..=0x2003;
/// The argument of `personality` that asks and changes nothing.
const ASK: u32 = u32::MAX;

/// `arch_prctl`: all but the kernel's vDSO.
pub(crate) fn set_registers(ctx: Ctx<'_>) -> Result<Answer, Errno> {
    match MAP_VDSO.contains(&ctx.notice.int(0)) {
        true => refuse(ctx, "the machine's clock"),
        false => Ok(Answer::Go),
    }
}

/// `personality`: addresses stay the same in each run.
pub(crate) fn set_personality(ctx: Ctx<'_>) -> Result<Answer, Errno> {
    let asked = ctx.notice.arg(0) as u32;
    match asked == ASK || asked & libc::ADDR_NO_RANDOMIZE as u32 != 0 {
        true => Ok(Answer::Go),
        false => refuse(ctx, "random addresses"),
    }
}

/// `setrlimit` and `prlimit64` of processor time: the signal at its end comes by the machine's clock.
pub(crate) fn limit_processor_time(ctx: Ctx<'_>) -> Result<Answer, Errno> {
    match ctx.notice.call() == Sysno::prlimit64 && ctx.notice.arg(2) == 0 {
        true => Ok(Answer::Go),
        false => refuse(ctx, "a limit of processor time"),
    }
}

/// `close_range` and `fcntl` with what would hide a thread from the supervisor.
pub(crate) fn hide(ctx: Ctx<'_>) -> Result<Answer, Errno> {
    match ctx.notice.call() {
        Sysno::close_range => refuse(ctx, "files of a thread's own"),
        _ => refuse(ctx, "another signal for a ready file"),
    }
}

/// A call that no program may make.
pub(crate) fn forbid(ctx: Ctx<'_>) -> Result<Answer, Errno> {
    let name = ctx.notice.call().name();
    refuse(ctx, name)
}

fn refuse(ctx: Ctx<'_>, what: &str) -> Result<Answer, Errno> {
    ctx.events.push_back(Step::Refused(what.to_owned()));
    Err(Errno::PERM)
}
