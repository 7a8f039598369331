//! The heart: which thread goes on, what its call is answered, and what the driver is told.
//!
//! One thread runs at a time. It runs until its next call; then the call is answered, made to wait, or left to the
//! kernel, and the thread goes on. When it waits, another one is chosen by the seed; when all wait, the driver is told.

use std::{
    collections::{BTreeMap, VecDeque},
    os::fd::OwnedFd,
    sync::Arc,
};

use rand_chacha::ChaCha8Rng;
use rand_core::Rng;
use rustix::io::Errno;
use syscalls::Sysno;

use super::{
    apart::Apart,
    call::{Answer, Cause, Held, Late},
    clock_page::ClockPage,
    connections::Sockets,
    datagrams::Datagram,
    filter::{FORBIDDEN, SHARED},
    futex::Futexes,
    netlink::Netlink,
    notify::{Listener, Notice},
    output::Output,
    paths::View,
    plan::Role,
    randomness::stream,
    signals::Sent,
    spawn::{self, Started},
    stamps::Stamps,
    table::{State, Table, Thread},
    template::Life,
    time::Time,
    timers::Timers,
};
use crate::{Broken, Call, Clock, Limits, Looks, Setup, StartError, Step, What};

/// Calls that a thread makes in a row before another one gets its turn.
const STREAK: u32 = 400;
/// Calls of all threads before a little time must pass.
const CALLS: u32 = 20_000;
/// What its calls are counted in.
const SECOND_NS: u64 = 1_000_000_000;
/// So much more than another call one counts of which the driver is told.
const TOLD: u64 = 2;
/// The same for a connection.
const CONNECTION: u64 = 100;

/// The processes of one host, in virtual time.
pub struct Group {
    pub(crate) life: Life,
    pub(crate) listener: Arc<Listener>,
    pub(crate) input: OwnedFd,
    pub(crate) input_backlog: VecDeque<u8>,
    pub(crate) input_ends: bool,
    /// A line was written to its input.
    pub(crate) told_lines: bool,
    pub(crate) outputs: [Output; 2],
    pub(crate) time: Time,
    pub(crate) looks: Looks,
    pub(crate) limits: Limits,
    pub(crate) setup: Setup,
    pub(crate) table: Table,
    /// Signals that were sent, and whose takers were not seen to.
    pub(crate) sent: Vec<Sent>,
    pub(crate) netlinks: Vec<Netlink>,
    pub(crate) datagrams: Vec<Datagram>,
    pub(crate) sockets: Sockets,
    pub(crate) timers: Timers,
    /// How it sees the file systems, once that was asked.
    pub(crate) view: Option<View>,
    /// The times of its files.
    pub(crate) stamps: Stamps,
    /// What files were answered with, by their names.
    pub(crate) answered: BTreeMap<String, (String, OwnedFd)>,
    /// What it has of its own.
    pub(crate) apart: Apart,
    /// Names that were made up for unix sockets.
    pub(crate) names: u32,
    pub(crate) random_files: Vec<u64>,
    pub(crate) order: ChaCha8Rng,
    /// It has not come to its first step.
    pub(crate) starts_up: bool,
    pub(crate) events: VecDeque<Step>,
    pub(crate) current: usize,
    pub(crate) streak: u32,
    pub(crate) calls: u32,
    /// What its calls of a second amount to, and since when.
    pub(crate) work: u64,
    work_since_ns: u64,
    pub(crate) silent_slices: u64,
    pub(crate) futexes: Futexes,
    /// A thread ran, and may have printed or sent something.
    pub(crate) has_run: bool,
    /// Something was taken that was not told yet.
    pub(crate) has_lines: bool,
    pub(crate) over: bool,
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

/// Whether the supervisor does a call itself when a file is ready.
fn is_done_here(call: Sysno) -> bool {
    matches!(call, Sysno::accept | Sysno::accept4 | Sysno::write | Sysno::writev)
}

impl Group {
    /// Starts the program; it runs when the group is first stepped.
    ///
    /// # Errors
    /// If there is no such program, or the kernel or the container forbids what is needed.
    pub fn start(setup: &Setup) -> Result<Self, StartError> {
        Self::start_as(setup, spawn::start(setup, Role::Program)?)
    }

    /// Whether the program was copied from one that had started up before.
    #[must_use]
    pub fn is_copy(&self) -> bool {
        matches!(self.life, Life::Lent(_))
    }

    pub(crate) fn start_as(setup: &Setup, started: Started) -> Result<Self, StartError> {
        let page = match setup.looks {
            Looks::Page => Some(
                ClockPage::new().map_err(|source| StartError::Forbidden { what: "share a page", source })?,
            ),
            Looks::Told => None,
        };
        if let Some(page) = &page {
            page.show(setup.clock);
        }
        let (life, listener) = (Life::Own(started.child), Arc::new(started.listener));
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
        [out, err]: [OwnedFd; 2],
    ) -> Self {
        let stamps = Stamps::new(&out);
        Self {
            life,
            listener,
            input,
            input_backlog: VecDeque::new(),
            input_ends: false,
            told_lines: false,
            outputs: [Output::new(out), Output::new(err)],
            time: Time::new(setup.clock, page),
            looks: setup.looks,
            limits: setup.limits,
            setup: setup.clone(),
            table: Table::new(setup),
            sent: Vec::new(),
            netlinks: Vec::new(),
            datagrams: Vec::new(),
            sockets: Sockets::default(),
            timers: Timers::default(),
            view: None,
            stamps,
            answered: BTreeMap::new(),
            apart,
            names: 0,
            random_files: Vec::new(),
            order: stream(setup.seed, 0),
            starts_up: true,
            events: VecDeque::new(),
            current: 0,
            streak: 0,
            calls: 0,
            work: 0,
            work_since_ns: 0,
            silent_slices: 0,
            futexes: Futexes::default(),
            has_run: true,
            has_lines: false,
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
            match self.run(clock) {
                Ok(step) => return Ok(step),
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

    /// Kills the processes. What they said before is told first.
    fn give_up(&mut self, broken: Broken) {
        self.life.kill();
        self.has_lines = true;
        let _ = self.gather();
        self.broken = Some(broken);
    }

    fn run(&mut self, clock: Clock) -> Result<Step, Broken> {
        if self.starts_up {
            self.start_up()?;
            self.take_up();
        }
        if clock != self.time.clock {
            self.stamp();
            self.time.pass(clock);
            if clock.monotonic_ns.saturating_sub(self.work_since_ns) > SECOND_NS {
                (self.work, self.work_since_ns) = (0, clock.monotonic_ns);
            }
            self.calls = 0;
            for process in self.timers.ring(&self.time) {
                self.send_signal(process, libc::SIGALRM);
            }
        }
        loop {
            // Before a step is told: no thread runs while the driver answers.
            if self.is_running() {
                self.listen()?;
                continue;
            }
            if !self.sent.is_empty() {
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
            if self.work > self.limits.calls {
                return Err(Broken::Loops(self.limits.calls));
            }
            if self.calls > CALLS {
                self.calls = 0;
                return Ok(Step::Waits { until_ns: Some(self.time.after_calls()) });
            }
            let Some(thread) = self.choose() else {
                return Ok(Step::Waits { until_ns: self.next_deadline() });
            };
            self.current = thread;
            self.serve(thread)?;
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

    /// Whether a thread runs, or is about to.
    pub(crate) fn is_running(&self) -> bool {
        !self.over && self.table.is_running()
    }

    /// The thread to go on: the one that did as long as it makes calls, else one by lot.
    fn choose(&mut self) -> Option<usize> {
        let called = |thread: &Thread| matches!(thread.state, State::Called(_));
        if self.streak < STREAK && self.table.threads.get(self.current).is_some_and(called) {
            self.streak += 1;
            return Some(self.current);
        }
        let mut able: Vec<usize> =
            (0..self.table.threads.len()).filter(|&thread| self.is_able(thread)).collect();
        if self.streak >= STREAK && able.len() > 1 {
            able.retain(|&thread| thread != self.current);
        }
        self.streak = 0;
        match able.len() {
            0 => None,
            1 => Some(able[0]),
            n => Some(able[self.order.next_u64() as usize % n]),
        }
    }

    /// Answers the call of a thread, or ends its wait.
    pub(crate) fn serve(&mut self, thread: usize) -> Result<(), Broken> {
        match std::mem::replace(&mut self.table.threads[thread].state, State::Running) {
            State::Called(notice) => {
                if let Some(what) = self.point(thread, &notice) {
                    self.tell(thread, notice, what);
                    return Ok(());
                }
                self.answer(thread, notice)
            }
            State::Held(notice, held) => {
                // One of the two is there: nobody asks the kernel for a cause before it is late.
                let late = held.until.is_some_and(|until| self.time.is_over(until))
                    && !self.has_cause(thread, &held);
                self.release(thread, notice, held, late)
            }
            other => {
                self.table.threads[thread].state = other;
                Ok(())
            }
        }
    }

    /// Tells the driver what a thread is about to do.
    fn tell(&mut self, thread: usize, notice: Notice, what: What) {
        self.table.threads[thread].state = State::Called(notice);
        self.table.threads[thread].announced = true;
        self.work += if what == What::Connect { CONNECTION } else { TOLD };
        self.events.push_back(Step::Point(Call { thread: thread as u32, what }));
    }

    fn answer(&mut self, thread: usize, notice: Notice) -> Result<(), Broken> {
        self.table.threads[thread].blocks = None;
        let outcome = self.handle(thread, &notice);
        self.table.threads[thread].announced = false;
        if !matches!(outcome, Ok(Answer::Hold(_) | Answer::Tell(_))) {
            self.table.threads[thread].written = 0;
        }
        match outcome {
            Ok(Answer::Value(value)) => self.listener.answer(&notice, value),
            Ok(Answer::Go) => self.listener.go(&notice),
            Ok(Answer::Done) => {}
            Ok(Answer::Tell(what)) => self.tell(thread, notice, what),
            Ok(Answer::Hold(held)) if self.is_interrupted(thread, &held) => self.break_off(thread, &notice),
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
                // What the supervisor does in place of the kernel.
                Cause::Files(_) if is_done_here(notice.call()) => return self.answer(thread, notice),
                // The kernel now finds it ready, or a signal that ends the wait.
                Cause::Files(_) | Cause::Time | Cause::Signals(_) => self.listener.go(&notice),
                Cause::Child(_) | Cause::Again(_) | Cause::Fifo(_) => return self.answer(thread, notice),
                Cause::Futex(_) => self.listener.answer(&notice, 0),
                Cause::Connect(_) => return self.answer(thread, notice),
            }
            return Ok(());
        }
        match held.late {
            Late::Answer(value) => self.listener.answer(&notice, value),
            Late::Fail(errno) => self.listener.fail(&notice, errno),
            Late::Again => return self.answer(thread, notice),
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

    /// At which calls the driver is told first.
    fn point(&self, thread: usize, notice: &Notice) -> Option<What> {
        if self.table.threads[thread].announced || self.starts_up {
            return None;
        }
        let told = self.looks == Looks::Told;
        Some(match notice.call() {
            Sysno::connect if self.is_datagram(thread, notice) => return None,
            Sysno::connect => What::Connect,
            Sysno::accept | Sysno::accept4 => What::Accept,
            Sysno::nanosleep | Sysno::clock_nanosleep => What::Sleep,
            Sysno::clock_gettime | Sysno::gettimeofday | Sysno::time if told => What::Look,
            Sysno::write | Sysno::writev if matches!(notice.int(0), 1 | 2) => What::Print,
            Sysno::write | Sysno::writev | Sysno::sendto | Sysno::sendmsg | Sysno::sendmmsg if told => {
                What::Send
            }
            Sysno::poll if notice.int(2) != 0 => What::Wait,
            Sysno::epoll_wait | Sysno::epoll_pwait if notice.int(3) != 0 => What::Wait,
            Sysno::ppoll | Sysno::select | Sysno::pselect6 | Sysno::epoll_pwait2 => What::Wait,
            Sysno::recvfrom | Sysno::recvmsg => What::Read,
            _ => return None,
        })
    }

    fn handle(&mut self, thread: usize, notice: &Notice) -> Result<Answer, Errno> {
        if let Some(answer) = self.netlink(thread, notice).or_else(|| self.datagram_call(thread, notice)) {
            return answer;
        }
        let caller = self.table.caller(thread);
        match notice.call() {
            Sysno::clock_gettime | Sysno::gettimeofday | Sysno::time | Sysno::clock_getres => {
                self.time.look(caller, notice)
            }
            Sysno::nanosleep | Sysno::clock_nanosleep => self.time.sleep(caller, notice),
            Sysno::alarm | Sysno::setitimer | Sysno::getitimer => {
                self.timers.alarm(&self.time, caller, notice)
            }
            Sysno::timerfd_create | Sysno::timerfd_settime | Sysno::timerfd_gettime => {
                self.timers.timer(&self.time, &self.listener, caller, notice)
            }
            Sysno::poll | Sysno::ppoll => self.poll(thread, notice),
            Sysno::select | Sysno::pselect6 => self.select(thread, notice),
            Sysno::epoll_wait | Sysno::epoll_pwait | Sysno::epoll_pwait2 => self.epoll(thread, notice),
            Sysno::read | Sysno::readv | Sysno::recvfrom | Sysno::recvmsg | Sysno::recvmmsg => {
                self.read(thread, notice)
            }
            Sysno::write | Sysno::writev => self.write(thread, notice),
            Sysno::ioctl => self.ask_interface(thread, notice),
            Sysno::flock => self.flock(thread, notice),
            Sysno::fcntl if notice.int(1) == libc::F_SETLEASE => self.lease(),
            Sysno::fcntl => self.lock_range(thread, notice),
            Sysno::signalfd | Sysno::signalfd4 => {
                self.table.has_signal_files = true;
                Ok(Answer::Go)
            }
            Sysno::getppid => Ok(self.parent(thread)),
            Sysno::sched_yield => Ok(self.time.give_way()),
            Sysno::pause | Sysno::rt_sigsuspend => self.suspend(thread, notice),
            Sysno::rt_sigtimedwait => self.await_signal(thread, notice),
            Sysno::futex => self.futexes.call(&mut self.table, &self.time, thread, notice),
            Sysno::futex_wait | Sysno::futex_waitv | Sysno::futex_wake | Sysno::futex_requeue => {
                Err(Errno::NOSYS)
            }
            // Other families load parts of the kernel that nobody here needs.
            Sysno::socketpair if notice.int(0) != libc::AF_UNIX => Err(Errno::AFNOSUPPORT),
            Sysno::socket => self.socket(notice),
            Sysno::connect => self.connect(thread, notice),
            Sysno::bind => self.bind(thread, notice),
            Sysno::listen => self.start_listening(thread, notice),
            Sysno::accept | Sysno::accept4 => self.take(thread, notice),
            Sysno::sendto | Sysno::sendmsg | Sysno::sendmmsg => self.send(thread, notice),
            Sysno::getsockname | Sysno::getpeername => self.names(thread, notice),
            Sysno::getsockopt if (notice.int(1), notice.int(2)) == (libc::SOL_SOCKET, libc::SO_COOKIE) => {
                self.cookie(thread, notice)
            }
            Sysno::setsockopt | Sysno::getsockopt => self.options(thread, notice),
            Sysno::open | Sysno::openat | Sysno::openat2 => self.open(thread, notice),
            Sysno::stat | Sysno::lstat | Sysno::fstat | Sysno::newfstatat | Sysno::statx => {
                self.describe(thread, notice)
            }
            Sysno::mkdir | Sysno::mkdirat | Sysno::rename | Sysno::renameat | Sysno::renameat2 => {
                self.change_directory(thread, notice)
            }
            Sysno::readlink | Sysno::readlinkat => self.read_link(thread, notice),
            Sysno::fsync | Sysno::fdatasync => Ok(self.sync(notice)),
            Sysno::getrandom => self.getrandom(thread, notice),
            Sysno::getrusage | Sysno::times | Sysno::sysinfo => self.usage(thread, notice),
            Sysno::sched_getaffinity | Sysno::sched_setaffinity | Sysno::getcpu => {
                self.processor(thread, notice)
            }
            Sysno::clone | Sysno::clone3 | Sysno::fork | Sysno::vfork => self.birth(thread, notice),
            Sysno::execve | Sysno::execveat => self.exec(thread),
            Sysno::exit => self.exit_thread(thread, notice),
            Sysno::exit_group => self.exit_process(thread, notice),
            Sysno::wait4 | Sysno::waitid => self.await_child(thread, notice),
            Sysno::kill
            | Sysno::tkill
            | Sysno::tgkill
            | Sysno::rt_sigqueueinfo
            | Sysno::rt_tgsigqueueinfo
            | Sysno::pidfd_send_signal => self.signal(thread, notice),
            call if SHARED.contains(&call) => self.share(notice),
            call if FORBIDDEN.contains(&call) => {
                self.events.push_back(Step::Refused(call.name().to_owned()));
                Err(Errno::PERM)
            }
            _ => Ok(Answer::Go),
        }
    }
}
