//! A group of processes: it decides which thread runs, how its call is answered, and which steps its driver gets.
//!
//! One thread runs at a time. It runs until its next call; then the call is answered, made to wait, or left to the
//! kernel, and the thread goes on. When it waits, another one is chosen by the seed; when all wait, the driver is notified.

use std::{collections::VecDeque, net::SocketAddrV4, os::fd::OwnedFd, sync::Arc};

use rustix::io::Errno;
use syscalls::Sysno;

use super::clocks::axis::Axis;
use super::clocks::reads;
use super::clocks::timers::Timers;
use super::copies::life::{Life, Nest};
use super::files::file_system::{FileSystem, getrandom, read_random};
use super::files::locks::{lease, lock_file, lock_range};
use super::kernel::clock_page::ClockPage;
use super::kernel::notify::{Listener, Notice};
use super::network::families::Network;
use super::network::interfaces::ask_interface;
use super::process::creation::{Outcome, await_child, born, create, enter, parent};
use super::process::deaths::{buried, exit_process, exit_thread, look_after, send_signal};
use super::process::futex::Futexes;
use super::process::guards::{forbid, hide, limit_processor_time, set_personality, set_registers};
use super::process::shared_memory::SharedMemory;
use super::process::signals::{Signals, await_signal, break_off, is_interrupted, suspend};
use super::process::surroundings::{processor, usage};
use super::schedule::effort::Effort;
use super::schedule::notifications::{Notification, Notifications};
use super::schedule::points::point;
use super::schedule::startup::{START_UP_CALLS, prepares};
use super::schedule::turns::Turns;
use super::stack::{Stacks, is_wait, says_where};
use super::start::apart::Apart;
use super::start::filter::{FORBIDDEN, SET_SIGNAL, SHARED};
use super::start::namespace::NamespaceKeeper;
use super::start::plan::Role;
use super::start::spawn::{self, Started};
use super::state::call::{Answer, Cause, Held, Late};
use super::state::context::Ctx;
use super::state::table::{State, Table};
use super::state::time::Time;
use super::streams::output::Streams;
use super::streams::pipes::write;
use super::streams::waiting::{self, has_cause};
use crate::{
    Broken, Call, Clock, ClockReads, ConnectError, Ending, Files, Setup, SocketId, StartError, Step, What,
};

/// The processes of one host, in virtual time.
pub struct Group {
    pub(crate) life: Life,
    pub(crate) listener: Arc<Listener>,
    setup: Arc<Setup>,
    pub(crate) table: Table,
    signals: Signals,
    pub(crate) futexes: Futexes,
    pub(crate) time: Time,
    axis: Axis,
    pub(crate) timers: Timers,
    streams: Streams,
    pub(crate) network: Network,
    pub(crate) files: FileSystem,
    /// The names of the machine that are its own.
    pub(crate) apart: Apart,
    shared_memory: SharedMemory,
    notifications: Notifications,
    pub(crate) turns: Turns,
    effort: Effort,
    /// Reads the stacks of its threads, if they are to be reported.
    stacks: Option<Stacks>,
    /// True if the last reported stack was of a thread that began to wait.
    placed_at_wait: bool,
    /// The steps that were not reported to the driver yet.
    pub(crate) events: VecDeque<Step>,
    /// It has not come to its first step.
    starts_up: bool,
    over: bool,
    broken: Option<Broken>,
}

impl std::fmt::Debug for Group {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let alive = self.table.processes.iter().filter(|process| process.alive).count();
        f.debug_struct("Group")
            .field("command", &self.setup.command)
            .field("processes", &alive)
            .finish_non_exhaustive()
    }
}

/// True if the supervisor does a call itself when a file is ready.
fn is_done_here(call: Sysno) -> bool {
    matches!(call, Sysno::accept | Sysno::accept4 | Sysno::write | Sysno::writev)
}

/// True for a call of which the kernel reads names or addresses after the supervisor has.
fn reads_again(call: Sysno) -> bool {
    matches!(
        call,
        Sysno::open
            | Sysno::openat
            | Sysno::openat2
            | Sysno::stat
            | Sysno::lstat
            | Sysno::newfstatat
            | Sysno::statx
            | Sysno::readlink
            | Sysno::readlinkat
            | Sysno::mkdir
            | Sysno::mkdirat
            | Sysno::rename
            | Sysno::renameat
            | Sysno::renameat2
            | Sysno::execve
            | Sysno::execveat
            | Sysno::connect
            | Sysno::bind
            | Sysno::sendto
            | Sysno::sendmsg
            | Sysno::sendmmsg
            | Sysno::clone3
            | Sysno::fcntl
            | Sysno::ioctl
    )
}

impl Group {
    /// Starts the program; it runs when the group is first stepped.
    ///
    /// # Errors
    /// If there is no such program, or the kernel or the container forbids what is needed.
    pub fn start(setup: &Setup) -> Result<Self, StartError> {
        Self::start_as(setup, spawn::start(setup, Role::Program)?)
    }

    /// True if the program was copied from one that had started up before.
    #[must_use]
    pub fn is_copy(&self) -> bool {
        matches!(self.life, Life::Lent(_))
    }

    /// True if its files are its own.
    pub(crate) fn has_own_files(&self) -> bool {
        self.setup.files == Files::Own
    }

    /// Its clock, if it has come to its first step.
    pub(crate) fn warmed(&self) -> Option<Clock> {
        (!self.starts_up).then_some(self.time.clock)
    }

    /// A copy of a program that was warmed up goes on by the clock which that one had.
    pub(crate) fn goes_on_from(&mut self, warmed: Option<Clock>) {
        if let Some(clock) = warmed {
            self.time.pass(clock);
            self.axis = Axis::after(clock);
        }
    }

    pub(crate) fn start_as(setup: &Setup, started: Started) -> Result<Self, StartError> {
        let page = match setup.clock_reads {
            ClockReads::Page => {
                Some(ClockPage::new().map_err(|source| spawn::refused("share a page", source))?)
            }
            ClockReads::Notified => None,
        };
        if let Some(page) = &page {
            page.show(setup.clock);
        }
        let listener = Arc::new(started.listener);
        let life = match started.keeper {
            None => Life::Own(started.child),
            Some(keeper) => {
                let keeper = NamespaceKeeper::new(keeper);
                Life::Copied(started.child, Nest { keeper, ends: started.ends })
            }
        };
        let page = page.map(Arc::new);
        Ok(Self::new(setup, life, listener, page, started.apart, started.input, started.output))
    }

    pub(crate) fn new(
        setup: &Setup,
        life: Life,
        listener: Arc<Listener>,
        page: Option<Arc<ClockPage>>,
        apart: Apart,
        input: OwnedFd,
        outputs: [OwnedFd; 2],
    ) -> Self {
        let setup = Arc::new(setup.clone());
        let files = FileSystem::new(&setup, apart, &outputs[0]);
        Self {
            life,
            listener,
            table: Table::new(&setup),
            signals: Signals::default(),
            futexes: Futexes::default(),
            time: Time::new(setup.clock, page),
            axis: Axis::from(setup.clock),
            timers: Timers::default(),
            streams: Streams::new(setup.limits, input, outputs),
            network: Network::new(&setup, apart),
            files,
            apart,
            shared_memory: SharedMemory::default(),
            notifications: Notifications::default(),
            turns: Turns::of_start_up(&setup.name),
            effort: Effort::default(),
            stacks: setup.stacks.then(|| Stacks::new(&setup.sources)),
            placed_at_wait: false,
            setup,
            events: VecDeque::new(),
            starts_up: true,
            over: false,
            broken: None,
        }
    }

    /// Lets the program go on until something happens or all its threads wait.
    ///
    /// # Errors
    /// If the program can no longer be supervised. Its processes are gone then.
    pub fn step(&mut self, clock: Clock) -> Result<Step, Broken> {
        let _undisturbed = spawn::undisturbed();
        if self.broken.is_none() {
            let clock = self.axis.inside(clock);
            match self.run(clock) {
                Ok(step) => return Ok(self.axis.outside(step)),
                Err(broken) => self.give_up(broken),
            }
        }
        match (self.events.pop_front(), self.broken.take()) {
            (Some(step), broken) => {
                self.broken = broken;
                Ok(step)
            }
            (None, Some(broken)) => {
                self.over = true;
                Err(broken)
            }
            (None, None) => Ok(Step::Exited(self.life.status())),
        }
    }

    /// Writes one line to the program's standard input.
    pub fn line(&mut self, line: &str) {
        self.streams.line(line);
    }

    /// True if the program has read the lines that were written to it, if any were.
    #[must_use]
    pub fn has_read(&self) -> bool {
        self.streams.has_read()
    }

    /// Ends the program's standard input.
    pub fn end_input(&mut self) {
        self.streams.end_input();
    }

    /// Reports how a connect ended.
    pub fn connected(&mut self, socket: SocketId, outcome: Result<(), ConnectError>) {
        self.network.sockets.connected(socket, outcome);
    }

    /// Delivers bytes to the program.
    pub fn deliver(&mut self, socket: SocketId, bytes: &[u8]) {
        self.network.sockets.deliver(socket, bytes);
    }

    /// Reports to the program that the other side ended the connection.
    pub fn closed(&mut self, socket: SocketId, how: Ending) {
        self.network.sockets.closed(&self.table, socket, how);
    }

    /// A connection comes to a listening socket; none if it listens no more.
    pub fn accept(&mut self, listener: SocketId, from: SocketAddrV4) -> Option<SocketId> {
        self.network.sockets.accept(&self.table, listener, from)
    }

    /// Kills the processes. Their output is reported first.
    fn give_up(&mut self, broken: Broken) {
        self.life.kill();
        self.streams.report_all();
        let _ = self.gather();
        self.broken = Some(broken);
    }

    /// Runs the program until all its threads wait or are about to do what does not belong to start-up, or it is gone.
    pub(crate) fn start_up(&mut self) -> Result<(), Broken> {
        loop {
            if self.is_running() {
                self.listen()?;
                continue;
            }
            if self.effort.calls() > START_UP_CALLS || !self.events.is_empty() {
                return Ok(());
            }
            let Some(thread) = self.choose_in_start_up() else { return Ok(()) };
            self.turns.set_current(thread);
            self.serve(thread)?;
        }
    }

    /// The thread that continues its start-up.
    fn choose_in_start_up(&mut self) -> Option<usize> {
        let table = &self.table;
        let prepares = |thread: usize| {
            let State::Called(notice) = &table.threads.get(thread)?.state else { return None };
            Some(prepares(table.caller(thread), notice))
        };
        if let Some(thread) = self.turns.continue_current(|thread| prepares(thread) == Some(true)) {
            return Some(thread);
        }
        let goes_on = |&thread: &usize| prepares(thread).unwrap_or_else(|| self.is_able(thread));
        let able = (0..table.threads.len()).filter(goes_on).collect();
        self.turns.draw(able)
    }

    /// Ends start-up: from now on the seed and the driver's clock count.
    fn end_start_up(&mut self) {
        self.starts_up = false;
        self.effort.reset();
        self.turns.seed(self.setup.seed);
        self.table.seed_randomness(self.setup.seed);
        self.time.start();
        self.streams.open_input();
    }

    fn run(&mut self, clock: Clock) -> Result<Step, Broken> {
        if self.starts_up {
            self.start_up()?;
            self.end_start_up();
        }
        if clock != self.time.clock {
            self.files.stamps.stamp(self.time.clock.wall_ns);
            self.time.pass(clock);
            self.effort.pass(clock.monotonic_ns);
            for (process, signal) in self.timers.ring(&self.time) {
                self.effort.note_ring();
                send_signal(&mut self.table, &self.listener, process, signal);
                self.end_if_over();
            }
        }
        loop {
            // Before a step is reported: no thread runs while the driver answers.
            if self.is_running() {
                self.listen()?;
                continue;
            }
            self.notifications.settle();
            if self.signals.are_sent() {
                self.deliver_signals();
                continue;
            }
            if let Some(step) = self.events.pop_front() {
                return Ok(step);
            }
            if self.over {
                return Ok(Step::Exited(self.life.status()));
            }
            self.gather()?;
            if !self.events.is_empty() {
                continue;
            }
            if self.effort.work() > self.setup.limits.calls {
                return Err(Broken::Loops(self.setup.limits.calls));
            }
            if self.effort.takes_time() {
                return Ok(Step::Waits { until_ns: Some(self.time.after_calls()) });
            }
            let Some(thread) = self.choose() else {
                return Ok(Step::Waits { until_ns: self.next_deadline() });
            };
            self.turns.set_current(thread);
            self.serve(thread)?;
        }
    }

    /// Waits for the next call of the thread that runs, or for its end.
    fn listen(&mut self) -> Result<(), Broken> {
        self.streams.note_run();
        match self.notifications.wait(&self.listener, &self.table)? {
            Notification::Nothing => {}
            Notification::Silence(running) => self.silence(&running)?,
            Notification::Call(notice) => self.called(notice),
            Notification::End(process) => buried(&mut self.table, &self.listener, process),
            Notification::HangUp => self.table.end(),
        }
        self.end_if_over();
        Ok(())
    }

    /// Notes a call.
    fn called(&mut self, notice: Notice) {
        let known = self
            .table
            .threads
            .iter()
            .position(|thread| thread.tid == notice.thread() && !matches!(thread.state, State::Dead));
        let thread = match known {
            Some(thread) => thread,
            None => {
                self.effort.note_creation();
                match born(&mut self.table, notice.thread()) {
                    Ok(thread) => thread,
                    // It died as it was born.
                    Err(_) => return,
                }
            }
        };
        if self.is_only_to_be_placed(&notice) {
            self.report_stack(thread, &notice);
            self.listener.go(&notice);
            return;
        }
        self.effort.note_call();
        self.table.heard += 1;
        self.files.stamps.meet();
        self.table.threads[thread].state = State::Called(notice);
    }

    /// A process becomes another program.
    fn enter(&mut self, thread: usize, notice: &Notice) -> Result<(), Broken> {
        let (page, clock_reads) = (self.time.page.as_deref(), self.setup.clock_reads);
        let (table, events) = (&mut self.table, &mut self.events);
        let outcome = enter(table, &self.listener, events, page, clock_reads, thread, notice)?;
        if outcome == Outcome::Another {
            self.timers.made.forget(self.table.threads[thread].process);
        }
        Ok(())
    }

    /// Nothing was heard for a while.
    fn silence(&mut self, running: &[usize]) -> Result<(), Broken> {
        // Perhaps it waits for room: outputs and connections are taken from, which shows nowhere else.
        self.streams.drain();
        self.network.sockets.take_all();
        self.streams.check()?;
        if self.network.sockets.unsent() > self.setup.limits.output {
            return Err(Broken::TooMuchSent(self.setup.limits.output));
        }
        let heard = self.notifications.silence(&mut self.table, running);
        if matches!(heard, Err(Broken::Silent(_))) && self.give_turn()? {
            return Ok(());
        }
        heard
    }

    /// A thread that spins may wait for what another one does in its next step, without a call: that one has a turn beside it. False if
    /// there is none, or if there were too many. No thread has one while any other runs, except here: what both write at once is not
    /// decided by the seed.
    fn give_turn(&mut self) -> Result<bool, Broken> {
        if self.starts_up || !self.notifications.may_give() {
            return Ok(false);
        }
        // What the kernel reads once more could be changed in between.
        let is_safe = |thread: usize| match &self.table.threads[thread].state {
            State::Called(notice) | State::Held(notice, _) => !reads_again(notice.call()),
            _ => false,
        };
        let able =
            (0..self.table.threads.len()).filter(|&thread| self.is_able(thread) && is_safe(thread)).collect();
        let Some(thread) = self.turns.draw(able) else { return Ok(false) };
        self.notifications.note_given();
        self.turns.set_current(thread);
        self.serve(thread)?;
        Ok(true)
    }

    /// The program is over when its first process is.
    fn end_if_over(&mut self) {
        if self.table.is_over && !self.over {
            self.end();
        }
    }

    /// The program ended: the rest of its output is reported, then how it ended.
    fn end(&mut self) {
        self.over = true;
        self.life.status();
        let _ = self.gather();
        self.streams.report_rest(&mut self.events);
    }

    /// Turns what the program sent and printed since the last time into steps.
    fn gather(&mut self) -> Result<(), Broken> {
        self.streams.gather(&mut self.network.sockets, self.over, &mut self.events)
    }

    /// Sees to those who take what signals were sent.
    fn deliver_signals(&mut self) {
        for process in self.signals.deliver(&mut self.table, &self.listener) {
            if self.table.processes[process].alive {
                look_after(&mut self.table, &self.listener, process);
                self.end_if_over();
            }
        }
    }

    /// The next time at which something happens by itself.
    fn next_deadline(&self) -> Option<u64> {
        let waits = self.table.threads.iter().filter_map(|thread| match &thread.state {
            State::Held(_, held) => held.until,
            _ => None,
        });
        self.time.first(waits.chain(self.timers.deadlines()))
    }

    /// True if a thread runs, or is about to.
    fn is_running(&self) -> bool {
        !self.over && self.table.is_running()
    }

    /// True if a thread can go on.
    fn is_able(&self, thread: usize) -> bool {
        match &self.table.threads[thread].state {
            State::Called(_) => true,
            State::Held(_, held) => {
                held.until.is_some_and(|until| self.time.is_over(until))
                    || has_cause(&self.table, &self.network.sockets, thread, held)
            }
            _ => false,
        }
    }

    /// The thread to go on: the one that did as long as it makes calls, else one by lot.
    fn choose(&mut self) -> Option<usize> {
        let threads = &self.table.threads;
        let has_called = |thread: usize| {
            threads.get(thread).is_some_and(|thread| matches!(thread.state, State::Called(_)))
        };
        if let Some(thread) = self.turns.continue_current(has_called) {
            return Some(thread);
        }
        let able = (0..threads.len()).filter(|&thread| self.is_able(thread)).collect();
        self.turns.draw(able)
    }

    /// Answers the call of a thread, or ends its wait.
    fn serve(&mut self, thread: usize) -> Result<(), Broken> {
        match std::mem::replace(&mut self.table.threads[thread].state, State::Running) {
            State::Called(notice) => {
                let is_notified = self.table.threads[thread].announced || self.starts_up;
                if !is_notified {
                    self.report_stack(thread, &notice);
                }
                let caller = self.table.caller(thread);
                let what = if is_notified {
                    None
                } else {
                    point(&self.network, self.setup.clock_reads, caller, &notice)
                };
                match what {
                    Some(what) => self.notify(thread, notice, what),
                    None => self.answer(thread, notice)?,
                }
            }
            State::Held(notice, held) => {
                // One of the two is there: nobody asks the kernel for a cause before it is late.
                let late = held.until.is_some_and(|until| self.time.is_over(until))
                    && !has_cause(&self.table, &self.network.sockets, thread, &held);
                self.release(thread, notice, held, late)?;
            }
            other => self.table.threads[thread].state = other,
        }
        Ok(())
    }

    /// True for a send that would go unseen if stacks were not reported: it counts as unseen.
    fn is_only_to_be_placed(&self, notice: &Notice) -> bool {
        self.stacks.is_some()
            && self.setup.clock_reads == ClockReads::Page
            && notice.call() == Sysno::sendto
            && notice.arg(4) == 0
    }

    /// Reports to the driver from where a thread makes a call.
    fn report_stack(&mut self, thread: usize, notice: &Notice) {
        let Some(stacks) = self.stacks.as_mut().filter(|_| !self.starts_up && says_where(notice.call()))
        else {
            return;
        };
        let frames = stacks.read(self.table.process_of(thread).pid, self.table.threads[thread].tid);
        let waits = is_wait(notice.call());
        // The line at which a thread waits is not the origin of a send by a thread of a library.
        if !frames.is_empty() || (self.placed_at_wait && !waits) {
            self.placed_at_wait = waits;
            self.events.push_back(Step::At(frames));
        }
    }

    /// Reports to the driver what a thread is about to do.
    fn notify(&mut self, thread: usize, notice: Notice, what: What) {
        self.table.threads[thread].state = State::Called(notice);
        self.table.threads[thread].announced = true;
        self.effort.note_notified(what);
        self.events.push_back(Step::Point(Call { thread: thread as u32, what }));
    }

    fn answer(&mut self, thread: usize, notice: Notice) -> Result<(), Broken> {
        self.table.threads[thread].blocks = None;
        if matches!(notice.call(), Sysno::execve | Sysno::execveat) {
            return self.enter(thread, &notice);
        }
        let outcome = self.handle(thread, &notice);
        self.end_if_over();
        self.table.threads[thread].announced = false;
        if !matches!(outcome, Ok(Answer::Hold(_) | Answer::Notify(_))) {
            self.table.threads[thread].written = 0;
        }
        match outcome {
            Ok(Answer::Value(value)) => self.listener.answer(&notice, value),
            Ok(Answer::Go) => self.listener.go(&notice),
            Ok(Answer::Done) => {}
            Ok(Answer::Notify(what)) => self.notify(thread, notice, what),
            Ok(Answer::Hold(held)) if is_interrupted(&mut self.table, thread, &held) => {
                break_off(&mut self.table, &self.listener, thread, &notice);
            }
            Ok(Answer::Hold(held)) => {
                if !matches!(held.cause, Cause::Time) {
                    self.time.forget_little();
                }
                self.table.threads[thread].state = State::Held(notice, held);
            }
            Err(errno) => self.listener.fail(&notice, errno),
        }
        Ok(())
    }

    /// Ends a wait, by what it waited for or because it is late.
    fn release(&mut self, thread: usize, notice: Notice, held: Held, late: bool) -> Result<(), Broken> {
        if !late {
            match held.cause {
                // A call that the supervisor answers in place of the kernel.
                Cause::Files(_) if is_done_here(notice.call()) => self.answer(thread, notice)?,
                // The kernel now finds it ready, or a signal that ends the wait.
                Cause::Files(_) | Cause::Time | Cause::Signals(_) => self.listener.go(&notice),
                Cause::Child(_) | Cause::Again(_) | Cause::Fifo(_) => self.answer(thread, notice)?,
                Cause::Futex(_) => self.listener.answer(&notice, 0),
                Cause::Connect(_) => self.answer(thread, notice)?,
            }
            return Ok(());
        }
        match held.late {
            Late::Answer(value) => self.listener.answer(&notice, value),
            Late::Fail(errno) => self.listener.fail(&notice, errno),
            Late::Again => self.answer(thread, notice)?,
            Late::Empty { bytes, sets } => {
                let memory = self.table.memory_of(thread);
                for set in sets.into_iter().filter(|&set| set != 0) {
                    let _ = memory.write(set, &vec![0; bytes]);
                }
                self.listener.answer(&notice, 0);
            }
        }
        Ok(())
    }

    /// Answers a call: one part of the group for each.
    fn handle(&mut self, thread: usize, notice: &Notice) -> Result<Answer, Errno> {
        if matches!(notice.call(), Sysno::sendmsg | Sysno::sendmmsg) {
            self.shared_memory.note_message();
        }
        let mut ctx = Ctx {
            table: &mut self.table,
            time: &mut self.time,
            listener: &self.listener,
            events: &mut self.events,
            thread,
            notice,
        };
        let FileSystem { stamps, sight, .. } = &mut self.files;
        if let Some(answer) = self.network.call(ctx.reborrow(), sight) {
            return answer;
        }
        match notice.call() {
            Sysno::clock_gettime | Sysno::gettimeofday | Sysno::time | Sysno::clock_getres => {
                reads::look(ctx)
            }
            Sysno::nanosleep | Sysno::clock_nanosleep => reads::sleep(ctx),
            Sysno::alarm | Sysno::setitimer | Sysno::getitimer => self.timers.alarm(ctx),
            Sysno::timer_create
            | Sysno::timer_settime
            | Sysno::timer_gettime
            | Sysno::timer_getoverrun
            | Sysno::timer_delete => self.timers.made.call(ctx),
            Sysno::timerfd_create | Sysno::timerfd_settime | Sysno::timerfd_gettime => self.timers.timer(ctx),
            Sysno::poll | Sysno::ppoll => waiting::poll(ctx),
            Sysno::select | Sysno::pselect6 => waiting::select(ctx),
            Sysno::epoll_wait | Sysno::epoll_pwait | Sysno::epoll_pwait2 => waiting::epoll(ctx),
            Sysno::read | Sysno::readv | Sysno::recvfrom | Sysno::recvmsg | Sysno::recvmmsg => {
                read(ctx, &self.files)
            }
            Sysno::write | Sysno::writev => write(ctx, &mut self.streams),
            Sysno::ioctl => ask_interface(ctx, self.setup.address),
            Sysno::flock => lock_file(ctx, sight),
            Sysno::close_range => hide(ctx),
            Sysno::fcntl if notice.int(1) == SET_SIGNAL as i32 => hide(ctx),
            Sysno::fcntl if notice.int(1) == libc::F_SETLEASE => lease(ctx),
            Sysno::fcntl => lock_range(ctx, sight),
            Sysno::signalfd | Sysno::signalfd4 => {
                ctx.table.has_signal_files = true;
                Ok(Answer::Go)
            }
            Sysno::getppid => Ok(parent(ctx)),
            Sysno::arch_prctl => set_registers(ctx),
            Sysno::personality => set_personality(ctx),
            Sysno::setrlimit | Sysno::prlimit64 => limit_processor_time(ctx),
            Sysno::mmap => self.shared_memory.map(ctx),
            Sysno::memfd_create => self.shared_memory.make_file(ctx),
            Sysno::sched_yield => Ok(ctx.time.give_way()),
            Sysno::pause | Sysno::rt_sigsuspend => suspend(ctx),
            Sysno::rt_sigtimedwait => await_signal(ctx),
            Sysno::futex => self.futexes.call(ctx),
            Sysno::futex_wait | Sysno::futex_waitv | Sysno::futex_wake | Sysno::futex_requeue => {
                Err(Errno::NOSYS)
            }
            // Other families load parts of the kernel that nobody here needs.
            Sysno::socketpair if notice.int(0) != libc::AF_UNIX => Err(Errno::AFNOSUPPORT),
            Sysno::getsockopt if (notice.int(1), notice.int(2)) == (libc::SOL_SOCKET, libc::SO_COOKIE) => {
                stamps.cookie(ctx)
            }
            Sysno::open | Sysno::openat | Sysno::openat2 => self.files.open(ctx),
            Sysno::stat | Sysno::lstat | Sysno::fstat | Sysno::newfstatat | Sysno::statx => {
                stamps.describe(ctx, sight)
            }
            Sysno::mkdir | Sysno::mkdirat | Sysno::rename | Sysno::renameat | Sysno::renameat2 => {
                stamps.change_directory(ctx, sight)
            }
            Sysno::readlink | Sysno::readlinkat => stamps.read_link(ctx, sight),
            Sysno::fsync | Sysno::fdatasync => Ok(self.files.sync(ctx)),
            Sysno::getrandom => getrandom(ctx),
            Sysno::getrusage | Sysno::times | Sysno::sysinfo => usage(ctx),
            Sysno::sched_getaffinity | Sysno::sched_setaffinity | Sysno::getcpu => processor(ctx),
            Sysno::clone | Sysno::clone3 | Sysno::fork | Sysno::vfork => create(ctx),
            Sysno::exit => exit_thread(ctx),
            Sysno::exit_group => exit_process(ctx),
            Sysno::wait4 | Sysno::waitid => await_child(ctx),
            Sysno::kill
            | Sysno::tkill
            | Sysno::tgkill
            | Sysno::rt_sigqueueinfo
            | Sysno::rt_tgsigqueueinfo
            | Sysno::pidfd_send_signal => self.signals.send(ctx),
            call if SHARED.contains(&call) && self.apart.ipc => {
                self.life.spoil();
                self.shared_memory.make_segment(ctx)
            }
            call if SHARED.contains(&call) || FORBIDDEN.contains(&call) => forbid(ctx),
            _ => Ok(Answer::Go),
        }
    }
}

/// Reads from what may have nothing to read yet.
fn read(ctx: Ctx<'_>, files: &FileSystem) -> Result<Answer, Errno> {
    let Ok(file) = ctx.caller().file(ctx.notice.int(0)) else { return Ok(Answer::Go) };
    if files.reads_random(ctx.notice, &file)? {
        return read_random(ctx);
    }
    waiting::read(ctx, &file)
}
