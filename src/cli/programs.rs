//! `--program`: locks in any language, beside the designs that come with picklock.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use clap::Args;
use picklock_programs::{Program, is_shell_script};
use picklock_sim::design::Design;
use picklock_stores::{KINDS, Runs, listed};

use super::exit::Failure;
use super::{choose, unmodelled};

/// Programs to be tested, and on what.
#[derive(Args)]
#[command(next_help_heading = "A lock in another language")]
pub(crate) struct Programs {
    /// A command that implements the lock: requests on stdin, answers on stdout, one per line (see docs/guide/programs.md); may be repeated
    #[arg(long, value_name = "CMD")]
    program: Vec<String>,
    /// The number of independent Redis servers that the programs use
    #[arg(long, value_name = "N", conflicts_with = "topology")]
    stores: Option<u32>,
    #[arg(long, value_name = "TOPOLOGY", help = topologies())]
    topology: Option<String>,
    /// When a client stops using its lock: naive = when it releases it, trusting = at the deadline that the program reports,
    /// honest = at a deadline counted from before the request
    #[arg(long, value_name = "BELIEF")]
    belief: Option<String>,
    /// Conditions under which the programs claim that a client still gets the lock, joined by `+`: minority-down, primary-down,
    /// holder-paused, holder-dead, waiter-paused, client-cut; none if absent
    #[arg(long, value_name = "A+B", requires = "program")]
    survives: Option<String>,
    /// The grants of the programs carry a `token`, and the client sends it with each write
    #[arg(long)]
    fenced: bool,
    /// Ask the programs to renew, at each third of the lease
    #[arg(long)]
    renew: bool,
    /// The programs are autonomous clients: they take the lock, work and release it by themselves, and print `holds KEY` and
    /// `frees KEY`
    #[arg(long, alias = "worker", conflicts_with_all = ["renew", "warm"])]
    autonomous: bool,
    /// The servers of programs and designs: simulated (the default), or the real ones in virtual time, which must be installed
    #[arg(long, value_name = "simulated|real")]
    servers: Option<Runs>,
    /// Inject faults also at each clock read and send of a program (slower)
    #[arg(long, alias = "looks")]
    clock_points: bool,
    /// Warm each program up once per host: it acquires, releases and answers `close`; runs begin with copies of it (faster, other runs
    /// than without)
    #[arg(long, conflicts_with = "fresh")]
    warm: bool,
    #[command(flatten)]
    start: Start,
}

/// How programs are started.
#[derive(Args)]
pub(crate) struct Start {
    /// Start each program anew, and copy none that was started before (slower; the runs are the same)
    #[arg(long, help_heading = "A lock in another language")]
    fresh: bool,
    /// Also show lines of source files below this directory; otherwise those below the working directory, the directories of the files
    /// that the command names, and the libraries beside its interpreter; may be repeated
    #[arg(long, value_name = "DIR", help_heading = "A lock in another language")]
    source: Vec<PathBuf>,
}

impl Start {
    /// Has it its way from now on.
    pub(crate) fn apply(&self) {
        if self.fresh {
            picklock_programs::start_anew();
        }
        picklock_programs::show_sources(&self.source);
    }
}

/// The help of `--topology`.
fn topologies() -> String {
    format!("The servers that the programs use: {} (see docs/guide/topologies.md)", listed(KINDS))
}

impl Programs {
    /// The designs that are named and those of the programs; all that come with picklock if there is neither.
    pub(crate) fn and(&self, named: &[String]) -> Result<Vec<Design>, Failure> {
        self.designs(named, self.clock_points)
    }

    /// The same, where each place counts.
    pub(crate) fn explored_and(&self, named: &[String]) -> Result<Vec<Design>, Failure> {
        self.designs(named, true)
    }

    fn designs(&self, named: &[String], clock_points: bool) -> Result<Vec<Design>, Failure> {
        self.start.apply();
        if self.program.is_empty() {
            self.refuse_alone()?;
            return choose::designs_on(named, self.servers);
        }
        let mut designs =
            if named.is_empty() { Vec::new() } else { choose::designs_on(named, self.servers)? };
        for command in &self.program {
            let design = self.one(command, clock_points)?;
            if designs.iter().all(|chosen| chosen.name != design.name) {
                designs.push(design);
            }
        }
        Ok(designs)
    }

    /// The programs whose servers the user did not name, by the names of their designs; with `explored` those of
    /// [`explored_and`](Programs::explored_and).
    pub(crate) fn open(&self, named: &[String], explored: bool) -> Vec<String> {
        if self.servers.is_some() {
            return Vec::new();
        }
        let clock_points = self.clock_points || explored;
        let spelled = choose::programs(named).map(str::to_owned);
        let given = self.program.iter().filter_map(|command| self.program(command, clock_points).ok());
        let given = given.filter(|program| program.servers.are_unnamed()).map(|program| program.to_string());
        unmodelled::open(spelled).into_iter().chain(given).collect()
    }

    /// Refuses what is said of programs where none is given, and names what says the same of a design.
    fn refuse_alone(&self) -> Result<(), Failure> {
        let stores = "a design has its stores as a parameter, as in --design 'redlock{nodes=3}'";
        let belief = "a design has its belief as a parameter, as in --design 'single{belief=honest}'";
        let fenced = "the designs single-fenced, redlock-fenced and redlock-fenced-quorum hand out tokens";
        let renew = "of the designs, manual-renew is renewed by its client, and watchdog by itself";
        let autonomous = "a built-in design is a lock, and never an autonomous client";
        let clock_points = "faults hit a built-in design at each clock read anyway";
        let warm = "a built-in design starts in no time";
        let given = [
            ("--stores", self.stores.is_some(), stores),
            ("--topology", self.topology.is_some(), stores),
            ("--belief", self.belief.is_some(), belief),
            ("--fenced", self.fenced, fenced),
            ("--renew", self.renew, renew),
            ("--autonomous", self.autonomous, autonomous),
            ("--clock-points", self.clock_points, clock_points),
            ("--warm", self.warm, warm),
        ];
        match given.into_iter().find(|(_, is_given, _)| *is_given) {
            None => Ok(()),
            Some((option, _, instead)) => Err(Failure::Input(format!("{option} needs --program; {instead}"))),
        }
    }

    fn program(&self, command: &str, clock_points: bool) -> Result<Program, Failure> {
        let mut program = Program::new(command);
        let stores = self.stores.map(|stores| stores.to_string());
        let given = [
            ("stores", &stores),
            ("topology", &self.topology),
            ("belief", &self.belief),
            ("survives", &self.survives),
        ];
        for (name, value) in given {
            if let Some(value) = value {
                program.set(name, value).map_err(Failure::input)?;
            }
        }
        if let Some(runs) = self.servers {
            program.servers = program.servers.run_as(runs).map_err(Failure::input)?;
        }
        program.fenced |= self.fenced;
        program.renews |= self.renew;
        program.autonomous |= self.autonomous;
        program.clock_points |= clock_points;
        program.warm |= self.warm;
        Ok(program)
    }

    fn one(&self, command: &str, clock_points: bool) -> Result<Design, Failure> {
        let design = self.program(command, clock_points)?.design().map_err(Failure::input)?;
        if let Some(script) = design.parts.first().filter(|part| is_shell_script(Path::new(&part.file))) {
            // If standard error is closed, the note is lost and the runs go on.
            let _ = writeln!(
                io::stderr().lock(),
                "picklock: note: {} is a shell script, which runs at each start anew; name the program that it starts, and a run \
                 takes a tenth of the time",
                script.file
            );
        }
        Ok(design)
    }

    /// True if any program is to be run.
    pub(crate) fn any(&self) -> bool {
        !self.program.is_empty()
    }
}
