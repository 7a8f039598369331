//! Futexes: what locks and condition variables wait in.
//!
//! They are kept here, not in the kernel: all threads but one stand still, so that comparing and going to sleep cannot
//! be torn apart, and who is woken is known.

use rustix::io::Errno;

use crate::linux::state::call::{Answer, Cause, Deadline, FutexWait, Held, Late};
use crate::linux::state::context::Ctx;
use crate::linux::state::table::{State, Table};

/// The futexes of a group: in which order threads came to wait.
#[derive(Clone, Default)]
pub(crate) struct Futexes {
    sequence: u64,
}

impl Futexes {
    /// `futex`.
    pub(crate) fn call(&mut self, ctx: Ctx<'_>) -> Result<Answer, Errno> {
        let Ctx { table, time, thread, notice, .. } = ctx;
        let memory = table.memory_of(thread);
        let process = table.threads[thread].process;
        let (address, op, value) = (notice.arg(0), notice.int(1), notice.arg(2) as u32);
        let private = op & libc::FUTEX_PRIVATE_FLAG != 0;
        let key = Key { process, private };
        match op & libc::FUTEX_CMD_MASK {
            command @ (libc::FUTEX_WAIT | libc::FUTEX_WAIT_BITSET) => {
                if memory.u32(address)? != value {
                    return Err(Errno::AGAIN);
                }
                let timeout = memory.timespec(notice.arg(3))?;
                let until = timeout.map(|timeout| match command {
                    libc::FUTEX_WAIT => time.in_time(timeout),
                    _ if op & libc::FUTEX_CLOCK_REALTIME != 0 => Deadline::Wall(timeout),
                    _ => Deadline::Monotonic(timeout),
                });
                let bits = if command == libc::FUTEX_WAIT { u32::MAX } else { notice.arg(5) as u32 };
                self.sequence += 1;
                let wait = FutexWait { address, private, bits, value, woken: false, order: self.sequence };
                Ok(Answer::Hold(Held { until, cause: Cause::Futex(wait), late: Late::Fail(Errno::TIMEDOUT) }))
            }
            libc::FUTEX_WAKE => Ok(Answer::Value(wake(table, key, address, value, u32::MAX))),
            libc::FUTEX_WAKE_BITSET => {
                Ok(Answer::Value(wake(table, key, address, value, notice.arg(5) as u32)))
            }
            libc::FUTEX_WAKE_OP => {
                let (second, code) = (notice.arg(4), notice.arg(5) as u32);
                let old = memory.u32(second)?;
                memory.write(second, &operate(code, old).to_le_bytes())?;
                let mut woken = wake(table, key, address, value, u32::MAX);
                if compare(code, old) {
                    woken += wake(table, key, second, notice.arg(3) as u32, u32::MAX);
                }
                Ok(Answer::Value(woken))
            }
            command @ (libc::FUTEX_REQUEUE | libc::FUTEX_CMP_REQUEUE) => {
                if command == libc::FUTEX_CMP_REQUEUE && memory.u32(address)? != notice.arg(5) as u32 {
                    return Err(Errno::AGAIN);
                }
                let woken = wake(table, key, address, value, u32::MAX);
                let moved = sleepers(table, key, address, u32::MAX);
                let moved: Vec<usize> = moved.into_iter().take(notice.arg(3) as u32 as usize).collect();
                for &sleeper in &moved {
                    if let Some(wait) = futex_wait(table, sleeper) {
                        wait.address = notice.arg(4);
                    }
                }
                Ok(Answer::Value(woken + moved.len() as i64))
            }
            // Those that lend priority: there is none here, and the C library does without.
            _ => Err(Errno::NOSYS),
        }
    }
}

fn futex_wait(table: &mut Table, thread: usize) -> Option<&mut FutexWait> {
    match &mut table.threads[thread].state {
        State::Held(_, Held { cause: Cause::Futex(wait), .. }) => Some(wait),
        _ => None,
    }
}

/// The threads that sleep at an address, first come first.
fn sleepers(table: &Table, key: Key, address: u64, bits: u32) -> Vec<usize> {
    let mut sleepers: Vec<(u64, usize)> = Vec::new();
    for (thread, entry) in table.threads.iter().enumerate() {
        let State::Held(_, Held { cause: Cause::Futex(wait), .. }) = &entry.state else { continue };
        // Shared memory is mapped at the same address in forked processes.
        let same = entry.process == key.process || !(key.private || wait.private);
        if same && !wait.woken && wait.address == address && wait.bits & bits != 0 {
            sleepers.push((wait.order, thread));
        }
    }
    sleepers.sort_unstable();
    sleepers.into_iter().map(|(_, thread)| thread).collect()
}

fn wake(table: &mut Table, key: Key, address: u64, most: u32, bits: u32) -> i64 {
    let sleepers = sleepers(table, key, address, bits);
    let mut woken = 0;
    for sleeper in sleepers.into_iter().take(most as usize) {
        if let Some(wait) = futex_wait(table, sleeper) {
            wait.woken = true;
            woken += 1;
        }
    }
    woken
}

/// Wakes those whose value the kernel has changed: a thread ended, and its id was cleared for those who join it.
pub(crate) fn wake_changed(table: &mut Table, process: usize) {
    let memory = table.processes[process].memory();
    for thread in 0..table.threads.len() {
        if table.threads[thread].process != process {
            continue;
        }
        if let Some(wait) = futex_wait(table, thread)
            && memory.u32(wait.address).is_ok_and(|value| value != wait.value)
        {
            wait.woken = true;
        }
    }
}

/// The owner of futexes: a process, or all that share them.
#[derive(Clone, Copy)]
struct Key {
    process: usize,
    private: bool,
}

/// The signed fields of `FUTEX_WAKE_OP`'s code.
fn field(code: u32, shift: u32) -> u32 {
    ((code << (20 - shift)) as i32 >> 20) as u32
}

/// The operation of `FUTEX_WAKE_OP`.
fn operate(code: u32, old: u32) -> u32 {
    let mut argument = field(code, 12);
    let operation = (code >> 28) as i32;
    if operation & libc::FUTEX_OP_OPARG_SHIFT != 0 {
        argument = 1u32.wrapping_shl(argument);
    }
    match operation & 7 {
        libc::FUTEX_OP_SET => argument,
        libc::FUTEX_OP_ADD => old.wrapping_add(argument),
        libc::FUTEX_OP_OR => old | argument,
        libc::FUTEX_OP_ANDN => old & !argument,
        _ => old ^ argument,
    }
}

/// The comparison of `FUTEX_WAKE_OP`.
fn compare(code: u32, old: u32) -> bool {
    let (old, argument) = (old as i32, field(code, 0) as i32);
    match (code >> 24 & 15) as i32 {
        libc::FUTEX_OP_CMP_EQ => old == argument,
        libc::FUTEX_OP_CMP_NE => old != argument,
        libc::FUTEX_OP_CMP_LT => old < argument,
        libc::FUTEX_OP_CMP_LE => old <= argument,
        libc::FUTEX_OP_CMP_GT => old > argument,
        _ => old >= argument,
    }
}
