//! A lock whose client is a program: what it is asked, and what it answers.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use picklock_model::ids::Key;
use picklock_sim::design::Context;
use picklock_sim::driver::HostDriver;
use picklock_sim::host::Host;
use picklock_sim::lock::{Grant, Lock, LockError, Retry};
use picklock_supervisor::Setup;
use tokio::sync::Mutex;

use crate::answer::{Answer, Granted, Question};
use crate::beginning::Beginning;
use crate::driver::{self, ExitReport, Handle};
use crate::event::HostEvent;
use crate::losses::Losses;

/// The shortest time after which a program is asked again that says when.
const SHORTEST_RETRY: Duration = Duration::from_millis(1);
/// The longest pause before the next question to a program that does not say when: half of what a design may take to retry.
const LONGEST_PAUSE: Duration = Duration::from_millis(500);
/// At least so many of them are in a lease: pauses do not grow where a lease is short.
const PAUSES_IN_A_LEASE: u32 = 20;
/// How often a pause grows at most.
const GROWS: u32 = 1000;

/// A program on a host, asked for a lock.
pub(crate) struct ProgramLock {
    host: Host,
    /// The lease that it asks for.
    ttl: Duration,
    checkpoint: Option<Duration>,
    fenced: bool,
    losses: Arc<Losses>,
    talk: Mutex<Talk>,
}

struct Talk {
    handle: Handle,
    /// Requests whose answer was not read yet, that of a cancelled caller included.
    unanswered: u32,
    grants: u32,
}

impl Talk {
    fn exit_report(&self) -> ExitReport {
        self.handle.exit_report.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn has_ended(&self) -> bool {
        self.exit_report().status.is_some()
    }
}

impl ProgramLock {
    /// Starts the program. It is asked to renew as often as `checkpoint` says, if at all; its tokens count if it is `fenced`.
    pub(crate) fn start(
        context: &Context,
        setup: &Setup,
        beginning: Beginning,
        checkpoint: Option<Duration>,
        fenced: bool,
    ) -> ProgramLock {
        let handle = driver::start(&context.host, setup, beginning);
        let losses = Arc::clone(&handle.losses);
        let talk = Talk { handle, unanswered: 0, grants: 0 };
        let (host, ttl) = (context.host.clone(), context.ttl);
        ProgramLock { host, ttl, checkpoint, fenced, losses, talk: Mutex::new(talk) }
    }

    /// Has it acquire and release once.
    async fn use_once(&self, key: &Key, wait: Duration) {
        let failed = |what: &str| -> ! {
            HostDriver::of(&self.host).abort_run(format!("the program did not {what}, though no fault hit"))
        };
        let Ok(Some(grant)) = self.acquire(&self.host, key, wait).await else { failed("acquire") };
        if self.release(grant).await.is_err() {
            failed("release");
        }
    }

    /// Has it acquire and release once and close its connections, and stops it then.
    pub(crate) async fn warm_up(&self, key: &Key, wait: Duration) {
        self.use_once(key, wait).await;
        if let Answer::Error(text) = self.ask(Question::Close, "close".to_owned()).await {
            HostDriver::of(&self.host)
                .abort_run(format!("the program did not close its connections, though no fault hit: {text}"));
        }
        self.finish(HostEvent::Stop).await;
    }

    /// Has it acquire and release once, and ends its input.
    pub(crate) async fn run_to_end(&self, key: &Key, wait: Duration) {
        self.use_once(key, wait).await;
        self.finish(HostEvent::NoMoreLines).await;
        if !self.talk.lock().await.has_ended() {
            HostDriver::of(&self.host).abort_run("the program did not end with its input".to_owned());
        }
    }

    /// Sends it the last event, and waits until its driver ends.
    async fn finish(&self, last: HostEvent) {
        let mut talk = self.talk.lock().await;
        let _ = talk.handle.to.send(last);
        while talk.handle.lines.recv().await.is_some() {}
    }

    /// The bounds of the pause after so many refusals: those of every lock at first, a quarter of that more each time, up to a
    /// small share of the lease. So a long lease is waited for in far fewer questions.
    fn pause(&self, refusals: u32) -> Retry {
        let Retry { min, max } = self.retry();
        let most = (self.ttl / PAUSES_IN_A_LEASE).clamp(max, LONGEST_PAUSE.max(max));
        let longest = (max + max / 4 * refusals.min(GROWS)).min(most);
        Retry { min: min.max(longest / 3), max: longest }
    }

    async fn ask(&self, question: Question, line: String) -> Answer {
        let mut talk = self.talk.lock().await;
        while talk.unanswered > 0 {
            self.next(&mut talk, &line).await;
        }
        if let Ok(unasked) = talk.handle.lines.try_recv() {
            if talk.has_ended() {
                self.ended(&talk, &line);
            }
            HostDriver::of(&self.host).abort_run(format!(
                "the program printed `{unasked}` before it was asked `{line}`: it must print one line for each line that it reads; what an \
                 error says has to stand in one"
            ));
        }
        talk.unanswered += 1;
        // If it is gone, there will be no answer.
        let _ = talk.handle.to.send(HostEvent::Line(line.clone()));
        let answer = self.next(&mut talk, &line).await;
        question.read(&answer).unwrap_or_else(|| {
            let expected = question.expected();
            HostDriver::of(&self.host).abort_run(format!(
                "the program answered `{line}` with `{answer}`; it must answer {expected}"
            ))
        })
    }

    async fn next(&self, talk: &mut Talk, line: &str) -> String {
        let Some(answer) = talk.handle.lines.recv().await else {
            self.ended(talk, line);
        };
        talk.unanswered -= 1;
        answer
    }

    /// Aborts the run because the program is gone, with its exit report.
    fn ended(&self, talk: &Talk, line: &str) -> ! {
        let report = talk.exit_report();
        let status = report.status.map(|status| status.to_string()).unwrap_or("was stopped".to_owned());
        let details = report.details();
        HostDriver::of(&self.host)
            .abort_run(format!("the program {status} before it answered `{line}`{details}"));
    }

    async fn granted(&self, key: &Key, given: Granted) -> Grant {
        let nth = {
            let mut talk = self.talk.lock().await;
            talk.grants += 1;
            talk.grants
        };
        let owner = given.owner.unwrap_or_else(|| format!("{}#{nth}", self.host.name()));
        let mut grant = Grant::new(key, owner);
        grant.token = given.token.filter(|_| self.fenced);
        grant.deadline = given.until.map(|until| until.on(&self.host));
        grant
    }
}

impl Lock for ProgramLock {
    async fn try_acquire(&self, key: &Key) -> Result<Option<Grant>, LockError> {
        self.acquire(&self.host, key, Duration::ZERO).await
    }

    async fn acquire(&self, host: &Host, key: &Key, wait: Duration) -> Result<Option<Grant>, LockError> {
        let give_up = HostDriver::of(host).clocks().0 + wait;
        let mut refusals = 0;
        loop {
            let left = give_up.since(HostDriver::of(host).clocks().0);
            host.begin_attempt();
            self.losses.forget(key);
            let (outcome, retry) =
                match self.ask(Question::Acquire, format!("acquire {key} {}", left.as_millis())).await {
                    Answer::Granted(given) => return Ok(Some(self.granted(key, given).await)),
                    Answer::Error(text) => (Err(LockError::in_doubt(text)), None),
                    Answer::Refused { retry } => (Ok(None), retry),
                    _ => (Ok(None), None),
                };
            let pause = match retry {
                // A program that needs no time to refuse would be asked for ever at one instant.
                Some(retry) => retry.max(SHORTEST_RETRY),
                None => {
                    let Retry { min, max } = self.pause(refusals);
                    host.rng().span(min, max)
                }
            };
            if HostDriver::of(host).clocks().0 + pause >= give_up {
                return outcome;
            }
            host.sleep(pause).await;
            refusals += 1;
        }
    }

    async fn release(&self, grant: Grant) -> Result<(), LockError> {
        match self.ask(Question::Release, format!("release {}", grant.key)).await {
            Answer::Error(text) => Err(LockError::in_doubt(text)),
            _ => Ok(()),
        }
    }

    fn checkpoint(&self) -> Option<Duration> {
        self.checkpoint
    }

    async fn lost(&self, grant: &Grant) {
        self.losses.of(&grant.key).await;
    }

    async fn renew(&self, grant: &mut Grant) -> Result<bool, LockError> {
        match self.ask(Question::Renew, format!("renew {}", grant.key)).await {
            Answer::Renewed { until } => {
                grant.deadline = until.map(|until| until.on(&self.host)).or(grant.deadline);
                Ok(true)
            }
            Answer::Error(text) => Err(LockError::in_doubt(text)),
            _ => Ok(false),
        }
    }
}
