//! The services of the client port: which call is answered by what.

use std::collections::BTreeMap;
use std::sync::Arc;

use picklock_model::trace::What;
use picklock_sim::host::Origin;
use tokio::sync::mpsc;

use super::member::{Member, RENEW};
use super::state::{Notice, Watch};
use super::status::Status;
use crate::PEER_PORT;
use crate::grpc::{Call, Replies};
use crate::messages::{
    CampaignResponse, ClusterMember, CompactionRequest, DeleteRangeRequest, Done, Empty, LeaderKey,
    LeaderRequest, LeaderResponse, LeaseGrantRequest, LeaseLeasesResponse, LeaseRequest, LeaseResponse,
    LeaseTimeToLiveRequest, LeaseTimeToLiveResponse, LockResponse, MemberListResponse, NamedRequest,
    PutRequest, RangeRequest, StatusResponse, TxnRequest, UnlockRequest, WatchRequest, WatchResponse,
    Watching,
};

/// Answers a call.
pub(crate) async fn answer(member: Arc<Member>, mut call: Call) {
    let origin = call.origin;
    macro_rules! with {
        ($request:ident => $answer:expr) => {
            match call.request().await {
                Ok($request) => {
                    let answer = $answer.await;
                    call.finish(answer)
                }
                Err(status) => call.refuse(&status),
            }
        };
    }
    match call.method.as_str() {
        "etcdserverpb.KV/Range" => {
            with!(request => async { member.range(origin, &typed::<RangeRequest>(request)).await })
        }
        "etcdserverpb.KV/Put" => with!(request => member.put(origin, typed::<PutRequest>(request))),
        "etcdserverpb.KV/DeleteRange" => {
            with!(request => member.delete(origin, typed::<DeleteRangeRequest>(request)));
        }
        "etcdserverpb.KV/Txn" => with!(request => member.transact(origin, typed::<TxnRequest>(request))),
        "etcdserverpb.KV/Compact" => {
            with!(request => async { done(member.compact(origin, typed::<CompactionRequest>(request)).await) });
        }
        "etcdserverpb.Lease/LeaseGrant" => {
            with!(request => member.grant(origin, typed::<LeaseGrantRequest>(request)));
        }
        "etcdserverpb.Lease/LeaseRevoke" => {
            with!(request => async { done(member.revoke(origin, typed::<LeaseRequest>(request).id).await) });
        }
        "etcdserverpb.Lease/LeaseTimeToLive" => {
            with!(request => time_to_live(&member, origin, typed::<LeaseTimeToLiveRequest>(request)));
        }
        "etcdserverpb.Lease/LeaseLeases" => with!(request => leases(&member, origin, request)),
        "etcdserverpb.Lease/LeaseKeepAlive" => keep_alive(&member, call).await,
        "etcdserverpb.Watch/Watch" => watch(&member, call).await,
        "v3lockpb.Lock/Lock" => with!(request => lock(&member, origin, request)),
        "v3lockpb.Lock/Unlock" => with!(request => unlock(&member, origin, request)),
        "v3electionpb.Election/Campaign" => with!(request => campaign(&member, origin, request)),
        "v3electionpb.Election/Proclaim" => with!(request => proclaim(&member, origin, request)),
        "v3electionpb.Election/Leader" => with!(request => leader(&member, origin, request)),
        "v3electionpb.Election/Resign" => with!(request => resign(&member, origin, request)),
        "etcdserverpb.Maintenance/Status" => with!(request => status(&member, request)),
        "etcdserverpb.Cluster/MemberList" => with!(request => members(&member, request)),
        RENEW => with!(request => renew(&member, origin, request)),
        _ => {
            let method = call.method.clone();
            member.host.record(origin, What::NotModelled { name: method.clone() });
            call.refuse(&Status::unimplemented(&method));
        }
    }
}

/// Says of which type a request is.
fn typed<M>(request: M) -> M {
    request
}

fn done(answer: Result<crate::messages::Header, Status>) -> Result<Done, Status> {
    answer.map(|header| Done { header: Some(header) })
}

async fn time_to_live(
    member: &Member,
    origin: Origin,
    request: LeaseTimeToLiveRequest,
) -> Result<LeaseTimeToLiveResponse, Status> {
    // Whoever does not lead knows no time of a lease.
    if !member.leads() {
        member.agree(origin).await?;
    }
    let now = member.host.monotonic();
    Ok(member.replica.with(|_, machine| {
        let header = Some(machine.header());
        let LeaseTimeToLiveRequest { id, keys } = request;
        let Some(lease) = machine.leases.get(id) else {
            return LeaseTimeToLiveResponse { header, id, ttl: -1, ..LeaseTimeToLiveResponse::default() };
        };
        let keys = if keys { lease.keys.iter().cloned().collect() } else { Vec::new() };
        LeaseTimeToLiveResponse { header, id, ttl: lease.left(now), granted_ttl: lease.ttl, keys }
    }))
}

async fn leases(member: &Member, origin: Origin, _: Empty) -> Result<LeaseLeasesResponse, Status> {
    member.agree(origin).await?;
    Ok(member.replica.with(|_, machine| {
        let leases = machine.leases.ids().map(|id| LeaseRequest { id }).collect();
        LeaseLeasesResponse { header: Some(machine.header()), leases }
    }))
}

/// Renews leases for as long as they are asked for.
async fn keep_alive(member: &Member, call: Call) {
    let Ok((mut replies, mut requests)) = call.begin() else { return };
    loop {
        let (origin, LeaseRequest { id }) = match requests.next().await {
            Ok(Some(next)) => next,
            Ok(None) => return replies.end(Ok(())),
            Err(status) => return replies.end(Err(status)),
        };
        match member.renew(origin, id).await {
            Ok(ttl) => {
                let answer = LeaseResponse { header: Some(member.header()), id, ttl };
                if !replies.send_for(Some(origin), &answer) {
                    return;
                }
            }
            Err(status) => return replies.end(Err(status)),
        }
    }
}

/// Serves one stream of watches.
async fn watch(member: &Member, call: Call) {
    let Ok((mut replies, mut requests)) = call.begin() else { return };
    let (sender, mut notices) = mpsc::unbounded_channel();
    let (mut watches, mut last) = (BTreeMap::new(), -1);
    let outcome = loop {
        tokio::select! {
            biased;
            notice = notices.recv() => {
                let Some(Notice { origin, header, watch, events }) = notice else { break Ok(()) };
                let header = Some(header);
                let answer = WatchResponse { header, watch_id: watch, events, ..WatchResponse::default() };
                if !replies.send_for(Some(origin), &answer) {
                    break Ok(());
                }
            }
            request = requests.next::<WatchRequest>() => match request {
                Ok(Some((origin, request))) => {
                    watch_on_request(member, (&mut replies, &sender), (&mut watches, &mut last), (origin, request));
                }
                // Whoever has nothing more to ask goes on watching, until the stream is given up.
                Ok(None) => {
                    replies.abandoned().await;
                    break Ok(());
                }
                Err(status) => break Err(status),
            },
        }
    };
    member.replica.with(|_, machine| watches.values().for_each(|watch| machine.unwatch(*watch)));
    replies.end(outcome);
}

fn watch_on_request(
    member: &Member,
    (replies, sender): (&mut Replies, &mpsc::UnboundedSender<Notice>),
    (watches, last): (&mut BTreeMap<i64, u64>, &mut i64),
    (origin, request): (Origin, WatchRequest),
) {
    let header = Some(member.header());
    match request.watching {
        Some(Watching::Create(create)) => {
            *last += 1;
            let watch_id = if create.watch_id == 0 { *last } else { create.watch_id };
            let compacted = member.replica.with(|_, machine| machine.keys.compacted);
            let is_gone = create.start_revision > 0 && create.start_revision < compacted;
            // The answer to a creation comes before the first event.
            let answer = WatchResponse { header, watch_id, created: true, ..WatchResponse::default() };
            replies.send_for(Some(origin), &answer);
            if is_gone {
                let answer = WatchResponse {
                    header,
                    watch_id,
                    canceled: true,
                    compact_revision: compacted,
                    ..WatchResponse::default()
                };
                replies.send_for(Some(origin), &answer);
                return;
            }
            let filters = create.filters().collect();
            let watch = Watch {
                watch: watch_id,
                key: create.key,
                end: create.range_end,
                filters,
                with_previous: create.prev_kv,
                sender: sender.clone(),
            };
            watches.insert(watch_id, member.watch(watch, create.start_revision));
        }
        Some(Watching::Cancel(cancel)) => {
            let Some(watch) = watches.remove(&cancel.watch_id) else { return };
            member.replica.with(|_, machine| machine.unwatch(watch));
            let watch_id = cancel.watch_id;
            let answer = WatchResponse { header, watch_id, canceled: true, ..WatchResponse::default() };
            replies.send_for(Some(origin), &answer);
        }
        Some(Watching::Progress(_)) => {
            let answer = WatchResponse { header, watch_id: -1, ..WatchResponse::default() };
            replies.send_for(Some(origin), &answer);
        }
        None => {}
    }
}

async fn lock(member: &Member, origin: Origin, request: NamedRequest) -> Result<LockResponse, Status> {
    let place = member.lock(origin, &request.name, request.lease).await?;
    Ok(LockResponse { header: Some(place.header), key: place.key })
}

async fn unlock(member: &Member, origin: Origin, request: UnlockRequest) -> Result<Done, Status> {
    let delete = DeleteRangeRequest { key: request.key, ..DeleteRangeRequest::default() };
    Ok(Done { header: member.delete(origin, delete).await?.header })
}

async fn campaign(
    member: &Member,
    origin: Origin,
    request: NamedRequest,
) -> Result<CampaignResponse, Status> {
    let NamedRequest { name, lease, value } = request;
    let place = member.campaign(origin, &name, lease, value).await?;
    let leader = LeaderKey { name, key: place.key, rev: place.revision, lease: place.lease };
    Ok(CampaignResponse { header: Some(place.header), leader: Some(leader) })
}

async fn proclaim(member: &Member, origin: Origin, request: LeaderRequest) -> Result<Done, Status> {
    let leader = request.leader.unwrap_or_default();
    done(member.proclaim(origin, &leader, request.value).await)
}

async fn leader(member: &Member, origin: Origin, request: NamedRequest) -> Result<LeaderResponse, Status> {
    let kv = member.elected(origin, &request.name).await?;
    let kv = kv.ok_or_else(|| Status::unknown("election: no leader"))?;
    Ok(LeaderResponse { header: Some(member.header()), kv: Some(kv) })
}

async fn resign(member: &Member, origin: Origin, request: LeaderRequest) -> Result<Done, Status> {
    done(member.resign(origin, &request.leader.unwrap_or_default()).await)
}

async fn status(member: &Member, _: Empty) -> Result<StatusResponse, Status> {
    Ok(member.replica.with(|node, machine| StatusResponse {
        header: Some(machine.header()),
        version: member.version.full().to_owned(),
        db_size: 0,
        leader: u64::from(node.leader().unwrap_or_default()),
        raft_index: node.committed(),
        raft_term: node.term(),
        raft_applied_index: machine.applied,
    }))
}

async fn members(member: &Member, _: Empty) -> Result<MemberListResponse, Status> {
    let members = (1..).zip(member.names.iter().zip(&member.urls)).map(|(id, (name, url))| ClusterMember {
        id,
        name: name.clone(),
        peer_urls: vec![format!("http://{name}:{PEER_PORT}")],
        client_urls: vec![url.clone()],
    });
    Ok(MemberListResponse { header: Some(member.header()), members: members.collect() })
}

/// Renews a lease for another member, if this one leads.
async fn renew(member: &Member, origin: Origin, request: LeaseRequest) -> Result<LeaseResponse, Status> {
    let ttl = member.renew_here(origin, request.id).await.ok_or_else(Status::not_leader)?;
    Ok(LeaseResponse { header: Some(member.header()), id: request.id, ttl })
}
