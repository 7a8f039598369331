//! `picklock serve`: the simulated servers on real sockets, for clients in any language, with faults if asked for.

mod fault;
mod memory;
mod steering;

use std::net::{IpAddr, SocketAddr, TcpListener};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use clap::Args as Arguments;
use picklock_model::plan::{Latency, Plan, Settings, WorldSpec};
use picklock_model::seed::Seed;
use picklock_model::trace::{Event, HostInfo, Vocabulary, What};
use picklock_scenarios::faults;
use picklock_sim::live::{self, LiveCommand, ServeError, Served};
use picklock_sim::param::{Args, Param};
use picklock_sim::store::{Member, Process, Serve, StoreKind, StoreSpec, complete, setting};
use picklock_stores::{KINDS, Servers, listed};
use tokio::sync::{Notify, mpsc};

use super::args::time;
use super::exit::{Exit, Failure};
use super::interrupt::on_signal;
use super::screen;
use steering::Steering;

#[derive(Arguments)]
#[command(after_help = "\
Faults (each may be given several times, and repeated with `every TIME`):
  pause|suspend HOST at TIME for TIME
  kill|power-loss|node-restart HOST at TIME [restart TIME]
  cut HOST to|from|and HOST at TIME for TIME
  delay HOST to HOST by TIME at TIME for TIME
  drop|forget HOST and HOST at TIME
  lose-reply HOST to HOST at TIME
  step HOST by TIME|-TIME at TIME
  drift HOST by PPM at TIME
Each is also accepted under its name of `picklock list faults`. TIME counts from the start; the host `clients` is everybody who connects from outside.

Examples:
  picklock serve --port 7001
  picklock serve --topology redlock:5 --fault 'pause node-2 at 10s for 3s every 30s'
  picklock serve --topology sentinel --fault 'cut node-1 and clients at 20s for 10s'
  picklock serve --topology postgres --port 5433 --fault 'power-loss node-1 at 20s restart 1s'
  picklock serve --topology postgres-standby --port 5433 --set fenced=yes --fault 'cut node-1 and controller-1 at 20s for 10s'")]
pub(crate) struct ServeArgs {
    #[arg(long, default_value_t = Servers::default(), value_name = "TOPOLOGY", help = topologies())]
    pub(crate) topology: Servers,
    /// The port of the first server; the others take the next ones
    #[arg(long, default_value_t = 7001, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) port: u16,
    /// The address to listen at
    #[arg(long, default_value_t = LOOPBACK, value_name = "ADDRESS")]
    pub(crate) bind: IpAddr,
    /// Allow an address that other machines can reach; without a password they are refused, as by a real server
    #[arg(long)]
    pub(crate) expose: bool,
    /// The password that clients of all servers must give
    #[arg(long, value_name = "PASSWORD")]
    pub(crate) password: Option<String>,
    /// Take the lines that steer it from connections to this port of the loopback interface as well
    #[arg(long, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) control: Option<u16>,
    /// The version that the servers behave like, where versions differ; the same as --set version=VERSION
    #[arg(long, value_name = "VERSION")]
    pub(crate) version: Option<String>,
    /// The seed of all random choices
    #[arg(long, default_value_t = 0)]
    pub(crate) seed: u64,
    /// A fault and its time, as in 'pause node-1 at 5s for 2s'; may be repeated
    #[arg(long, value_name = "FAULT")]
    pub(crate) fault: Vec<String>,
    /// One-way latency of messages, a time or a range A..B, on top of the machine's own
    #[arg(long, default_value = "0ms", value_name = "TIME", value_parser = latency)]
    pub(crate) latency: Range<Duration>,
    /// How long a primary may be silent before it is failed over: by Sentinels, or as the node timeout of a cluster
    #[arg(long, default_value = "1s", value_name = "TIME", value_parser = time)]
    pub(crate) down_after: Duration,
    /// Set a parameter of the servers, as in persistence=everysec or synchronous_commit=on; may be repeated
    #[arg(long, value_name = "K=V")]
    pub(crate) set: Vec<String>,
    /// Keep the data over a restart
    #[arg(long)]
    pub(crate) persistent: bool,
    /// Do not log faults and role changes to standard error
    #[arg(long)]
    pub(crate) quiet: bool,
}

pub(crate) fn serve(args: &ServeArgs) -> Result<Exit, Failure> {
    if !args.bind.is_loopback() && !args.expose {
        return Err(Failure::Input(format!(
            "{} can be reached from other machines: add --expose if that is meant, and --password PASSWORD if they are to \
             be served",
            args.bind
        )));
    }
    if args.down_after.is_zero() {
        return Err(Failure::Input("--down-after needs a time above 0".to_owned()));
    }
    let kind = args.topology.kind();
    let (topology, store) = args.topology.for_serve().map_err(Failure::input)?;
    if !kind.serving.passwords && args.password.is_some() {
        return Err(Failure::Input(no_password(kind)));
    }
    memory::give_back();
    let mut plan = plan(args);
    let defaults = args.topology.served().iter().map(|(name, value)| format!("{name}={value}"));
    let version = args.version.iter().map(|version| format!("version={version}"));
    for given in defaults.chain(version).chain(args.set.iter().cloned()) {
        set(kind.serving.params, &given, &mut plan.world)?;
    }
    let settings = complete(kind.serving.params, &plan.world.store, plan.world.ttl);
    let servers = store.spec.members(topology, &settings);
    let ports = ports(args.port, servers.len())?;
    let names: Vec<&str> = servers.iter().map(|member| member.name.as_str()).chain([live::CLIENTS]).collect();
    for fault in &args.fault {
        plan.injections.extend(faults::parse(fault, &names).map_err(Failure::input)?);
    }
    let doors: Vec<SocketAddr> = ports.iter().map(|port| SocketAddr::new(args.bind, *port)).collect();
    let welcome = welcome(kind, &servers, &doors);
    let (commands, to_do) = mpsc::unbounded_channel();
    let ending = Arc::new(AtomicBool::new(false));
    let stop = stop_on_signal(Arc::clone(&ending))?;
    let steering = Steering::new(&names, commands.clone(), Arc::clone(&stop));
    // A server that shuts down is as dead as one that was killed. If it is the only one all is over, as with a process.
    let last = (servers.len() == 1).then(|| Arc::clone(&stop));
    let served = served(&*store.spec, servers, &doors);
    let control = args.control.map(control).transpose()?;
    let process = Process { salt: own_number(), password: args.password.clone().unwrap_or_default(), ending };
    let serving = kind.serving;
    let start: Serve = Arc::new(move |context| {
        let (last, process, commands, host) =
            (last.clone(), process.clone(), commands.clone(), context.member.name.clone());
        Box::pin(async move {
            (serving.start)(context, process).await;
            match last {
                Some(stop) => stop.notify_one(),
                // A world that is over has no dead.
                None => drop(commands.send(LiveCommand::Apply(vec![fault::death(&host)]))),
            }
        })
    });
    let ready = || {
        // Whoever closed standard output does not want to know.
        let _ = screen::print(&welcome);
    };
    let (quiet, words) = (args.quiet, store.spec.vocabulary());
    let log = Box::new(move |event: &Event, hosts: &[HostInfo]| {
        let host = &hosts[usize::from(event.host.0)];
        if !quiet && let Some(text) = log_line(event, hosts, words) {
            let seconds = event.at.as_nanos() as f64 / 1e9;
            eprintln!("{seconds:10.3}s  {:<12} {text}", host.name);
        }
    });
    steering.clone().by_standard_input();
    let stopped = async move {
        match control {
            None => stop.notified().await,
            Some(listener) => tokio::select! {
                () = stop.notified() => {}
                () = steering.by_connections(listener) => {}
            },
        }
    };
    live::serve(&plan, &start, &settings, served, log, ready, (to_do, stopped))
        .map_err(|error| match error {
            ServeError::Door { .. } => Failure::Input(format!("{error}; choose another with --port")),
            ServeError::Runtime(_) => Failure::internal(error),
        })
        .map(|()| Exit::Expected)
}

/// The ports of so many servers, in a row.
fn ports(first: u16, count: usize) -> Result<Vec<u16>, Failure> {
    let last = usize::from(first) + count - 1;
    if last > usize::from(u16::MAX) {
        return Err(Failure::Input(format!(
            "{count} servers from port {first} on would need ports up to {last}; the last one is {}",
            u16::MAX
        )));
    }
    Ok((0..count as u16).map(|offset| first + offset).collect())
}

fn plan(args: &ServeArgs) -> Plan {
    let second = std::time::Duration::from_secs(1);
    Plan {
        seed: Seed(args.seed),
        network_seed: Seed(args.seed),
        world: WorldSpec {
            ttl: 10 * second,
            wait: 10 * second,
            horizon: second,
            decide: Duration::ZERO,
            latency: Latency { min: args.latency.start, max: args.latency.end },
            tcp_timeout: 15 * second,
            stock: 0,
            final_client: false,
            ready_order: picklock_model::plan::ReadyOrder::Woken,
            policy: picklock_model::plan::ClientPolicy::default(),
            store: given(args),
        },
        workload: String::new(),
        clients: Vec::new(),
        choices: Vec::new(),
        injections: Vec::new(),
    }
}

/// The parameters of the servers that have options of their own.
fn given(args: &ServeArgs) -> Settings {
    let mut given = Settings::default();
    if let Some(down_after) = args.topology.kind().serving.down_after {
        given.set(down_after, args.down_after);
    }
    if args.persistent
        && let Ok((_, store)) = args.topology.for_serve()
    {
        store.spec.keep_everything(&mut given);
    }
    given
}

/// The servers with their doors, ready to be started. Others are given the doors, so that clients outside the world can
/// go where a server sends them.
fn served(spec: &dyn StoreSpec, servers: Vec<Member>, doors: &[SocketAddr]) -> Vec<Served> {
    let served = servers.into_iter().zip(doors).map(|(member, door)| {
        let port = spec.port(member.role);
        let member = Member { door: Some((door.ip().to_string(), door.port())), ..member };
        Served { member, door: *door, port }
    });
    served.collect()
}

/// The answer to `--password` for a kind whose servers ask for none.
fn no_password(kind: &StoreKind) -> String {
    let with: Vec<&str> = KINDS.iter().filter(|kind| kind.serving.passwords).map(|kind| kind.name).collect();
    format!(
        "--password is for {}: the simulated servers of {} take every user without one; leave it out",
        with.join(" and "),
        kind.name
    )
}

/// The help of `--topology`.
fn topologies() -> String {
    format!("The servers: {} (see docs/guide/topologies.md)", listed(KINDS))
}

/// Sets a parameter of the servers.
fn set(params: &'static [Param], given: &str, world: &mut WorldSpec) -> Result<(), Failure> {
    let bad = |must: String| Failure::Input(format!("--set {given}: {must}"));
    let (name, text) = given.split_once('=').ok_or_else(|| bad("write it as NAME=VALUE".to_owned()))?;
    let param = params.iter().find(|param| param.name == name.trim()).ok_or_else(|| {
        let names: Vec<&str> = params.iter().map(|param| param.name).collect();
        bad(match names.is_empty() {
            true => "these servers have no parameters".to_owned(),
            false => {
                format!("these servers have no parameter `{}`; there are {}", name.trim(), names.join(", "))
            }
        })
    })?;
    let parsed = param.domain.parse(text).map_err(|error| bad(error.to_string()))?;
    let mut args = Args::defaults(params);
    args.put(param.name, parsed);
    args.check(world.ttl).map_err(|(_, error)| bad(error.to_string()))?;
    setting(parsed, world.ttl).into_iter().for_each(|value| world.store.put(param.name, value));
    Ok(())
}

fn welcome(kind: &StoreKind, servers: &[Member], doors: &[SocketAddr]) -> String {
    let mut text = String::new();
    for (member, door) in servers.iter().zip(doors) {
        text.push_str(&format!("{:<12} {door:<21} {}\n", member.name, (kind.serving.words)(member)));
    }
    text.push_str("ready; stop with Ctrl-C\n");
    text
}

/// The log line of an event: faults and changes of role have one, traffic has none.
fn log_line(event: &Event, hosts: &[HostInfo], words: Vocabulary) -> Option<String> {
    Some(match &event.what {
        What::Injected { applied, .. } => {
            format!("fault: {}", applied.words(|host| &hosts[usize::from(host.0)].name))
        }
        What::Healed { .. } => "the fault is over".to_owned(),
        What::Restarted => "starts again".to_owned(),
        What::BecameLeader => format!("becomes the {}", words.leader),
        What::StoppedLeading => format!("becomes a {}", words.follower),
        What::Noticed { text } => text.clone(),
        _ => return None,
    })
}

/// The port of the loopback interface from which the world is steered.
fn control(port: u16) -> Result<TcpListener, Failure> {
    let listener = TcpListener::bind((LOOPBACK, port)).and_then(|listener| {
        listener.set_nonblocking(true)?;
        Ok(listener)
    });
    listener
        .map_err(|error| Failure::Input(format!("cannot listen at {LOOPBACK}:{port} for --control: {error}")))
}

/// A number that no other process has: identifiers of servers are drawn from it, which must differ where histories do.
fn own_number() -> u64 {
    use std::hash::{BuildHasher as _, RandomState};
    RandomState::new().hash_one(std::process::id())
}

/// Stops on a signal, and sets a flag for those who cannot be notified.
fn stop_on_signal(ending: Arc<AtomicBool>) -> Result<Arc<Notify>, Failure> {
    let stop = Arc::new(Notify::new());
    let notified = Arc::clone(&stop);
    on_signal(Exit::Expected, move || {
        ending.store(true, Ordering::Relaxed);
        notified.notify_one();
    })?;
    Ok(stop)
}

/// Where servers may listen without being asked twice.
pub(crate) const LOOPBACK: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);

fn latency(text: &str) -> Result<Range<Duration>, String> {
    match text.split_once("..") {
        None => time(text).map(|time| time..time),
        Some((min, max)) => {
            let (min, max) = (time(min)?, time(max)?);
            if min <= max { Ok(min..max) } else { Err(format!("`{text}` is empty; A..B needs A below B")) }
        }
    }
}

#[cfg(test)]
mod tests;
