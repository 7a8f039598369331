//! Puts a member on a host.

use std::sync::Arc;

use picklock_model::plan::Settings;
use picklock_raft::{Replica, Timing};
use picklock_sim::store::ServerContext;

use super::actions::act;
use super::member::Member;
use super::services;
use super::state::{HolderOf, Machine, Objects};
use crate::params::{HEARTBEAT, VERSION, election_ticks, keeps};
use crate::version::Version;
use crate::{CLIENT_PORT, PEER_PORT, grpc};

/// Runs a member of the version that the parameters name until its host stops.
pub async fn serve_any(context: ServerContext) {
    let version = Version::named(context.settings.get(VERSION));
    serve(context, version).await;
}

/// Runs a member until its host stops.
pub(crate) async fn serve(context: ServerContext, version: Version) {
    accept(start(&context, version, None)).await;
}

/// Starts a member; who asks for something is served by [`accept`].
pub(super) fn start(context: &ServerContext, version: Version, holder_of: Option<HolderOf>) -> Arc<Member> {
    let host = &context.host;
    let place = context.members.iter().position(|member| member.name == context.member.name);
    let id = place.map_or(1, |place| place as u32 + 1);
    let timing = timing(&context.settings, version);
    let peers: Vec<(u32, String)> =
        (1..).zip(context.members.iter().map(|member| member.name.clone())).collect();
    let objects = Objects::new(holder_of);
    let machine = Machine::new(host, u64::from(id), timing.tick * timing.election_ticks, objects);
    let replica = Replica::start(host, id, &peers, timing, (PEER_PORT, id == 1), machine);
    let names = peers.into_iter().map(|(_, name)| name).collect();
    let url = |member: &picklock_sim::store::Member| match &member.door {
        Some((door, port)) => format!("http://{door}:{port}"),
        None => format!("http://{}:{CLIENT_PORT}", member.name),
    };
    let urls = context.members.iter().map(url).collect();
    let member = Arc::new(Member { host: host.clone(), replica, names, urls, version });
    host.spawn(Arc::clone(&member).end_leases());
    host.spawn(Arc::clone(&member).shorten_log());
    host.spawn(act(Arc::clone(&member)));
    member
}

/// Serves the calls of clients until the host stops.
pub(super) async fn accept(member: Arc<Member>) {
    // The port is free: a host runs one member, and this is its start.
    let Ok(listener) = member.host.bind(CLIENT_PORT).await else { return };
    while let Ok((stream, _)) = listener.accept().await {
        let member = Arc::clone(&member);
        member.host.clone().spawn(async move {
            let answer = |call| services::answer(Arc::clone(&member), call);
            grpc::serve(&member.host, stream, answer).await;
        });
    }
}

fn timing(settings: &Settings, version: Version) -> Timing {
    let tick = settings.get(HEARTBEAT);
    Timing {
        tick,
        election_ticks: election_ticks(settings),
        // `--pre-vote` is the default from 3.5 on.
        asks_first: version != Version::V34,
        silence: None,
        keeps: keeps(settings),
    }
}
