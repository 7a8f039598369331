//! Real servers where simulated ones would be: the same hosts, the same network, the same faults.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use picklock_model::plan::{Setting, Settings};
use picklock_model::trace::Role;
use picklock_programs::Syncs;
use picklock_sim::design::Design;
use picklock_sim::driver::HostDriver;
use picklock_sim::host::Host;
use picklock_sim::lock::BoxFuture;
use picklock_sim::param::Param;
use picklock_sim::store::{Member, ServerSeat, StoreAddress, StoreKind, Topology, complete};
use tempfile::TempDir;

use crate::{driver, network};

/// Any lease will do to see whether there is a command at all.
const LEASE: Duration = Duration::from_secs(1);

/// What follows the spelling of a design on real servers.
pub const SUFFIX: &str = "@real";

/// The same design on the real servers of its kind of store.
///
/// # Errors
/// When the kind knows no real server for what the design needs; a fragment. The design is spelled with a [`SUFFIX`] then.
pub fn on_real_servers(mut design: Design) -> Result<Design, String> {
    let Some(kind) = design.kind.take() else { return Err("it has no stores".to_owned()) };
    if !kind.tells_records() {
        return Err("its servers are real ones already".to_owned());
    }
    let settings = complete(kind.params(), &Settings::default(), LEASE);
    let members = kind.members(design.topology, &settings);
    if members.iter().any(|member| kind.real_server(member, &members, &settings).is_none()) {
        return Err(format!("picklock does not start real servers of {} in this way", kind.name()));
    }
    design.name = format!("{}{SUFFIX}", design.name).into();
    design.kind = Some(Arc::new(Real { kind }));
    Ok(design)
}

/// Which real Redis there is for confirming what simulated ones show: `redis-server 7.0.15`. The variable
/// `PICKLOCK_REDIS_SERVER` set to nothing says that none is to be used. `None` also where the machine runs no programs.
#[must_use]
pub fn installed() -> Option<String> {
    if env::var_os("PICKLOCK_REDIS_SERVER").is_some_and(|path| path.is_empty()) {
        return None;
    }
    let output = Command::new("redis-server").arg("--version").output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let version = text.split_whitespace().find_map(|word| word.strip_prefix("v="))?;
    let lacks =
        picklock_programs::ready::findings().iter().any(|finding| finding.is_needed && !finding.is_there);
    (!lacks).then(|| format!("redis-server {version}"))
}

/// A kind of store that has no simulated servers.
pub(crate) fn real(kind: impl StoreKind) -> impl StoreKind {
    Real { kind: Arc::new(kind) }
}

/// Which etcd there is: `etcd 3.4.23`.
#[must_use]
pub fn installed_etcd() -> Option<String> {
    let output = Command::new("etcd").arg("--version").output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let version = text.lines().find_map(|line| line.strip_prefix("etcd Version: "))?;
    Some(format!("etcd {}", version.trim()))
}

/// Which ZooKeeper there is: `zookeeper 3.8.0`. `None` also where Java is missing.
#[must_use]
pub fn installed_zookeeper() -> Option<String> {
    let java = Command::new("java").arg("-version").output().is_ok_and(|output| output.status.success());
    let there = picklock_zookeeper::CLASS_PATH.split(':').all(|jar| Path::new(jar).is_file());
    if !java || !there {
        return None;
    }
    // The version stands in the name of a link beside the archive.
    let beside = Path::new(picklock_zookeeper::CLASS_PATH.rsplit(':').next()?).parent()?;
    let names = std::fs::read_dir(beside).ok()?.flatten().map(|entry| entry.file_name());
    let version = names.into_iter().find_map(|name| {
        let version = name.to_str()?.strip_prefix("zookeeper-")?.strip_suffix(".jar")?;
        version.starts_with(|first: char| first.is_ascii_digit()).then(|| version.to_owned())
    });
    Some(version.map_or_else(|| "zookeeper".to_owned(), |version| format!("zookeeper {version}")))
}

/// The real servers of a kind of store. They keep no records that a verdict could rest on: what is judged by them is open.
struct Real {
    kind: Arc<dyn StoreKind>,
}

/// What a member of a run left behind.
struct Kept {
    directory: TempDir,
    syncs: Syncs,
}

/// The files that a server starts with.
struct Files {
    path: PathBuf,
    /// What of them is synced.
    syncs: Syncs,
    /// The power was lost since they were written: what is not synced should be gone.
    lost_power: bool,
}

thread_local! {
    /// The directories of the members of the run that this thread makes, by host: those of one run last until the next begins.
    static KEPT: RefCell<BTreeMap<String, Kept>> = const { RefCell::new(BTreeMap::new()) };
}

/// On a host's disk: a server ran here before.
const RAN: &str = "ran";

/// File systems in memory, where a server waits for no disk.
const MEMORY: &str = "/dev/shm";

/// On a host's disk, and never synced: the power was on since.
const POWERED: &str = "powered";

/// The files of this host's server: none at its first start, and at each restart those that it left.
fn kept(host: &Host) -> Files {
    let (name, disk) = (host.name(), host.disk());
    let again = !disk.read(RAN).is_empty();
    let lost_power = again && disk.read(POWERED).is_empty();
    disk.write(RAN, b"yes");
    disk.sync(RAN);
    disk.write(POWERED, b"yes");
    let known =
        |kept: &Kept| Files { path: kept.directory.path().to_owned(), syncs: kept.syncs.clone(), lost_power };
    if again && let Some(files) = KEPT.with_borrow(|kept| kept.get(&name).map(known)) {
        return files;
    }
    let mut builder = tempfile::Builder::new();
    let builder = builder.prefix("picklock-");
    let directory = match builder.tempdir_in(Path::new(MEMORY)).or_else(|_| builder.tempdir()) {
        Ok(directory) => directory,
        Err(error) => HostDriver::of(&host)
            .abort_run(format!("failed to make a directory for the server of {name}: {error}")),
    };
    let kept = Kept { directory, syncs: Syncs::default() };
    let files = known(&kept);
    KEPT.with_borrow_mut(|all| all.insert(name, kept));
    files
}

impl StoreKind for Real {
    fn name(&self) -> &'static str {
        self.kind.name()
    }

    fn params(&self) -> &'static [Param] {
        self.kind.params()
    }

    fn replicates(&self) -> bool {
        self.kind.replicates()
    }

    fn members(&self, topology: Topology, settings: &Settings) -> Vec<Member> {
        self.kind.members(topology, settings)
    }

    fn address(&self, store: u32, topology: Topology, members: &[Member]) -> StoreAddress {
        self.kind.address(store, topology, members)
    }

    fn serve(&self, seat: ServerSeat) -> BoxFuture<'static, ()> {
        let Some(server) = self.kind.real_server(&seat.member, &seat.members, &seat.settings) else {
            HostDriver::of(&seat.host)
                .abort_run(format!("picklock starts no real server of {} here", self.kind.name()));
        };
        let mut setup = network::setup(&server.command, &seat.host);
        let persists = || match seat.settings.get("persistence") {
            Some(Setting::Word(word)) => seat.member.role != Role::Watcher && word != "none",
            _ => false,
        };
        if server.keeps {
            // What an ensemble has acknowledged is synced, in files that are changed within: no loss of power takes it.
            setup.home = Some(kept(&seat.host).path);
        } else if persists() {
            let Files { path, syncs, lost_power } = kept(&seat.host);
            if lost_power && let Err(error) = syncs.lose_power(&path) {
                let name = seat.host.name();
                HostDriver::of(&seat.host)
                    .abort_run(format!("failed to take from {name} what it had not synced: {error}"));
            }
            (setup.home, setup.syncs) = (Some(path), Some(syncs));
        }
        Box::pin(driver::serve(seat.host, setup, server.leads))
    }

    fn tells_records(&self) -> bool {
        false
    }

    fn keep_everything(&self, settings: &mut Settings) {
        self.kind.keep_everything(settings);
    }

    fn recovery_time(&self, topology: Topology, settings: &Settings, whole: bool) -> Duration {
        self.kind.recovery_time(topology, settings, whole)
    }

    fn smallest_lease(&self) -> Duration {
        self.kind.smallest_lease()
    }

    fn port(&self, role: Role) -> u16 {
        self.kind.port(role)
    }

    fn url(&self, host: &str, port: u16) -> String {
        self.kind.url(host, port)
    }

    fn decode(&self, role: Role, request: bool, bytes: &[u8]) -> Option<String> {
        self.kind.decode(role, request, bytes)
    }
}
