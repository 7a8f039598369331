//! The cost of a script: the instructions of the Lua machine, and the work of library functions that one instruction calls.
//!
//! Redis lets a library function run as long as it takes: `string.find` with a hostile pattern takes years, and BUSY and SCRIPT KILL
//! wait for it. Here such functions count what they do. A script that does more than its limit, or that its watch wants to be over,
//! is stopped within the function as it is between two instructions.

#![expect(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "the machine's time ends a run with an error, and decides nothing in it"
)]

use std::cell::RefCell;
use std::time::{Duration, Instant};

use mlua::{HookTriggers, Lua, VmState};

use super::errors::place;
use super::task::with_task;
use crate::server::node::IsOver;

/// The number of instructions after which the cost is looked at. One instruction may copy megabytes.
pub(super) const LOOK: u32 = 1_000;

/// The memory of an interpreter in bytes. Redis has no such limit; a script that asks for more gets Lua's "not enough memory".
pub(super) const MEMORY_MAX: usize = 128 << 20;

/// The work that is allowed for each instruction of a script's limit. A unit is about a step of a pattern.
const WORK_FOR_A_STEP: u64 = 2;

/// The work after which the watch of a script is asked.
const WORK_BETWEEN_LOOKS: u64 = 200_000;

/// The time of the machine after which a script of a simulated world has failed its run: instructions that are few can be slow,
/// such as concatenations of megabytes. It decides no outcome, the run ends with an error.
const TOO_SLOW: Duration = Duration::from_secs(20);

/// The limits of a script.
pub(super) struct Limit {
    /// The number of instructions, and with it the amount of work.
    pub(super) steps: u32,
    /// Says when a watched script is to be stopped, which has no limits then.
    pub(super) is_over: Option<IsOver>,
}

/// The state of a script's limits.
struct Meter {
    steps: u64,
    work: u64,
    /// The work since the watch was asked.
    unseen: u64,
    is_over: Option<IsOver>,
    /// The time of the first look at the cost: most scripts end before it.
    began: Option<Instant>,
}

thread_local! {
    /// The limits of the script that runs.
    static METER: RefCell<Option<Meter>> = const { RefCell::new(None) };
}

/// Begins to count.
pub(super) fn begin(limit: Limit) {
    let steps = u64::from(limit.steps);
    let meter =
        Meter { steps, work: steps * WORK_FOR_A_STEP, unseen: 0, is_over: limit.is_over, began: None };
    METER.set(Some(meter));
}

fn now() -> Instant {
    Instant::now()
}

/// Ends the count.
///
/// # Panics
/// When the script was too slow for a simulated world.
pub(super) fn end() {
    let meter = METER.take().filter(|meter| meter.is_over.is_none() && meter.began.is_some());
    let slow = meter.is_some_and(|mut meter| meter.is_too_slow());
    assert!(!slow, "a Lua script has taken more than {} s of the machine's time", TOO_SLOW.as_secs());
}

/// Counts so many instructions. True if the script is to be stopped.
pub(super) fn has_run(instructions: u32) -> bool {
    METER.with_borrow_mut(|meter| {
        let Some(meter) = meter else { return false };
        meter.steps = meter.steps.saturating_sub(u64::from(instructions));
        match &meter.is_over {
            Some(is_over) => is_over(),
            None => meter.steps == 0 || meter.is_too_slow(),
        }
    })
}

/// Counts the work of a library function.
///
/// # Errors
/// When the script is to be stopped.
pub(super) fn spend(lua: &Lua, work: u64) -> mlua::Result<()> {
    if METER.with_borrow_mut(|meter| meter.as_mut().is_some_and(|meter| meter.spend(work))) {
        kill(lua)?;
    }
    Ok(())
}

/// Ends a script that takes too long. From now on every instruction fails, so that no pcall can hold it up.
pub(super) fn kill(lua: &Lua) -> mlua::Result<VmState> {
    let line = place(lua, ())?.unwrap_or(1);
    // Even if no task is there to get the line, the script ends.
    let _ = with_task(|task| task.stopped.get_or_insert(line).to_owned());
    lua.set_global_hook(HookTriggers::new().every_nth_instruction(1), |lua, _| kill(lua))?;
    Err(mlua::Error::runtime("Script killed by user with SCRIPT KILL."))
}

impl Meter {
    fn spend(&mut self, work: u64) -> bool {
        self.work = self.work.saturating_sub(work);
        self.unseen = self.unseen.saturating_add(work);
        if self.unseen < WORK_BETWEEN_LOOKS {
            return false;
        }
        self.unseen = 0;
        match &self.is_over {
            Some(is_over) => is_over(),
            None => self.work == 0 || self.is_too_slow(),
        }
    }

    fn is_too_slow(&mut self) -> bool {
        let now = now();
        now.duration_since(*self.began.get_or_insert(now)) > TOO_SLOW
    }
}
