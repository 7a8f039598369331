//! The machine as a program sees it: one processor, little memory, and no processor time used.

// As the kernel lays them out: those of C libraries have room for more, each as much as it likes.
use linux_raw_sys::{general::rusage, system::sysinfo};
use rustix::io::Errno;
use syscalls::Sysno;

use crate::linux::state::call::Answer;
use crate::linux::state::context::Ctx;

/// `getrusage`, `times` and `sysinfo`.
pub(crate) fn usage(ctx: Ctx<'_>) -> Result<Answer, Errno> {
    let (clock, notice) = (ctx.time.clock, ctx.notice);
    let memory = ctx.caller().memory();
    let seconds = clock.monotonic_ns / 1_000_000_000;
    match notice.call() {
        Sysno::getrusage => memory.write(notice.arg(1), &[0; size_of::<rusage>()])?,
        Sysno::times => {
            if notice.arg(0) != 0 {
                memory.write(notice.arg(0), &[0; size_of::<libc::tms>()])?;
            }
            return Ok(Answer::Value((clock.monotonic_ns / 10_000_000) as i64));
        }
        _ => {
            let mut bytes = [0; size_of::<sysinfo>()];
            let mut put = |at: usize, value: u64| bytes[at..at + 8].copy_from_slice(&value.to_ne_bytes());
            put(std::mem::offset_of!(sysinfo, uptime), seconds);
            put(std::mem::offset_of!(sysinfo, totalram), 4 << 30);
            put(std::mem::offset_of!(sysinfo, freeram), 3 << 30);
            let at = std::mem::offset_of!(sysinfo, procs);
            bytes[at..at + 2].copy_from_slice(&10u16.to_ne_bytes());
            let at = std::mem::offset_of!(sysinfo, mem_unit);
            bytes[at..at + 4].copy_from_slice(&1u32.to_ne_bytes());
            memory.write(notice.arg(0), &bytes)?;
        }
    }
    Ok(Answer::Value(0))
}

/// `sched_getaffinity`, `sched_setaffinity` and `getcpu`: there is one processor, the first.
pub(crate) fn processor(ctx: Ctx<'_>) -> Result<Answer, Errno> {
    let notice = ctx.notice;
    let memory = ctx.caller().memory();
    match notice.call() {
        Sysno::sched_getaffinity => {
            let mut set = [0; 8];
            set[0] = 1;
            if notice.arg(1) < 8 {
                return Err(Errno::INVAL);
            }
            memory.write(notice.arg(2), &set)?;
            Ok(Answer::Value(8))
        }
        Sysno::getcpu => {
            for at in [notice.arg(0), notice.arg(1)].into_iter().filter(|&at| at != 0) {
                memory.write(at, &[0; 4])?;
            }
            Ok(Answer::Value(0))
        }
        _ => Ok(Answer::Value(0)),
    }
}
