//! Clock reads and sleeps.

use rustix::io::Errno;
use syscalls::Sysno;

use crate::linux::state::call::{Answer, Cause, Deadline, Held, Late};
use crate::linux::state::context::Ctx;
use crate::linux::state::time::is_wall;

const SECOND: u64 = 1_000_000_000;

/// A clock read.
pub(crate) fn look(ctx: Ctx<'_>) -> Result<Answer, Errno> {
    let Ctx { table, time, thread, notice, .. } = ctx;
    let caller = table.caller(thread);
    let memory = caller.memory();
    let clock = time.clock;
    if notice.call() == Sysno::clock_getres {
        if notice.arg(1) != 0 {
            memory.write_pair(notice.arg(1), 0, 1)?;
        }
        return Ok(Answer::Value(0));
    }
    if notice.call() != Sysno::time {
        time.note_read(caller.process().image, memory);
    }
    if let Some(answer) = time.pause(Late::Again) {
        return Ok(answer);
    }
    let (seconds, rest) = (clock.wall_ns / SECOND, clock.wall_ns % SECOND);
    match notice.call() {
        Sysno::clock_gettime if is_wall(notice.int(0)) => memory.write_pair(notice.arg(1), seconds, rest)?,
        Sysno::clock_gettime => {
            let time = clock.monotonic_ns;
            memory.write_pair(notice.arg(1), time / SECOND, time % SECOND)?;
        }
        Sysno::gettimeofday => {
            if notice.arg(0) != 0 {
                memory.write_pair(notice.arg(0), seconds, rest / 1000)?;
            }
        }
        _ => {
            if notice.arg(0) != 0 {
                memory.write(notice.arg(0), &seconds.to_le_bytes())?;
            }
            return Ok(Answer::Value(seconds as i64));
        }
    }
    Ok(Answer::Value(0))
}

/// `nanosleep` and `clock_nanosleep`.
pub(crate) fn sleep(ctx: Ctx<'_>) -> Result<Answer, Errno> {
    let Ctx { time, notice, .. } = &ctx;
    let memory = ctx.caller().memory();
    let until = if notice.call() == Sysno::nanosleep {
        time.in_time(memory.timespec(notice.arg(0))?.ok_or(Errno::FAULT)?)
    } else {
        let asked = memory.timespec(notice.arg(2))?.ok_or(Errno::FAULT)?;
        match (notice.int(1) & libc::TIMER_ABSTIME != 0, is_wall(notice.int(0))) {
            (false, _) => time.in_time(asked),
            (true, true) => Deadline::Wall(asked),
            (true, false) => Deadline::Monotonic(asked),
        }
    };
    Ok(Answer::Hold(Held { until: Some(until), cause: Cause::Time, late: Late::Answer(0) }))
}
