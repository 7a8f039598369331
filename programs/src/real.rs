//! Real servers where simulated ones would be: the same hosts, the same network, the same faults.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use picklock_model::plan::Settings;
use picklock_sim::design::Topology;
use picklock_sim::driver::HostDriver;
use picklock_sim::host::Host;
use picklock_sim::lock::BoxFuture;
use picklock_sim::store::{
    FirstFiles, Keeps, Serve, Server, ServerContext, Store, StoreSpec, Switch, complete,
};
use picklock_supervisor::{Setup, Syncs};
use tempfile::TempDir;

use crate::cache::cache;
use crate::{driver, network};

/// Any lease will do to see whether there is a command at all.
const LEASE: Duration = Duration::from_secs(1);

/// The suffix of a design on real servers.
pub const SUFFIX: &str = "@real";

/// A simulated store, served by its real servers instead.
pub(crate) fn real_store(topology: Topology, Store { spec, server }: Store) -> Result<Store, String> {
    let Server::Simulated(simulated) = server else {
        return Err("its servers are real ones already".to_owned());
    };
    let settings = complete(spec.params(), &Settings::default(), LEASE);
    let members = spec.members(topology, &settings);
    let mut programs = members.iter().filter(|member| spec.has_program(member));
    if programs.any(|member| spec.real_server(member, &members, &settings).is_none()) {
        return Err(format!("picklock does not start real servers of {} in this way", spec.name()));
    }
    Ok(real(spec, simulated))
}

/// Stores of this kind, served by its real servers, and by the simulated ones for members that have no program.
fn real(spec: Arc<dyn StoreSpec>, simulated: Serve) -> Store {
    let served = Arc::clone(&spec);
    let serve = move |context: ServerContext| match served.has_program(&context.member) {
        true => serve(&*served, context),
        false => simulated(context),
    };
    Store { spec, server: Server::Real(Arc::new(serve)) }
}

/// The files that a member of a run left behind.
struct KeptFiles {
    directory: TempDir,
    syncs: Syncs,
}

/// The files that a server starts with.
struct Files {
    path: PathBuf,
    /// The parts of them that are synced.
    syncs: Syncs,
    /// No server ran here before.
    is_new: bool,
    /// The power was lost since they were written: what is not synced should be gone.
    lost_power: bool,
}

thread_local! {
    /// The directories of the members of the run that this thread makes, by host: those of one run last until the next begins.
    static KEPT: RefCell<BTreeMap<String, KeptFiles>> = const { RefCell::new(BTreeMap::new()) };
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
    let known = |kept: &KeptFiles| Files {
        path: kept.directory.path().to_owned(),
        syncs: kept.syncs.clone(),
        is_new: !again,
        lost_power,
    };
    if again && let Some(files) = KEPT.with_borrow(|kept| kept.get(&name).map(known)) {
        return files;
    }
    let mut builder = tempfile::Builder::new();
    let builder = builder.prefix("picklock-");
    let directory = match builder.tempdir_in(Path::new(MEMORY)).or_else(|_| builder.tempdir()) {
        Ok(directory) => directory,
        Err(error) => HostDriver::of(host)
            .abort_run(format!("failed to make a directory for the server of {name}: {error}")),
    };
    let kept = KeptFiles { directory, syncs: Syncs::default() };
    let files = known(&kept);
    KEPT.with_borrow_mut(|all| all.insert(name, kept));
    files
}

/// The directory of files that are made once for the machine; they are made if they are not there.
fn made(files: &FirstFiles) -> Result<PathBuf, String> {
    static MAKING: Mutex<()> = Mutex::new(());
    let _one_at_a_time = MAKING.lock();
    let all = cache("servers").ok_or("there is no cache directory")?;
    let kept = all.join(&files.name);
    if !kept.exists() {
        let failed = |error: std::io::Error| format!("{}: {error}", all.display());
        std::fs::create_dir_all(&all).map_err(failed)?;
        // The user that makes them may not enter the cache directory.
        let apart = tempfile::tempdir().map_err(failed)?;
        (files.make)(apart.path())?;
        // Whole or not at all, whoever else makes the same ones.
        let whole = tempfile::tempdir_in(&all).map_err(failed)?;
        copy(apart.path(), whole.path())?;
        if let Err(error) = std::fs::rename(whole.path(), &kept)
            && !kept.exists()
        {
            return Err(failed(error));
        }
    }
    Ok(kept)
}

/// Copies all files of a directory, with their owners, into one that the server's user may enter.
fn copy(from: &Path, to: &Path) -> Result<(), String> {
    let copied = Command::new("cp").arg("-a").arg("--reflink=auto").arg(from.join(".")).arg(to).output();
    let copied = copied.map_err(|error| format!("cp: {error}"))?;
    if !copied.status.success() {
        return Err(String::from_utf8_lossy(&copied.stderr).trim().to_owned());
    }
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(to, open).map_err(|error| error.to_string())
}

/// Gives a server that keeps files the directory that it has on this host.
fn keep(setup: &mut Setup, keeps: Keeps, files: Option<FirstFiles>, host: &Host) -> Result<(), String> {
    let Files { path, syncs, is_new, lost_power } = kept(host);
    if !is_new {
        // Its machine was on meanwhile: what a server makes of that clock, as ZooKeeper the numbers of its sessions, does not come again.
        setup.clock.monotonic_ns += HostDriver::of(host).clocks().0.as_nanos();
    }
    if keeps == Keeps::Synced {
        if lost_power {
            syncs.lose_power(&path).map_err(|error| error.to_string())?;
        }
        setup.syncs = Some(syncs);
    } else if is_new && let Some(files) = files {
        // A change that an ensemble has acknowledged is synced, in files that are changed within: no loss of power takes it.
        copy(&made(&files)?, &path)?;
    }
    setup.home = Some(path);
    Ok(())
}

/// Runs the real server of one member.
fn serve(spec: &dyn StoreSpec, context: ServerContext) -> BoxFuture<'static, ()> {
    let Some(server) = spec.real_server(&context.member, &context.members, &context.settings) else {
        HostDriver::of(&context.host)
            .abort_run(format!("picklock starts no real server of {} here", spec.name()));
    };
    let mut setup = network::setup(&server.command, &context.host);
    if server.keeps != Keeps::Nothing
        && let Err(error) = keep(&mut setup, server.keeps, server.files, &context.host)
    {
        let name = context.host.name();
        HostDriver::of(&context.host).abort_run(format!("failed to make the files of {name} ready: {error}"));
    }
    // An agent starts its server.
    let switch = Switch::new(server.agent.is_none());
    if let Some(agent) = server.agent {
        context.host.spawn(agent.run(context.host.clone(), switch.clone()));
    }
    Box::pin(driver::serve(context.host, setup, server.leads, switch))
}
