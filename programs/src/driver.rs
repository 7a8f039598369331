//! One program on one host: what it does goes to the world, what the world does comes to it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use picklock_model::code::Frame;
use picklock_model::plan::Access;
use picklock_model::time::Monotonic;
use picklock_model::trace::What;
use picklock_sim::driver::HostDriver;
use picklock_sim::host::Host;
use picklock_sim::store::Switch;
use picklock_supervisor::{Broken, Clock, Group, Pool, Setup, Status, Step, What as Does};
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};

use crate::beginning::{BeginError, Beginning, Slot};
use crate::connections::Connections;
use crate::event::HostEvent;
use crate::losses::{self, Losses};
use crate::watch::Watch;

/// So many of its last lines on standard error are reported when it fails, and so many of the first refusals.
const STDERR_LINES: usize = 8;

/// How long a program that was warmed up may take to close its connections.
const CLOSING: Duration = Duration::from_secs(30);

thread_local! {
    /// The programs that this thread has started: a program is continued by the thread that made its template.
    static STARTED: Pool = Pool::new();
}

/// True if no program is copied.
static ANEW: AtomicBool = AtomicBool::new(false);

/// From now on each program of this process is started anew, and none is copied: a run takes the same steps, and longer. A program that is
/// to be warmed up is copied nevertheless.
pub fn start_anew() {
    ANEW.store(true, Ordering::Relaxed);
}

/// The facts about a program that has ended, or failed.
#[derive(Clone, Debug, Default)]
pub(crate) struct ExitReport {
    pub(crate) status: Option<Status>,
    stderr: Vec<String>,
    /// The calls that were refused to it, each once: what it complains of afterwards is often only a consequence.
    refusals: Vec<String>,
}

impl ExitReport {
    /// The refused calls and the last lines on standard error, as the end of a message.
    pub(crate) fn details(&self) -> String {
        let mut text = String::new();
        for (title, lines) in
            [("It was refused", &self.refusals), ("Its last lines on standard error", &self.stderr)]
        {
            if !lines.is_empty() {
                text.push_str(&format!("\n{title}:\n  {}", lines.join("\n  ")));
            }
        }
        text
    }

    fn refused(&mut self, what: &str) {
        if self.refusals.len() < STDERR_LINES && self.refusals.iter().all(|other| other != what) {
            self.refusals.push(what.to_owned());
        }
    }
}

/// The ends at which a lock talks with its program.
pub(crate) struct Handle {
    pub(crate) to: UnboundedSender<HostEvent>,
    pub(crate) lines: UnboundedReceiver<String>,
    pub(crate) exit_report: Arc<Mutex<ExitReport>>,
    pub(crate) losses: Arc<Losses>,
}

/// Starts a program as the process of this host, to be asked by lines.
pub(crate) fn start(host: &Host, setup: &Setup, beginning: Beginning) -> Handle {
    let (lines_out, lines) = mpsc::unbounded_channel();
    let losses: Arc<Losses> = Arc::default();
    let asker = Consumer::Asker { lines: lines_out, losses: Arc::clone(&losses) };
    let (driver, to) = Driver::new(host, setup, beginning, asker);
    let exit_report = Arc::clone(&driver.exit_report);
    host.spawn(driver.run());
    Handle { to, lines, exit_report, losses }
}

/// Runs a server as the process of this host until the host stops, for as long as its switch is on. What its log says of who leads is recorded.
pub(crate) async fn serve(host: Host, setup: Setup, leads: fn(&str) -> Option<bool>, switch: Switch) {
    let mut report = ExitReport::default();
    let mut is_over = false;
    while !is_over {
        switch.becomes(true).await;
        let log = Consumer::Log { says: leads, leads: false };
        let (driver, _) = Driver::new(&host, &setup, Beginning::Started, log);
        let exit_report = Arc::clone(&driver.exit_report);
        is_over = tokio::select! {
            biased;
            // Its process ends with its driver, and its connections with it.
            () = switch.becomes(false) => false,
            () = driver.run() => true,
        };
        report = exit_report.lock().unwrap_or_else(PoisonError::into_inner).clone();
    }
    let status = report.status.map(|status| status.to_string()).unwrap_or_default();
    HostDriver::of(&host).abort_run(format!("the server of {} {status}{}", host.name(), report.details()));
}

/// Runs an autonomous client as the process of this host until it ends, or is to be stopped.
pub(crate) async fn watch(host: &Host, setup: &Setup, watch: Watch) -> Arc<Mutex<ExitReport>> {
    let (mut driver, _) = Driver::new(host, setup, Beginning::Started, Consumer::Watch(Box::new(watch)));
    driver.group.end_input();
    driver.asked = true;
    let exit_report = Arc::clone(&driver.exit_report);
    driver.run().await;
    exit_report
}

/// For whom a program prints its lines.
enum Consumer {
    /// Nobody: they are a server's log, of which the last line about who leads counts.
    Log {
        /// True if a line says that this server leads, none if it is about something else.
        says: fn(&str) -> Option<bool>,
        /// True if this server leads.
        leads: bool,
    },
    /// A lock, which has asked for them, or is notified of a loss.
    Asker { lines: UnboundedSender<String>, losses: Arc<Losses> },
    /// The watch over an autonomous client.
    Watch(Box<Watch>),
}

struct Driver {
    host: Host,
    group: Group,
    connections: Connections,
    events: UnboundedReceiver<HostEvent>,
    consumer: Consumer,
    exit_report: Arc<Mutex<ExitReport>>,
    /// True if a line is expected of it.
    asked: bool,
    /// True if it has read the lines that it was sent.
    has_read: bool,
    /// True if it is to be stopped.
    over: bool,
    /// Where it goes when it is asked to stop, if it is to be copied.
    slot: Option<Slot>,
    /// Until when its connections may take to close, if it was asked to stop.
    stops: Option<Monotonic>,
}

impl Driver {
    /// The driver, and the queue of its events.
    fn new(
        host: &Host,
        setup: &Setup,
        beginning: Beginning,
        consumer: Consumer,
    ) -> (Driver, UnboundedSender<HostEvent>) {
        let stacks = HostDriver::of(host).keeps_code() && !matches!(consumer, Consumer::Log { .. });
        let placed = stacks.then(|| Setup { stacks, ..setup.clone() });
        let setup = placed.as_ref().unwrap_or(setup);
        let group = begin(host, setup, &beginning)
            .unwrap_or_else(|error| HostDriver::of(host).abort_run(format!("failed to {error}")));
        let slot = if let Beginning::ToBeCopied(slot) = beginning { Some(slot) } else { None };
        let (more, events) = mpsc::unbounded_channel();
        let driver = Driver {
            host: host.clone(),
            group,
            connections: Connections::new(host, more.clone()),
            events,
            consumer,
            exit_report: Arc::default(),
            asked: false,
            has_read: false,
            over: false,
            slot,
            stops: None,
        };
        (driver, more)
    }

    async fn run(mut self) {
        while !self.over {
            while let Ok(event) = self.events.try_recv() {
                self.deliver(event);
            }
            let (monotonic, wall) = HostDriver::of(&self.host).clocks();
            let clock = Clock { monotonic_ns: monotonic.as_nanos(), wall_ns: wall.as_nanos() };
            match self.group.step(clock) {
                Ok(Step::Exited(status)) => {
                    self.exit_report().status = Some(status);
                    return self.ended(status);
                }
                Ok(Step::Waits { .. }) if self.rests(monotonic) => return self.keep(),
                Ok(Step::Waits { until_ns }) => self.wait(until_ns).await,
                Ok(step) => self.handle(step).await,
                Err(broken) => self.fail(&broken),
            }
        }
    }

    /// True if it was asked to stop and has closed its connections, or has had the time to.
    fn rests(&self, now: Monotonic) -> bool {
        self.stops.is_some_and(|until| self.connections.is_empty() || now >= until)
    }

    /// Stops it for good, to be copied.
    fn keep(self) {
        let template = self.group.into_template();
        if let Some(slot) = self.slot {
            *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(template);
        }
    }

    fn exit_report(&self) -> std::sync::MutexGuard<'_, ExitReport> {
        self.exit_report.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An autonomous client that exits with 0 in the middle of a section has not done its part: the run is aborted.
    fn ended(&mut self, status: Status) {
        if let (Consumer::Watch(watch), Status::Code(0)) = (&mut self.consumer, status)
            && let Err(why) = watch.ended()
        {
            HostDriver::of(&self.host).abort_run(why);
        }
    }

    fn fail(&self, broken: &Broken) -> ! {
        let details = self.exit_report().details();
        HostDriver::of(&self.host).abort_run(format!("failed to {broken}{details}"))
    }

    fn deliver(&mut self, event: HostEvent) {
        match event {
            HostEvent::Line(line) => {
                self.host.record(picklock_sim::host::Origin::default(), What::Asked { line: line.clone() });
                self.group.line(&line);
                self.asked = true;
            }
            HostEvent::Connected(id, outcome) => self.connections.connected(&mut self.group, id, outcome),
            HostEvent::Accepted(listener, stream, from) => {
                self.connections.accepted(&mut self.group, listener, stream, from);
            }
            HostEvent::Came(id, bytes) => self.group.deliver(id, &bytes),
            HostEvent::Ended(id, how) => self.group.closed(id, how),
            HostEvent::NoMoreLines => self.group.end_input(),
            HostEvent::Stop => self.stops = Some(HostDriver::of(&self.host).clocks().0 + CLOSING),
        }
    }

    async fn handle(&mut self, step: Step) {
        match step {
            Step::At(stack) => HostDriver::of(&self.host).at(stack.into_iter().map(frame).collect()),
            Step::Point(call) => HostDriver::of(&self.host).reach(access(call.what)).await,
            Step::Connect { socket, to } => self.connections.connect(&mut self.group, socket, to),
            Step::Listen { socket, port } => self.connections.listen(socket, port),
            Step::Sent { socket, bytes } => self.connections.send(&mut self.group, socket, &bytes).await,
            Step::UserTimeout { socket, timeout } => self.connections.set_user_timeout(socket, timeout),
            Step::Shut { socket } => self.connections.shut(&mut self.group, socket).await,
            Step::Closed { socket } => self.connections.close(&mut self.group, socket),
            Step::Printed(line) => self.print(visible(line)),
            Step::Stderr(line) => self.on_stderr(visible(line)),
            Step::Refused(what) => {
                let what = visible(what);
                self.record_line(format!("[picklock] refused: {what}"), true);
                self.exit_report().refused(&what);
            }
            Step::Waits { .. } | Step::Exited(_) => {}
        }
    }

    fn print(&mut self, line: String) {
        if let Consumer::Log { says, leads } = &mut self.consumer {
            if let Some(now) = says(&line)
                && now != std::mem::replace(leads, now)
            {
                let what = if now { What::BecameLeader } else { What::StoppedLeading };
                self.host.record(picklock_sim::host::Origin::default(), what);
            }
            return self.keep_stderr(line);
        }
        if let Consumer::Asker { losses, .. } = &self.consumer {
            // A line that it prints before it has read one is no answer: runtimes print warnings as they start.
            self.has_read = self.has_read || self.group.has_read();
            if !self.has_read {
                return self.on_stderr(line);
            }
            if let Some(key) = losses::read(&line) {
                losses.report(key);
                return self.record_line(line, true);
            }
        }
        self.record_line(line.clone(), false);
        match &mut self.consumer {
            Consumer::Watch(watch) => match watch.hear(&line) {
                Ok(over) => self.over = over,
                Err(why) => {
                    let details = self.exit_report().details();
                    HostDriver::of(&self.host).abort_run(format!("{why}{details}"));
                }
            },
            Consumer::Asker { lines, .. } => {
                self.asked = false;
                // Nobody listens once the client is gone.
                let _ = lines.send(line);
            }
            Consumer::Log { .. } => {}
        }
    }

    fn on_stderr(&self, line: String) {
        self.record_line(line.clone(), true);
        self.keep_stderr(line);
    }

    fn keep_stderr(&self, line: String) {
        let mut report = self.exit_report();
        if report.stderr.len() == STDERR_LINES {
            report.stderr.remove(0);
        }
        report.stderr.push(line);
    }

    fn record_line(&self, line: String, aside: bool) {
        self.host.record(picklock_sim::host::Origin::default(), What::Printed { line, aside });
    }

    /// Waits until there is an event, or a thread's time has come.
    async fn wait(&mut self, until_ns: Option<u64>) {
        if until_ns.is_none() && self.asked && self.connections.is_empty() && self.events.is_empty() {
            let details = self.exit_report().details();
            let must = match self.consumer {
                Consumer::Watch(_) => "has not exited. It must print its reports and flush them, or exit.",
                _ => {
                    "has not answered the last request. It must print one line per line read from standard input, and flush it."
                }
            };
            HostDriver::of(&self.host)
                .abort_run(format!("the program is idle with no open connection and {must}{details}"));
        }
        let host = self.host.clone();
        let until = until_ns.map(Monotonic).into_iter().chain(self.stops).min();
        let time = async {
            match until {
                Some(at) => host.sleep_until(at).await,
                None => std::future::pending().await,
            }
        };
        let event = tokio::select! {
            biased;
            event = self.events.recv() => event,
            () = time => None,
        };
        event.into_iter().for_each(|event| self.deliver(event));
    }
}

/// Starts a program. One that was started before is copied, unless each is to be started anew: the steps are the same, and it takes a tenth.
fn begin(host: &Host, setup: &Setup, beginning: &Beginning) -> Result<Group, BeginError> {
    match beginning {
        Beginning::Started if ANEW.load(Ordering::Relaxed) => Ok(Group::start(setup)?),
        Beginning::Started => Ok(STARTED.with(|pool| pool.start(setup))?),
        Beginning::Warmed(warm_up) => {
            STARTED.with(|pool| pool.start_warmed(setup, &warm_up.world, || (warm_up.run)(host, setup)))
        }
        Beginning::ToBeCopied(_) => Ok(Group::start_to_copy(setup)?),
    }
}

fn frame(frame: picklock_supervisor::Frame) -> Frame {
    let picklock_supervisor::Frame { function, file, line, text, library } = frame;
    Frame { function, file, line, text: text.map(visible), library }
}

/// A line in which control characters are shown and not obeyed: terminals and reports print it.
fn visible(line: String) -> String {
    let hidden = |c: char| c.is_control() && c != '\t';
    if !line.contains(hidden) {
        return line;
    }
    let shown = |c: char| if hidden(c) { c.escape_default().to_string() } else { c.to_string() };
    line.chars().map(shown).collect()
}

/// The kind of injection point that a call is.
fn access(call: Does) -> Access {
    match call {
        Does::Connect => Access::Connects,
        Does::Accept => Access::Accepts,
        Does::Read => Access::Receives,
        Does::Send => Access::Sends,
        Does::Print => Access::Prints,
        Does::Wait => Access::Waits,
        Does::Sleep => Access::Sleeps,
        Does::ClockRead => Access::Clock,
    }
}
