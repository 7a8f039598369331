//! Puts a member on a host.

use std::sync::Arc;
use std::time::Duration;

use picklock_model::plan::Settings;
use picklock_raft::{Replica, Silence, Timing};
use picklock_sim::store::ServerContext;

use super::connection;
use super::member::Member;
use super::state::{Facts, Machine};
use crate::params::{TICK_TIME, VERSION, keeps};
use crate::version::Version;
use crate::{CLIENT_PORT, PEER_PORT, SYNC_LIMIT};

/// How long members wait for a better vote once they agree (`finalizeWait`): as long as an election takes.
const ELECTION: Duration = Duration::from_millis(200);

/// The longest tick of the log.
const LONGEST_TICK: Duration = Duration::from_millis(100);

/// Runs a member of the version that the parameters name until its host stops.
pub async fn serve_any(context: ServerContext) {
    let version = Version::named(context.settings.get(VERSION));
    serve(context, version).await;
}

/// Runs a member until its host stops.
pub(crate) async fn serve(context: ServerContext, version: Version) {
    let host = &context.host;
    let count = context.members.len() as u32;
    let place = context.members.iter().position(|member| member.name == context.member.name);
    let id = place.map_or(1, |place| place as u32 + 1);
    let peers: Vec<(u32, String)> =
        (1..).zip(context.members.iter().map(|member| member.name.clone())).collect();
    let tick = context.settings.get(TICK_TIME);
    // The first has the highest number, and so is elected where all have the same data.
    let facts = Facts { server: i64::from(count + 1 - id), alone: count == 1, tick, version };
    let (machine, notes) = Machine::new(host, facts);
    let replica = Replica::start(host, id, &peers, timing(&context.settings), (PEER_PORT, id == 1), machine);
    let member = Arc::new(Member { host: host.clone(), id, tick, replica });
    host.spawn(Arc::clone(&member).attend(notes));
    host.spawn(Arc::clone(&member).end_sessions());
    host.spawn(Arc::clone(&member).delete_containers());
    host.spawn(Arc::clone(&member).shorten_log());
    // The port is free: a host runs one member, and this is its start.
    let Ok(listener) = host.bind(CLIENT_PORT).await else { return };
    while let Ok((stream, client)) = listener.accept().await {
        let member = Arc::clone(&member);
        host.spawn(async move { connection::serve(&member, stream, &client).await });
    }
}

/// A leader sends a sign of life each half tick, looks at each whole one who is there, and whoever is silent for `syncLimit` ticks is gone.
fn timing(settings: &Settings) -> Timing {
    let half = settings.get(TICK_TIME) / 2;
    let count = (half.as_nanos().div_ceil(LONGEST_TICK.as_nanos()) as u32).max(1);
    let tick = half / count;
    let election_ticks = (ELECTION.as_nanos().div_ceil(tick.as_nanos().max(1)) as u32).max(1);
    let silence = Silence { ticks: 2 * count * SYNC_LIMIT, heartbeat: count, looks: 2 * count };
    Timing { tick, election_ticks, asks_first: true, silence: Some(silence), keeps: keeps(settings) }
}
