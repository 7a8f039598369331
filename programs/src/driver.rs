//! One program on one host: what it does goes to the world, what the world does comes to it.

use std::sync::{Arc, Mutex, PoisonError};

use picklock_model::plan::Access;
use picklock_model::time::Monotonic;
use picklock_model::trace::What;
use picklock_sim::driver::HostDriver;
use picklock_sim::host::Host;
use picklock_supervisor::{Broken, Clock, Group, Pool, Setup, Status, Step, What as Does};
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};

use crate::connections::Connections;
use crate::news::News;
use crate::watch::Watch;

/// So many of its last complaints are told when it fails, and so many of the first refusals.
const COMPLAINTS: usize = 8;

thread_local! {
    /// What this thread has started: a program is let go on by the thread that made its template.
    static STARTED: Pool = Pool::new();
}

/// What is known of a program that has ended, or failed.
#[derive(Clone, Debug, Default)]
pub(crate) struct LastWords {
    pub(crate) status: Option<Status>,
    complaints: Vec<String>,
    /// What was refused to it, each once: what it complains of afterwards is often only a consequence.
    refusals: Vec<String>,
}

impl LastWords {
    /// What was refused to it and its last complaints, as the end of a message.
    pub(crate) fn complaints(&self) -> String {
        let mut text = String::new();
        for (title, lines) in
            [("It was refused", &self.refusals), ("Its last lines on standard error", &self.complaints)]
        {
            if !lines.is_empty() {
                text.push_str(&format!("\n{title}:\n  {}", lines.join("\n  ")));
            }
        }
        text
    }

    fn refused(&mut self, what: &str) {
        if self.refusals.len() < COMPLAINTS && self.refusals.iter().all(|other| other != what) {
            self.refusals.push(what.to_owned());
        }
    }
}

/// The ends at which a lock talks with its program.
pub(crate) struct Ends {
    pub(crate) to: UnboundedSender<News>,
    pub(crate) lines: UnboundedReceiver<String>,
    pub(crate) last_words: Arc<Mutex<LastWords>>,
}

/// Starts a program as the process of this host, to be asked by lines.
pub(crate) fn start(host: &Host, setup: &Setup) -> Ends {
    let (tell, lines) = mpsc::unbounded_channel();
    let (driver, to) = Driver::new(host, setup, Audience::Asker(tell));
    let last_words = Arc::clone(&driver.last_words);
    host.spawn(driver.run());
    Ends { to, lines, last_words }
}

/// Runs a server as the process of this host until the host stops. What its log says of who leads is told.
pub(crate) async fn serve(host: Host, setup: Setup, leads: fn(&str) -> Option<bool>) {
    let (driver, _) = Driver::new(&host, &setup, Audience::Log { says: leads, leads: false });
    let last_words = Arc::clone(&driver.last_words);
    driver.run().await;
    let words = last_words.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let status = words.status.map(|status| status.to_string()).unwrap_or_default();
    HostDriver::of(&host).abort_run(format!("the server of {} {status}{}", host.name(), words.complaints()));
}

/// Runs a worker as the process of this host until it ends, or is to be stopped.
pub(crate) async fn watch(host: &Host, setup: &Setup, watch: Watch) -> Arc<Mutex<LastWords>> {
    let (mut driver, _) = Driver::new(host, setup, Audience::Watch(Box::new(watch)));
    driver.group.end_input();
    driver.asked = true;
    let last_words = Arc::clone(&driver.last_words);
    driver.run().await;
    last_words
}

/// For whom a program prints its lines.
enum Audience {
    /// Nobody: they are a server's log, and tell what it last said of who leads.
    Log {
        /// What a line says of that.
        says: fn(&str) -> Option<bool>,
        /// Whether this server does.
        leads: bool,
    },
    /// A lock, which has asked for them.
    Asker(UnboundedSender<String>),
    /// Who follows a worker.
    Watch(Box<Watch>),
}

struct Driver {
    host: Host,
    group: Group,
    connections: Connections,
    news: UnboundedReceiver<News>,
    audience: Audience,
    last_words: Arc<Mutex<LastWords>>,
    /// Whether a line is expected of it.
    asked: bool,
    /// Whether it has read what it was told.
    has_read: bool,
    /// Whether it is to be stopped.
    over: bool,
}

impl Driver {
    /// And where it is told what is brought to it.
    fn new(host: &Host, setup: &Setup, audience: Audience) -> (Driver, UnboundedSender<News>) {
        // Programs that were started before are copied: the steps are the same, and a start takes a tenth.
        let group = match STARTED.with(|pool| pool.start(setup)) {
            Ok(group) => group,
            Err(error) => HostDriver::of(&host).abort_run(format!("failed to {error}")),
        };
        let (more, news) = mpsc::unbounded_channel();
        let driver = Driver {
            host: host.clone(),
            group,
            connections: Connections::new(host, more.clone()),
            news,
            audience,
            last_words: Arc::default(),
            asked: false,
            has_read: false,
            over: false,
        };
        (driver, more)
    }

    async fn run(mut self) {
        while !self.over {
            while let Ok(news) = self.news.try_recv() {
                self.bring(news);
            }
            let (monotonic, wall) = HostDriver::of(&self.host).clocks();
            let clock = Clock { monotonic_ns: monotonic.as_nanos(), wall_ns: wall.as_nanos() };
            match self.group.step(clock) {
                Ok(Step::Exited(status)) => {
                    self.last_words().status = Some(status);
                    return self.ended(status);
                }
                Ok(Step::Waits { until_ns }) => self.wait(until_ns).await,
                Ok(step) => self.take(step).await,
                Err(broken) => self.fail(&broken),
            }
        }
    }

    fn last_words(&self) -> std::sync::MutexGuard<'_, LastWords> {
        self.last_words.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A worker that was in the midst of something when it ended has not done its part, unless it failed: that is told then.
    fn ended(&mut self, status: Status) {
        if let (Audience::Watch(watch), Status::Code(0)) = (&mut self.audience, status)
            && let Err(why) = watch.ended()
        {
            HostDriver::of(&self.host).abort_run(why);
        }
    }

    fn fail(&self, broken: &Broken) -> ! {
        let complaints = self.last_words().complaints();
        HostDriver::of(&self.host).abort_run(format!("failed to {broken}{complaints}"))
    }

    fn bring(&mut self, news: News) {
        match news {
            News::Line(line) => {
                self.host.record(picklock_sim::host::Origin::default(), What::Told { line: line.clone() });
                self.group.line(&line);
                self.asked = true;
            }
            News::Connected(id, outcome) => self.connections.connected(&mut self.group, id, outcome),
            News::Accepted(listener, stream, from) => {
                self.connections.accepted(&mut self.group, listener, stream, from);
            }
            News::Came(id, bytes) => self.group.deliver(id, &bytes),
            News::Ended(id, how) => self.group.closed(id, how),
        }
    }

    async fn take(&mut self, step: Step) {
        match step {
            Step::Point(call) => HostDriver::of(&self.host).pass(access(call.what)).await,
            Step::Connect { socket, to } => self.connections.connect(&mut self.group, socket, to),
            Step::Listen { socket, port } => self.connections.listen(socket, port),
            Step::Sent { socket, bytes } => self.connections.send(&mut self.group, socket, &bytes).await,
            Step::Shut { socket } => self.connections.shut(&mut self.group, socket).await,
            Step::Closed { socket } => self.connections.close(&mut self.group, socket),
            Step::Printed(line) => self.print(visible(line)),
            Step::Complained(line) => self.complain(visible(line)),
            Step::Refused(what) => {
                let what = visible(what);
                self.note(format!("[picklock] refused: {what}"), true);
                self.last_words().refused(&what);
            }
            Step::Waits { .. } | Step::Exited(_) => {}
        }
    }

    fn print(&mut self, line: String) {
        if let Audience::Log { says, leads } = &mut self.audience {
            if let Some(now) = says(&line)
                && now != std::mem::replace(leads, now)
            {
                let what = if now { What::Promoted } else { What::Demoted };
                self.host.record(picklock_sim::host::Origin::default(), what);
            }
            return self.keep(line);
        }
        if let Audience::Asker(_) = self.audience {
            // What comes before it has read a line answers none: runtimes print warnings as they start.
            self.has_read = self.has_read || self.group.has_read();
            if !self.has_read {
                return self.complain(line);
            }
        }
        self.note(line.clone(), false);
        match &mut self.audience {
            Audience::Watch(watch) => match watch.hear(&line) {
                Ok(over) => self.over = over,
                Err(why) => {
                    let complaints = self.last_words().complaints();
                    HostDriver::of(&self.host).abort_run(format!("{why}{complaints}"));
                }
            },
            Audience::Asker(tell) => {
                self.asked = false;
                // Nobody listens once the client is gone.
                let _ = tell.send(line);
            }
            Audience::Log { .. } => {}
        }
    }

    fn complain(&self, line: String) {
        self.note(line.clone(), true);
        self.keep(line);
    }

    fn keep(&self, line: String) {
        let mut words = self.last_words();
        if words.complaints.len() == COMPLAINTS {
            words.complaints.remove(0);
        }
        words.complaints.push(line);
    }

    fn note(&self, line: String, aside: bool) {
        self.host.record(picklock_sim::host::Origin::default(), What::Printed { line, aside });
    }

    /// Waits until there is news, or a thread's time has come.
    async fn wait(&mut self, until_ns: Option<u64>) {
        if until_ns.is_none() && self.asked && self.connections.is_empty() && self.news.is_empty() {
            let complaints = self.last_words().complaints();
            let must = match self.audience {
                Audience::Watch(_) => {
                    "has not ended: a worker that nobody asks goes on until it ends by itself or is stopped (flush what it prints)"
                }
                _ => {
                    "has not answered what it was told: it must read lines from its standard input and print one for each, at once \
                     (flush it)"
                }
            };
            HostDriver::of(&self.host).abort_run(format!(
                "the program waits for nothing and has no connection, and {must}{complaints}"
            ));
        }
        let host = self.host.clone();
        let time = async {
            match until_ns {
                Some(at) => host.sleep_until(Monotonic(at)).await,
                None => std::future::pending().await,
            }
        };
        let news = tokio::select! {
            biased;
            news = self.news.recv() => news,
            () = time => None,
        };
        news.into_iter().for_each(|news| self.bring(news));
    }
}

/// A line in which control characters are shown and not obeyed: it is told on terminals and in reports.
fn visible(line: String) -> String {
    let hidden = |c: char| c.is_control() && c != '\t';
    if !line.contains(hidden) {
        return line;
    }
    let shown = |c: char| if hidden(c) { c.escape_default().to_string() } else { c.to_string() };
    line.chars().map(shown).collect()
}

/// What a call is as a protocol point.
fn access(call: Does) -> Access {
    match call {
        Does::Connect => Access::Connects,
        Does::Accept => Access::Accepts,
        Does::Read => Access::Receives,
        Does::Send => Access::Sends,
        Does::Print => Access::Prints,
        Does::Wait => Access::Waits,
        Does::Sleep => Access::Sleeps,
        Does::Look => Access::Clock,
    }
}
