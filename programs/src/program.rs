//! A command as a design: what its processes are given, and on which stores they run.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use picklock_model::time::nanos;
use picklock_sim::design::{Condition, Conditions, Context, Design, Part, Topology};
use picklock_sim::lock::{Belief, Client};
use picklock_sim::store::{Store, StoreAddress};
use picklock_stores::{Servers, ServersError};
use picklock_supervisor::{ClockReads, Instruction, Setup, instructions};
use xxhash_rust::xxh3::xxh3_128;

use crate::archive;
use crate::autonomous::AutonomousProgram;
use crate::beginning::{Beginning, Warm};
use crate::error::ProgramError;
use crate::lock::ProgramLock;
use crate::network;
use crate::real::{SUFFIX, real_store};
use crate::shim;
use crate::warm_up::WarmUp;

/// An unmodified program that is asked for a lock.
///
/// It is spelled `program:COMMAND`, or with what differs from the defaults `program{stores=3,belief=honest}:COMMAND`: so it stands
/// in reports, replay lines and repro files.
///
/// ```
/// use picklock_programs::Program;
///
/// let program: Program = "program{stores=3}:python3 lock.py".parse()?;
/// assert_eq!(program, Program::new("python3 lock.py").on_redis(3));
/// assert_eq!(program.to_string(), "program{stores=3}:python3 lock.py");
/// # Ok::<(), picklock_programs::ProgramError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// What tables call it; the spelling if there is none.
    pub name: Option<String>,
    /// The command line, as a shell splits it; no shell runs it.
    pub command: String,
    /// Its servers: which stores it is given, and whether they are simulated.
    pub servers: Servers,
    /// How its client takes the `until_ms` of a grant.
    pub belief: Belief,
    /// The single conditions that it claims to survive.
    pub survives: Conditions,
    /// True if its grants carry a `token`.
    pub fenced: bool,
    /// True if the client asks it to renew, at each third of the lease.
    pub renews: bool,
    /// True if it is an autonomous client, which only says when it holds the lock.
    pub autonomous: bool,
    /// True if each of its clock reads, and each send, is a point of its own at which a fault can hit. Slower.
    pub clock_points: bool,
    /// True if each of its processes is a copy of one that has acquired and released once. Faster, and not the same runs.
    pub warm: bool,
}

impl Program {
    /// A program on one Redis store, whose holders believe until they release.
    #[must_use]
    pub fn new(command: impl Into<String>) -> Program {
        Program {
            name: None,
            command: command.into(),
            servers: Servers::default(),
            belief: Belief::Naive,
            survives: Conditions::NONE,
            fenced: false,
            renews: false,
            autonomous: false,
            clock_points: false,
            warm: false,
        }
    }

    /// The same on the given number of independent Redis stores.
    ///
    /// # Panics
    /// When the number is 0 or above that of the topology `redlock:N`.
    #[must_use]
    pub fn on_redis(self, stores: u32) -> Program {
        let servers = independent(stores).unwrap_or_else(|error| panic!("{error}"));
        self.on(servers)
    }

    /// The same on a Redis primary with replicas, watched by Sentinels.
    ///
    /// # Panics
    /// Never: the topology is declared.
    #[must_use]
    pub fn with_sentinels(self) -> Program {
        self.on("sentinel".parse().expect("the topology is declared"))
    }

    /// The same on these servers: `program("python3 lock.py").on("etcd:3".parse()?)`.
    #[must_use]
    pub fn on(mut self, servers: Servers) -> Program {
        self.servers = servers;
        self
    }

    /// The same, whose client has this belief.
    #[must_use]
    pub fn believing(mut self, belief: Belief) -> Program {
        self.belief = belief;
        self
    }

    /// The same, which claims to survive each of these conditions.
    #[must_use]
    pub fn surviving(mut self, conditions: impl IntoIterator<Item = Condition>) -> Program {
        self.survives = conditions.into_iter().collect();
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
    pub fn autonomous(mut self) -> Program {
        self.autonomous = true;
        self
    }

    /// The same, with a point at each clock read and each send.
    #[must_use]
    pub fn clock_points(mut self) -> Program {
        self.clock_points = true;
        self
    }

    /// The same, each of whose processes is a copy of one that was warmed up.
    #[must_use]
    pub fn warm(mut self) -> Program {
        self.warm = true;
        self
    }

    /// The design that runs it.
    ///
    /// # Errors
    /// When the command is empty, its quotes are not closed, or it cannot use its servers.
    pub fn design(&self) -> Result<Design, ProgramError> {
        let mut words =
            shlex::split(&self.command).ok_or_else(|| ProgramError::Quotes(self.command.clone()))?;
        let Some(first) = words.first_mut() else { return Err(ProgramError::NoCommand) };
        // A version manager's shim would run at each start.
        if let Some(program) = shim::behind(first) {
            *first = program.display().to_string();
        }
        if self.autonomous && self.renews {
            return Err(ProgramError::Renews);
        }
        if self.autonomous && self.warm {
            return Err(ProgramError::Warm);
        }
        if self.command.ends_with(SUFFIX) {
            return Err(ProgramError::Suffix(self.command.clone()));
        }
        let (topology, store) = self.stores()?;
        let (program, parts, spec) = (self.clone(), parts(&words), Arc::clone(&store.spec));
        let world = store.clone();
        let client = move |context: Context| {
            let aside = WarmUp::of(&context, topology, world.clone());
            let mut setup = program.setup(&words, &context, spec.environment(&context.stores));
            let make = |words: &[String], home: &Path| {
                // The randomness of the host is drawn from once, whether an archive is made or not.
                let (command, home) = (words.iter().map(Into::into).collect(), Some(home.to_owned()));
                let making = Setup { command, home, ..setup.clone() };
                !program.autonomous && aside.run_to_end(&context.host, &making).is_ok()
            };
            setup.command = archive::used(&words, make).into_iter().map(Into::into).collect();
            let beginning = match program.warm {
                true => {
                    let world = aside.stores();
                    Beginning::Warmed(Warm {
                        world,
                        run: Box::new(move |host, setup| aside.run(host, setup)),
                    })
                }
                false => Beginning::Started,
            };
            let (autonomous, fenced) = (program.autonomous, program.fenced);
            let checkpoint = program.renews.then_some(context.ttl / 3);
            async move {
                Ok(match autonomous {
                    true => Client::autonomous(AutonomousProgram { host: context.host, setup, fenced }),
                    false => {
                        Client::lock(ProgramLock::start(&context, &setup, beginning, checkpoint, fenced))
                    }
                })
            }
        };
        let design = Design::new(&self.to_string(), client).on_store(topology, store);
        // Whether its library renews is seen in its runs.
        let mut design = design.believing(self.belief).made_of(parts).renewing();
        design.claim = format!("an unmodified program: {}", self.command).into();
        design.fenced = self.fenced;
        design.autonomous = self.autonomous;
        // Where a store keeps locks for connections, nobody knows whether this program has such a lock. A program of which it is claimed that it
        // survives its holder's death has no time to notice a silent session.
        design.held_by_connection = !self.survives.has(Condition::HolderDead);
        design.survives = self.survives;
        Ok(design)
    }

    /// Its stores, and how many.
    pub(crate) fn stores(&self) -> Result<(Topology, Store), ProgramError> {
        let (topology, store) = self.servers.for_programs()?;
        if !self.servers.are_real() {
            return Ok((topology, store));
        }
        let real = real_store(topology, store);
        real.map(|store| (topology, store)).map_err(|why| ProgramError::Real(self.servers.topology(), why))
    }

    /// The instructions by which it may see the machine, in the code that it loads.
    #[must_use]
    pub fn instructions(&self) -> Vec<Instruction> {
        let words = shlex::split(&self.command).unwrap_or_default();
        if words.is_empty() {
            return Vec::new();
        }
        let mut setup = Setup::new(words, "client-1", std::net::Ipv4Addr::new(10, 0, 0, 1), 0);
        let mut usual = vec![("PICKLOCK_TTL_MS", "1000".to_owned())];
        let (_, Store { spec, .. }) = self.servers.for_programs().unwrap_or_else(|error| panic!("{error}"));
        usual.extend(spec.environment(&[StoreAddress::Host("node-1".to_owned())]));
        setup.env = usual.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
        instructions::of(&setup)
    }

    fn setup(&self, words: &[String], context: &Context, environment: Vec<(&'static str, String)>) -> Setup {
        let mut setup = network::setup(words, &context.host);
        setup.clock_reads = if self.clock_points { ClockReads::Notified } else { ClockReads::Page };
        let ttl = (nanos(context.ttl) / 1_000_000).to_string();
        let mut env =
            vec![("PICKLOCK_TTL_MS", ttl), ("PYTHONHASHSEED", "0".into()), ("PYTHONUNBUFFERED", "1".into())];
        env.push(("PYTHONDONTWRITEBYTECODE", "1".into()));
        env.extend(environment);
        setup.env = env.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
        setup
    }
}

/// The given number of independent Redis servers; a single one has a topology of its own.
pub(crate) fn independent(stores: u32) -> Result<Servers, ServersError> {
    if stores == 1 { Ok(Servers::default()) } else { format!("{INDEPENDENT}{stores}").parse() }
}

/// The topology of independent servers, before its number.
pub(crate) const INDEPENDENT: &str = "redlock:";

/// The files that a command names: its program, and those of its arguments that are files.
fn parts(words: &[String]) -> Vec<Part> {
    let found = |(at, word): (usize, &String)| {
        let path = if at == 0 { shim::found(word)? } else { PathBuf::from(word) };
        let bytes = fs::read(&path).ok()?;
        Some(Part { file: path.display().to_string(), digest: format!("{:032x}", xxh3_128(&bytes)) })
    };
    words.iter().enumerate().filter_map(found).collect()
}

impl From<Program> for Design {
    /// # Panics
    /// Where [`Program::design`] returns an error.
    fn from(program: Program) -> Design {
        program.design().unwrap_or_else(|error| panic!("{error}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_program_with_sentinels_has_replicas() {
        let replicates = |program: Program| program.design().unwrap().store.unwrap().spec.replicates();
        assert!(!replicates(Program::new("x")));
        assert!(replicates(Program::new("x").with_sentinels()));
    }
}
