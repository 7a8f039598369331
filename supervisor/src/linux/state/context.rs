//! The context of a system call: the thread that makes it, and what its answer reads and changes.
//!
//! The function that answers a call takes the context by value, and after it the part of the group that the call is about.

use std::collections::VecDeque;

use super::table::{Caller, Table};
use super::time::Time;
use crate::Step;
use crate::linux::kernel::notify::{Listener, Notice};

/// A system call to answer.
pub(crate) struct Ctx<'a> {
    pub(crate) table: &'a mut Table,
    pub(crate) time: &'a mut Time,
    pub(crate) listener: &'a Listener,
    /// The steps for the driver: a refused call is reported there.
    pub(crate) events: &'a mut VecDeque<Step>,
    /// The number of the thread in the table.
    pub(crate) thread: usize,
    pub(crate) notice: &'a Notice,
}

impl Ctx<'_> {
    /// The thread that makes the call, with its process.
    pub(crate) fn caller(&self) -> Caller<'_> {
        self.table.caller(self.thread)
    }

    /// The same context for a function that may leave the call to another one.
    pub(crate) fn reborrow(&mut self) -> Ctx<'_> {
        Ctx {
            table: self.table,
            time: self.time,
            listener: self.listener,
            events: self.events,
            thread: self.thread,
            notice: self.notice,
        }
    }
}
