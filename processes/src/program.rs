//! A command as a design: how it is spelled, what its processes are given, and on which stores they run.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::{env, fmt, fs};

use picklock_programs::{Looks, Setup};
use picklock_redis::{Redis, sentinel};
use picklock_sim::design::{Design, Part, Seat, Topology};
use picklock_sim::lock::{Belief, Client};
use picklock_sim::store::{StoreAddress, StoreKind as _};
use picklock_sim::text::nearest;
use picklock_sim::time::nanos;
use picklock_sim::trace::Role;
use xxhash_rust::xxh3::xxh3_128;

use crate::ensemble::Ensemble;
use crate::lock::ProgramLock;
use crate::network;
use crate::worker::WorkerProgram;

/// The most stores that a program is given.
const STORES_MAX: u32 = 16;

/// An unmodified program that is asked for a lock.
///
/// It is spelled `program:COMMAND`, or with what differs from the defaults `program{stores=3,belief=honest}:COMMAND`: so it stands
/// in reports, replay lines and capsules.
///
/// ```
/// use picklock_processes::Program;
///
/// let program: Program = "program{stores=3}:python3 lock.py".parse()?;
/// assert_eq!(program, Program::new("python3 lock.py").on_redis(3));
/// assert_eq!(program.to_string(), "program{stores=3}:python3 lock.py");
/// # Ok::<(), picklock_processes::ProgramError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// The command line, as a shell splits it; no shell runs it.
    pub command: String,
    /// How many independent stores it is given.
    pub stores: u32,
    /// Whether each store has replicas, and Sentinels that promote one of them.
    pub sentinel: bool,
    /// The store of several real servers that it is given instead of a Redis, if it is.
    pub ensemble: Option<Ensemble>,
    /// What its worker makes of the `until_ms` of a grant.
    pub belief: Belief,
    /// Whether its grants carry a `token`.
    pub fenced: bool,
    /// Whether the worker asks it to renew, at each third of the lease.
    pub renews: bool,
    /// Whether it does everything by itself, and only says when it holds the lock.
    pub worker: bool,
    /// Whether each of its looks at the clock, and each send, is a point of its own at which a fault can strike. Slower.
    pub told: bool,
}

/// Why a text names no program.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProgramError {
    /// There is no command.
    #[error("there is no command: write it after a colon, as in `program:python3 lock.py`")]
    NoCommand,
    /// The command's quotes are not closed.
    #[error("the command `{0}` has a quote that is not closed")]
    Quotes(String),
    /// A parameter is not known.
    #[error(
        "a program has no parameter `{name}`{}; it has stores, topology, belief, fenced, renew, worker, looks",
        .near.map(|near| format!(" (did you mean `{near}`?)")).unwrap_or_default()
    )]
    Unknown {
        /// The name given.
        name: String,
        /// The one that was probably meant.
        near: Option<&'static str>,
    },
    /// Nobody asks a worker to renew.
    #[error(
        "a worker that does everything by itself is asked for nothing, and for no renewal: leave `renew` out"
    )]
    Renews,
    /// A parameter cannot have this value.
    #[error("`{name}` of a program cannot be `{value}`: it is {must}")]
    Value {
        /// The parameter.
        name: &'static str,
        /// The value given.
        value: String,
        /// What it must be.
        must: &'static str,
    },
}

const PARAMS: [&str; 7] = ["stores", "topology", "belief", "fenced", "renew", "worker", "looks"];

impl Program {
    /// A program on one Redis store, whose holders believe until they release.
    #[must_use]
    pub fn new(command: impl Into<String>) -> Program {
        Program {
            command: command.into(),
            stores: 1,
            sentinel: false,
            ensemble: None,
            belief: Belief::Naive,
            fenced: false,
            renews: false,
            worker: false,
            told: false,
        }
    }

    /// The same on so many independent Redis stores.
    #[must_use]
    pub fn on_redis(mut self, stores: u32) -> Program {
        self.stores = stores;
        self
    }

    /// The same on a Redis primary with replicas, watched by Sentinels.
    #[must_use]
    pub fn with_sentinels(mut self) -> Program {
        self.sentinel = true;
        self
    }

    /// The same on servers that agree among themselves, each a real process in virtual time.
    #[must_use]
    pub fn on(mut self, ensemble: Ensemble) -> Program {
        self.ensemble = Some(ensemble);
        self
    }

    /// The same, whose worker believes in this way.
    #[must_use]
    pub fn believing(mut self, belief: Belief) -> Program {
        self.belief = belief;
        self
    }

    /// The same, whose grants carry fencing tokens.
    #[must_use]
    pub fn fenced(mut self) -> Program {
        self.fenced = true;
        self
    }

    /// The same, which does everything by itself and only says when it holds the lock.
    #[must_use]
    pub fn by_itself(mut self) -> Program {
        self.worker = true;
        self
    }

    /// The same, with a point at each look at the clock and each send.
    #[must_use]
    pub fn told(mut self) -> Program {
        self.told = true;
        self
    }

    /// Whether a text spells a program.
    #[must_use]
    pub fn is_one(text: &str) -> bool {
        text.starts_with("program:") || text.starts_with("program{")
    }

    /// Sets a parameter by its name, as in a spelling.
    ///
    /// # Errors
    /// When there is none of this name, or it cannot have this value.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), ProgramError> {
        let wrong = |name, must| ProgramError::Value { name, value: value.to_owned(), must };
        let yes = |name| match value {
            "yes" => Ok(true),
            "no" => Ok(false),
            _ => Err(wrong(name, "`yes` or `no`")),
        };
        match name {
            "stores" => {
                let stores = value.parse().ok().filter(|stores| (1..=STORES_MAX).contains(stores));
                self.stores = stores.ok_or_else(|| wrong("stores", "a number from 1 to 16"))?;
            }
            "topology" => match value.split_once(':').unwrap_or((value, "")) {
                ("single", "") => (self.stores, self.sentinel, self.ensemble) = (1, false, None),
                ("sentinel" | "replicated", "") => {
                    (self.stores, self.sentinel, self.ensemble) = (1, true, None);
                }
                ("redlock", stores) if !stores.is_empty() => {
                    self.set("stores", stores)?;
                    (self.sentinel, self.ensemble) = (false, None);
                }
                (name @ ("etcd" | "zookeeper"), members) => {
                    let ensemble = Ensemble::read(name, members);
                    let ensemble = ensemble.ok_or_else(|| wrong("topology", Ensemble::MUST))?;
                    (self.stores, self.sentinel, self.ensemble) = (1, false, Some(ensemble));
                }
                _ => {
                    let must = "`single`, `sentinel`, `replicated`, `redlock:N`, `etcd:N` or `zookeeper:N`";
                    return Err(wrong("topology", must));
                }
            },
            "belief" => {
                self.belief = match value {
                    "naive" => Belief::Naive,
                    "honest" => Belief::Honest,
                    "trusting" => Belief::Trusting,
                    _ => return Err(wrong("belief", "`naive`, `honest` or `trusting`")),
                }
            }
            "fenced" => self.fenced = yes("fenced")?,
            "renew" => self.renews = yes("renew")?,
            "worker" => self.worker = yes("worker")?,
            "looks" => {
                self.told = match value {
                    "page" => false,
                    "told" => true,
                    _ => return Err(wrong("looks", "`page` or `told`")),
                }
            }
            _ => {
                let near = nearest(name, PARAMS.iter().copied());
                return Err(ProgramError::Unknown { name: name.to_owned(), near });
            }
        }
        Ok(())
    }

    /// The design that runs it.
    ///
    /// # Errors
    /// When the command is empty or its quotes are not closed.
    pub fn design(&self) -> Result<Design, ProgramError> {
        let words = shlex::split(&self.command).ok_or_else(|| ProgramError::Quotes(self.command.clone()))?;
        if words.is_empty() {
            return Err(ProgramError::NoCommand);
        }
        if self.worker && self.renews {
            return Err(ProgramError::Renews);
        }
        let (program, parts) = (self.clone(), parts(&words));
        let client = move |seat: Seat| {
            let setup = program.setup(&words, &seat);
            let (worker, fenced) = (program.worker, program.fenced);
            let checkpoint = program.renews.then_some(seat.ttl / 3);
            async move {
                Ok(match worker {
                    true => Client::worker(WorkerProgram { host: seat.host, setup, fenced }),
                    false => Client::lock(ProgramLock::start(&seat, &setup, checkpoint, fenced)),
                })
            }
        };
        let design = Design::new(&self.to_string(), client).believing(self.belief).made_of(parts);
        let mut design = match self.ensemble {
            Some(ensemble) => ensemble.under(design),
            None => {
                let topology = Topology { stores: self.stores, replicated: self.sentinel };
                // A client that was given an address asks no Sentinel for another.
                design.on_stores(topology, Redis { alone: !self.sentinel, ..Redis::default() })
            }
        };
        design.claim = format!("an unmodified program: {}", self.command).into();
        design.fenced = self.fenced;
        design.by_itself = self.worker;
        Ok(design)
    }

    fn setup(&self, words: &[String], seat: &Seat) -> Setup {
        let mut setup = network::setup(words, &seat.host);
        setup.looks = if self.told { Looks::Told } else { Looks::Page };
        let ttl = (nanos(seat.ttl) / 1_000_000).to_string();
        let mut env =
            vec![("PICKLOCK_TTL_MS", ttl), ("PYTHONHASHSEED", "0".into()), ("PYTHONUNBUFFERED", "1".into())];
        env.push(("PYTHONDONTWRITEBYTECODE", "1".into()));
        env.extend(match self.ensemble {
            Some(ensemble) => vec![("PICKLOCK_STORES", ensemble.endpoints(&seat.stores))],
            None => stores(&seat.stores),
        });
        setup.env = env.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
        setup
    }
}

/// The files that a command names: its program, and those of its arguments that are files.
fn parts(words: &[String]) -> Vec<Part> {
    let found = |(at, word): (usize, &String)| {
        let path = Path::new(word);
        let within = |directory: PathBuf| directory.join(word);
        let in_path = || env::split_paths(&env::var_os("PATH")?).map(within).find(|path| path.is_file());
        let path = if at == 0 && path.components().count() == 1 { in_path()? } else { path.to_owned() };
        let bytes = fs::read(&path).ok()?;
        Some(Part { file: path.display().to_string(), digest: format!("{:032x}", xxh3_128(&bytes)) })
    };
    words.iter().enumerate().filter_map(found).collect()
}

/// Where its stores are: by name, or whom to ask.
fn stores(stores: &[StoreAddress]) -> Vec<(&'static str, String)> {
    let redis = Redis::default();
    let mut urls = Vec::new();
    let mut sentinels = Vec::new();
    for store in stores {
        match store {
            StoreAddress::Host(name) => urls.push(redis.url(name, redis.port(Role::Store))),
            StoreAddress::Ask(names) => {
                let port = redis.port(Role::Watcher);
                sentinels.extend(names.iter().map(|name| format!("{name}:{port}")));
            }
        }
    }
    let mut env = vec![("PICKLOCK_STORES", urls.join(","))];
    if !sentinels.is_empty() {
        env.push(("PICKLOCK_SENTINELS", sentinels.join(",")));
        env.push(("PICKLOCK_PRIMARY", sentinel::PRIMARY_NAME.to_owned()));
    }
    env
}

impl From<Program> for Design {
    /// # Panics
    /// When the command is empty or its quotes are not closed; [`Program::design`] says so instead.
    fn from(program: Program) -> Design {
        program.design().unwrap_or_else(|error| panic!("{error}"))
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut params = Vec::new();
        if self.stores != 1 {
            params.push(format!("stores={}", self.stores));
        }
        if self.sentinel {
            params.push("topology=sentinel".to_owned());
        }
        params.extend(self.ensemble.map(|ensemble| format!("topology={ensemble}")));
        match self.belief {
            Belief::Honest => params.push("belief=honest".to_owned()),
            Belief::Trusting => params.push("belief=trusting".to_owned()),
            Belief::Naive | Belief::None => {}
        }
        for (set, word) in [
            (self.fenced, "fenced=yes"),
            (self.renews, "renew=yes"),
            (self.worker, "worker=yes"),
            (self.told, "looks=told"),
        ] {
            params.extend(set.then(|| word.to_owned()));
        }
        f.write_str("program")?;
        if !params.is_empty() {
            write!(f, "{{{}}}", params.join(","))?;
        }
        write!(f, ":{}", self.command)
    }
}

impl FromStr for Program {
    type Err = ProgramError;

    fn from_str(text: &str) -> Result<Program, ProgramError> {
        let rest = text.strip_prefix("program").ok_or(ProgramError::NoCommand)?;
        let (params, command) = match rest.strip_prefix('{') {
            Some(rest) => rest.split_once("}:").ok_or(ProgramError::NoCommand)?,
            None => ("", rest.strip_prefix(':').ok_or(ProgramError::NoCommand)?),
        };
        let mut program = Program::new(command);
        for param in params.split(',').filter(|param| !param.is_empty()) {
            let (name, value) = param.split_once('=').unwrap_or((param, ""));
            program.set(name.trim(), value.trim())?;
        }
        program.design().map(|_| program)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spelling_is_read_as_it_is_written() {
        for text in [
            "program:python3 lock.py",
            "program{stores=3,belief=honest,fenced=yes}:./lock --fast",
            "program{topology=etcd:3,fenced=yes}:python3 lock.py",
            "program{topology=zookeeper:1}:python3 lock.py",
            "program{topology=sentinel,renew=yes,looks=told}:python3 'my lock.py' {a,b}",
            "program{belief=honest,worker=yes}:./worker",
        ] {
            let program: Program = text.parse().unwrap();
            assert_eq!(program.to_string(), text);
            assert_eq!(&*program.design().unwrap().name, text);
        }
        let redlock: Program = "program{topology=redlock:5}:x".parse().unwrap();
        assert_eq!(redlock.to_string(), "program{stores=5}:x");
    }

    #[test]
    fn only_a_program_that_is_told_of_sentinels_has_replicas() {
        let replicates = |program: Program| program.design().unwrap().kind.unwrap().replicates();
        assert!(!replicates(Program::new("x")));
        assert!(replicates(Program::new("x").with_sentinels()));
    }

    #[test]
    fn what_spells_no_program_is_refused_with_a_remedy() {
        let error = |text: &str| text.parse::<Program>().unwrap_err().to_string();
        assert!(error("program:").contains("there is no command"));
        assert!(error("program{stores=3}").contains("after a colon"));
        assert!(error("program:python3 'x").contains("not closed"));
        assert!(error("program{store=3}:x").contains("did you mean `stores`"));
        assert!(error("program{stores=0}:x").contains("from 1 to 16"));
        assert!(error("program{topology=ring}:x").contains("`redlock:N`"));
        assert!(error("program{topology=etcd:0}:x").contains("N from 1 to 7"));
        assert!(error("program{renew=yes,worker=yes}:x").contains("leave `renew` out"));
    }
}
