//! Copying a process that stands still in its calls.
//!
//! Its first thread is made to call `clone` again and again: each time it stands still there until it is let go, and then the copy, in
//! which the other threads are made anew, takes up the calls at which the threads stood at first.

use std::{fs::File, io, os::fd::AsFd};

use syscalls::Sysno;

use super::holdings::Outfit;
use super::regions::Region;
use super::sibling::{Cleanup, Sibling};
use crate::linux::kernel::notify::{Listener, Notice};
use crate::linux::kernel::tracing::{Registers, Traced, hear, prepared};
use crate::linux::start::namespace::NamespaceKeeper;
use crate::linux::start::privileges::{TO_BE_COPIED, of_a_program};

/// The descriptor of the namespace that a process joins; it is closed at once.
const JOINED_FD: i32 = 989;

/// A process that stands still, ready to be copied.
pub(crate) struct Parked {
    process: u32,
    /// Its `clone`, which waits for an answer.
    notice: Notice,
    /// About to make that `clone`.
    cloning: Registers,
    /// About to make the call at which it stood.
    calling: Registers,
    cleanup: Cleanup,
    siblings: Vec<Sibling>,
    /// The number that the next thread gets.
    next: u32,
    regions: Vec<Region>,
}

impl Parked {
    /// Takes the threads of a process out of the calls at which they stand: of the first one, and of the others with their numbers. `next`
    /// is the number that the next one gets. The advice for `regions` is taken back in the process, and given again in its copies.
    /// `place` is the namespace in which these are.
    pub(crate) fn new(
        listener: &Listener,
        first: &Notice,
        others: &[(u32, Notice)],
        next: u32,
        regions: Vec<Region>,
        place: &File,
    ) -> io::Result<Self> {
        let siblings = others
            .iter()
            .map(|(number, stands)| Sibling::note(listener, stands, *number))
            .collect::<io::Result<Vec<_>>>()?;
        let mut traced = Traced::seize(first.thread())?;
        let calling = traced.leave_call(listener, first)?;
        let cleanup =
            if siblings.is_empty() { Cleanup::default() } else { Cleanup::note(&mut traced, &calling)? };
        for region in &regions {
            traced.call(&calling, Sysno::madvise, &region.undone())?;
        }
        let namespace = [JOINED_FD as u64, libc::CLONE_NEWPID as u64];
        traced.notified_call(&calling, Sysno::setns, &namespace, listener, |call| {
            listener.place(call, place.as_fd(), JOINED_FD, true).map(drop)
        })?;
        traced.call(&calling, Sysno::close, &namespace[..1])?;
        // A sibling, so that the init hears of its end; with the same stack, in memory of its own.
        let cloning = prepared(&calling, Sysno::clone, &[libc::CLONE_PARENT as u64, 0, 0, 0, 0]);
        traced.set_registers(&cloning)?;
        traced.let_go()?;
        let notice = hear(listener)?;
        Ok(Self { process: first.thread(), notice, cloning, calling, cleanup, siblings, next, regions })
    }

    /// Copies the process; the calls that the threads of the copy make first, in the order of the threads.
    pub(crate) fn copy(
        &mut self,
        listener: &Listener,
        keeper: &NamespaceKeeper,
        outfit: &mut Outfit<'_>,
    ) -> io::Result<Vec<Notice>> {
        let mut traced = Traced::seize(self.process)?;
        listener.go(&self.notice);
        traced.wait()?;
        let mut copy = traced.made()?;
        let at = self.calling;
        copy.call(&at, Sysno::setsid, &[])?;
        // Any call will do whose notice comes to the supervisor, and which does nothing.
        copy.notified_call(&at, Sysno::sigaltstack, &[0, 0], listener, |call| outfit.place(call))?;
        for wait in outfit.waits() {
            copy.lend(&at, wait.entry(), |copy, place| {
                let arguments = [wait.epoll as u64, libc::EPOLL_CTL_ADD as u64, wait.file as u64, place];
                copy.call(&at, Sysno::epoll_ctl, &arguments).map(drop)
            })?;
        }
        for region in &self.regions {
            copy.call(&at, Sysno::madvise, &region.done())?;
        }
        drop_privileges(&mut copy, &at)?;
        let mut threads = Vec::new();
        if !self.siblings.is_empty() {
            self.cleanup.restore(&mut copy, &at, listener)?;
        }
        for sibling in &self.siblings {
            keeper.gives_number(sibling.number)?;
            threads.push(sibling.make(&mut copy, &at, listener)?);
        }
        if !self.siblings.is_empty() {
            keeper.gives_number(self.next)?;
        }
        copy.set_registers(&at)?;
        // The last one: should this fail, the first thread of a process can be buried only after the others.
        threads.push(copy);
        let mut numbers: Vec<u32> = threads.iter().map(|thread| thread.thread().unsigned_abs()).collect();
        numbers.rotate_right(1);
        threads.into_iter().try_for_each(Traced::let_go)?;
        // The kernel writes the outcome of `clone` at the end of the call.
        traced.run_to_call()?;
        traced.set_registers(&self.cloning)?;
        traced.let_go()?;
        let mut calls = vec![None; numbers.len()];
        for _ in 0..=numbers.len() {
            let call = hear(listener)?;
            match numbers.iter().position(|&number| number == call.thread()) {
                Some(thread) => calls[thread] = Some(call),
                None => self.notice = call,
            }
        }
        calls.into_iter().collect::<Option<_>>().ok_or_else(|| io::Error::other("a thread did not call"))
    }
}

/// Takes from a copy what only its template has.
fn drop_privileges(copy: &mut Traced, at: &Registers) -> io::Result<()> {
    let clear = [libc::PR_CAP_AMBIENT, libc::PR_CAP_AMBIENT_CLEAR_ALL].map(|word| word as u64);
    copy.call(at, Sysno::prctl, &[clear[0], clear[1], 0, 0, 0])?;
    for capability in TO_BE_COPIED {
        copy.call(at, Sysno::prctl, &[libc::PR_CAPBSET_DROP as u64, capability.into(), 0, 0, 0])?;
    }
    copy.lend(at, of_a_program(), |copy, sets| copy.call(at, Sysno::capset, &[sets, sets + 8]).map(drop))?;
    Ok(())
}
