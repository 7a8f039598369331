//! How the real server of a member is run, and what stands beside it on its host.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use tokio::sync::watch;

use crate::base::future::BoxFuture;
use crate::host::Host;

/// How the real server of a member is run, as an unmodified process.
#[derive(Clone, Debug)]
pub struct RealServer {
    /// Program and arguments. It runs in a network of its own, takes connections from every host of it, finds the others by
    /// their names, and has an empty home directory.
    pub command: Vec<String>,
    /// The files that a restart finds in the home directory.
    pub keeps: Keeps,
    /// The files that its first start finds in the home directory. `None` if it finds nothing.
    pub files: Option<FirstFiles>,
    /// The leadership of this member by a line of its log: it leads from now on, or no more. `None` for any other line.
    pub leads: fn(&str) -> Option<bool>,
    /// Its agent. `None` if it needs none.
    pub agent: Option<Agent>,
}

impl RealServer {
    /// One that starts from nothing each time, and whose log is not read.
    #[must_use]
    pub fn new(command: Vec<String>) -> RealServer {
        RealServer { command, keeps: Keeps::Nothing, files: None, leads: |_| None, agent: None }
    }
}

/// The files that the first start of a real server finds: they are made once for the machine, kept, and copied for each server.
#[derive(Clone, Debug)]
pub struct FirstFiles {
    /// Their name among those that are kept; another version of the server has another one.
    pub name: String,
    /// Makes them in this empty directory. An error is a fragment.
    pub make: fn(&Path) -> Result<(), String>,
}

/// The files that a real server finds in its home directory when it is started anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keeps {
    /// Nothing.
    Nothing,
    /// The files that it left; after a loss of power, those that it synced.
    Synced,
    /// The files that it left, also after a loss of power: a server that syncs what it acknowledges misses nothing that it would miss.
    All,
}

/// The agent of a real server: what the product leaves to a program of its operator's, simulated on the server's host for as long as the host
/// runs. It starts the server, and may stop it and start it again.
#[derive(Clone)]
pub struct Agent(Arc<dyn Fn(Host, Switch) -> BoxFuture<'static, ()> + Send + Sync>);

impl Agent {
    /// One that does this.
    pub fn new<F, Fut>(does: F) -> Agent
    where
        F: Fn(Host, Switch) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = ()> + Send + 'static,
    {
        Agent(Arc::new(move |host, switch| Box::pin(does(host, switch))))
    }

    /// Runs it.
    #[must_use]
    pub fn run(&self, host: Host, switch: Switch) -> BoxFuture<'static, ()> {
        (self.0)(host, switch)
    }
}

impl fmt::Debug for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Agent")
    }
}

/// The switch of a real server. Copies of it are the same one.
#[derive(Clone, Debug)]
pub struct Switch(Arc<watch::Sender<bool>>);

impl Switch {
    /// The switch of a server that runs, or does not yet.
    #[must_use]
    pub fn new(runs: bool) -> Switch {
        Switch(Arc::new(watch::Sender::new(runs)))
    }

    /// Has the server run from now on, or not. A server that is stopped dies at once, as by SIGKILL; one that is started finds its files.
    pub fn set(&self, runs: bool) {
        self.0.send_if_modified(|before| std::mem::replace(before, runs) != runs);
    }

    /// Waits until the server is to run, or not to.
    pub async fn becomes(&self, runs: bool) {
        // The sender is here, so the wait does not fail.
        let _ = self.0.subscribe().wait_for(|now| *now == runs).await;
    }
}
