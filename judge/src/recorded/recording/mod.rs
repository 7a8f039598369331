//! The content of the lines of a history: who held what between which lines, and what stores and resources did.
//!
//! Lines of one host stand in the order of its clock; those of different hosts in any order. A process has one operation
//! under way at a time. What it says of a key concerns the grant that it last got of that key.

mod processes;
mod servers;

use std::collections::BTreeMap;

use picklock_model::ids::{EventId, GrantId, HostId, Key};
use picklock_model::time::TrueTime;
use picklock_model::trace::{Event, Role, What};

use super::line::{Line, Operation};
use super::malformed::{Malformed, clipped};

/// The version of the form of a history.
const FORM: u32 = 1;

/// A history that was read.
#[derive(Default)]
pub struct Recording {
    pub(super) settings: Settings,
    pub(super) hosts: Vec<Host>,
    pub(super) processes: Vec<Process>,
    pub(super) keys: Vec<Key>,
    /// In the order of their first lines.
    pub(super) sections: Vec<Section>,
    /// The events of stores and resources, and the answers that processes got to their changes, in the order of the lines.
    pub(super) events: Vec<Noted>,
    pub(super) lines: u64,
    /// The sections of the grants that were named; `None` until the line that begins one.
    grants: Vec<Option<usize>>,
    /// By key, the hosts that keep it, the first one before those that were restored, and the value that it had at first.
    guarded: BTreeMap<usize, (Vec<usize>, i64)>,
    named: Names,
    /// The section that a process last asked for, by process and key.
    current: BTreeMap<(usize, usize), usize>,
}

/// Indices by name.
#[derive(Default)]
struct Names {
    hosts: BTreeMap<String, usize>,
    processes: BTreeMap<(usize, String), usize>,
    keys: BTreeMap<String, usize>,
    grants: BTreeMap<String, usize>,
}

/// An event, the line that states it, and what it says of its grant, whose own line may stand further down.
pub(super) struct Noted {
    pub(super) line: u64,
    pub(super) event: Event,
    grant: Option<usize>,
    key: usize,
}

/// The facts of the lock in the first line.
#[derive(Clone, Copy, Default)]
pub(super) struct Settings {
    pub(super) quorum: Option<u32>,
    pub(super) holders: Option<u32>,
    pub(super) sharing: bool,
    pub(super) reentrant: bool,
}

/// A machine, or whatever has a clock of its own.
pub(super) struct Host {
    pub(super) name: String,
    pub(super) role: Option<Role>,
    /// The name of the clock that it reads, if others may read it too.
    named_clock: Option<String>,
    /// The first host that reads the same clock.
    pub(super) clock: usize,
    /// How far its clock may be off, in nanoseconds.
    pub(super) uncertainty: Option<u64>,
    pub(super) first: Option<u64>,
    pub(super) last: u64,
    sections: u32,
    /// When all of its processes died, and the lines that say so.
    crashes: Vec<Point>,
    declared: bool,
}

/// A process, which has one operation under way at a time.
pub(super) struct Process {
    pub(super) host: usize,
    pub(super) name: String,
    under_way: Option<UnderWay>,
    /// So many crashes of its host came before its last line.
    outlived: usize,
}

#[derive(Clone, Copy)]
struct UnderWay {
    operation: Operation,
    key: usize,
    section: Option<usize>,
    line: u64,
}

/// An instant on a host's clock, and the line that states it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Point {
    pub(super) at: u64,
    pub(super) line: u64,
}

/// One asking for the lock, and what became of it.
pub(super) struct Section {
    pub(super) id: GrantId,
    pub(super) process: usize,
    pub(super) key: usize,
    pub(super) asked: Option<Point>,
    pub(super) granted: Option<Point>,
    /// Its holder held no longer.
    pub(super) ended: Option<Point>,
    /// The last line by which its holder is known to hold.
    pub(super) seen: Option<Point>,
    pub(super) token: Option<u64>,
    pub(super) shared: bool,
    /// How often it was acquired once more and not yet released.
    depth: u32,
}

impl Recording {
    /// Adds a line, with its number.
    pub(super) fn take(&mut self, line: &Line<'_>, number: u64) -> Result<(), Malformed> {
        self.lines += 1;
        if let Some(form) = line.history {
            return self.settings(line, form);
        }
        let (Some(operation), Some(ending), Some(host)) = (line.operation, line.ending, &line.host) else {
            return Err(Malformed::new("it says nothing"));
        };
        let host = self.host(host)?;
        if operation == Operation::Host {
            return self.declare(host, line);
        }
        let at = line.time.unwrap_or_default();
        let last = self.hosts[host].last;
        if at < last {
            return Err(Malformed::of(
                "time_ns",
                format!(
                    "it goes back: {at} after {last} on `{}`; write the lines of a host in the order of a clock that \
                     is never set back, and give each machine a name of its own",
                    self.hosts[host].name
                ),
            ));
        }
        self.hosts[host].last = at;
        self.hosts[host].first.get_or_insert(at);
        let point = Point { at, line: number };
        if let Some(role) = operation.belongs_to() {
            self.acts_as(host, role, operation)?;
        }
        match operation.belongs_to() {
            Some(Role::Client) => self.by_process(host, line, operation, ending, point),
            Some(_) => self.noted(host, line, operation, point),
            None if operation == Operation::Crash => self.crash(host, line, point),
            None => {
                self.note(host, None, What::Restarted, point);
                Ok(())
            }
        }
    }

    fn settings(&mut self, line: &Line<'_>, form: u32) -> Result<(), Malformed> {
        if form != FORM {
            let message = format!("the form {form} is not known here: this picklock reads form {FORM}");
            return Err(Malformed::of("history", message));
        }
        if self.lines > 1 {
            return Err(Malformed::of("history", "it stands in the first line only: leave this line out"));
        }
        if line.holders == Some(0) {
            return Err(Malformed::of("holders", "nobody could hold: write 1 for a lock"));
        }
        self.settings = Settings {
            quorum: line.quorum,
            holders: line.holders,
            sharing: line.sharing.unwrap_or(false),
            reentrant: line.reentrant.unwrap_or(false),
        };
        Ok(())
    }

    fn host(&mut self, name: &str) -> Result<usize, Malformed> {
        if let Some(host) = self.named.hosts.get(name) {
            return Ok(*host);
        }
        if self.hosts.len() >= usize::from(u16::MAX) {
            let message =
                "there are too many hosts, at most 65535: a host is a machine; name threads by `process`";
            return Err(Malformed::of("host", message));
        }
        self.hosts.push(Host {
            name: name.to_owned(),
            role: None,
            named_clock: None,
            clock: self.hosts.len(),
            uncertainty: None,
            first: None,
            last: 0,
            sections: 0,
            crashes: Vec::new(),
            declared: false,
        });
        self.named.hosts.insert(name.to_owned(), self.hosts.len() - 1);
        Ok(self.hosts.len() - 1)
    }

    fn declare(&mut self, host: usize, line: &Line<'_>) -> Result<(), Malformed> {
        let host = &mut self.hosts[host];
        if host.declared {
            let message = format!("`{}` was described before: leave this line out", clipped(&host.name));
            return Err(Malformed::of("host", message));
        }
        if let (Some(role), Some(known)) = (line.role, host.role)
            && role != known
            && (role, known) != (Role::Follower, Role::Leader)
        {
            return Err(Malformed::of(
                "role",
                "its earlier lines say something else: put this line before them",
            ));
        }
        host.declared = true;
        host.role = line.role.or(host.role);
        host.uncertainty = line.uncertainty;
        host.named_clock = line.clock.as_deref().map(str::to_owned);
        Ok(())
    }

    /// A host is for one thing.
    fn acts_as(&mut self, host: usize, role: Role, operation: Operation) -> Result<(), Malformed> {
        let host = &mut self.hosts[host];
        let known = *host.role.get_or_insert(role);
        match (known, role) {
            _ if known == role => return Ok(()),
            // A database keeps locks and what they guard.
            (Role::Follower, Role::Leader) | (Role::Leader | Role::Follower, Role::Resource) => return Ok(()),
            (Role::Resource, Role::Leader) => {
                host.role = Some(Role::Leader);
                return Ok(());
            }
            _ => {}
        }
        let is = match known {
            Role::Client => "a client",
            Role::Resource => "a resource",
            _ => "a store",
        };
        Err(Malformed::of(
            "f",
            format!(
                "`{}` says `{}` and is {is}: give clients and stores different hosts",
                clipped(&host.name),
                operation.name()
            ),
        ))
    }

    fn key(&mut self, name: &str) -> usize {
        if let Some(key) = self.named.keys.get(name) {
            return *key;
        }
        self.keys.push(Key::new(name));
        self.named.keys.insert(name.to_owned(), self.keys.len() - 1);
        self.keys.len() - 1
    }

    fn note(&mut self, host: usize, grant: Option<GrantId>, what: What, point: Point) {
        let host = HostId(host as u16);
        let event =
            Event { at: TrueTime(point.at), id: EventId(0), host, cause: None, conn: None, grant, what };
        self.events.push(Noted { line: point.line, event, grant: None, key: 0 });
    }

    fn granted_as(&self, grant: &str, key: usize) -> Result<Option<usize>, Malformed> {
        let section = self.named.grants.get(grant).and_then(|known| self.grants[*known]);
        self.agreeing(section, key)
    }

    /// The section, if it is of this key.
    fn agreeing(&self, section: Option<usize>, key: usize) -> Result<Option<usize>, Malformed> {
        match section.filter(|section| self.sections[*section].key != key) {
            Some(other) => Err(Malformed::of(
                "key",
                format!(
                    "the grant is one of `{}`: a lock and what it guards go by one key",
                    clipped(self.keys[self.sections[other].key].as_str())
                ),
            )),
            None => Ok(section),
        }
    }

    /// The index of a grant's name.
    fn grant(&mut self, name: &str) -> usize {
        if let Some(known) = self.named.grants.get(name) {
            return *known;
        }
        self.grants.push(None);
        self.named.grants.insert(name.to_owned(), self.grants.len() - 1);
        self.grants.len() - 1
    }

    fn name(&mut self, section: usize, grant: &str) -> Result<(), Malformed> {
        let known = self.grant(grant);
        if *self.grants[known].get_or_insert(section) != section {
            let message = format!("`{}` names an earlier acquire: take a new name for each", clipped(grant));
            return Err(Malformed::of("grant", message));
        }
        Ok(())
    }

    /// Finds the hosts that read one clock. It is off by as much as any of them says.
    fn share_clocks(&mut self) {
        let mut first: BTreeMap<String, usize> = BTreeMap::new();
        for at in 0..self.hosts.len() {
            let Some(name) = self.hosts[at].named_clock.clone() else { continue };
            let clock = *first.entry(name).or_insert(at);
            self.hosts[at].clock = clock;
            self.hosts[clock].uncertainty = self.hosts[clock].uncertainty.max(self.hosts[at].uncertainty);
        }
        for at in 0..self.hosts.len() {
            self.hosts[at].uncertainty = self.hosts[self.hosts[at].clock].uncertainty;
        }
    }

    /// After the last line: ends what is known to have ended, and finds the sections that stores and resources spoke of.
    pub(super) fn finish(&mut self) -> Result<(), Malformed> {
        for process in 0..self.processes.len() {
            self.bury(process);
        }
        self.share_clocks();
        for at in 0..self.events.len() {
            let Noted { line, grant: Some(grant), key, .. } = self.events[at] else { continue };
            let section = self.agreeing(self.grants[grant], key).map_err(|error| error.at(line))?;
            let Some(section) = section else {
                let message = "no process acquired or changed anything under that name: give the line of its acquire this `grant`";
                return Err(Malformed::of("grant", message).at(line));
            };
            self.events[at].event.grant = Some(self.sections[section].id);
        }
        Ok(())
    }
}
