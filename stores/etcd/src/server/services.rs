//! The services of the client port: which call is answered by what.

use std::collections::BTreeMap;
use std::sync::Arc;

use picklock_model::trace::What;
use picklock_sim::host::Origin;
use tokio::sync::mpsc;

use super::keys_only;
use super::member::{Member, RENEW, TIME_TO_LIVE, Watched};
use super::state::{Notice, Watch, data};
use crate::PEER_PORT;
use crate::grpc::Call;
use crate::grpc::status::Status;
use crate::messages::{
    CampaignResponse, ClusterMember, DeleteRangeRequest, Done, Empty, Header, LeaderKey, LeaderRequest,
    LeaderResponse, LeaseLeasesResponse, LeaseRequest, LeaseResponse, LeaseTimeToLiveRequest,
    LeaseTimeToLiveResponse, LockResponse, MemberListResponse, NamedRequest, RangeRequest, RangeResponse,
    StatusResponse, TxnRequest, TxnResponse, UnlockRequest, WatchCancel, WatchCreate, WatchRequest,
    WatchResponse, Watching as WatchAsked,
};
use crate::version::Version;

/// Answers a call.
pub(crate) async fn answer(member: Arc<Member>, mut call: Call) {
    let origin = call.origin;
    macro_rules! with {
        ($request:ident => $answer:expr) => {
            match call.request().await {
                // A call proposes nothing after its end, for example with its connection: etcd cancels the context of the handler.
                Ok($request) => tokio::select! {
                    biased;
                    answer = async { $answer.await } => call.finish(answer),
                    () = call.abandoned() => {}
                },
                Err(status) => call.refuse(&status),
            }
        };
    }
    match call.method.as_str() {
        "etcdserverpb.KV/Range" => {
            with!(request => range(&member, origin, request));
        }
        "etcdserverpb.KV/Put" => with!(request => member.put(origin, request)),
        "etcdserverpb.KV/DeleteRange" => {
            with!(request => member.delete(origin, request));
        }
        "etcdserverpb.KV/Txn" => with!(request => transact(&member, origin, request)),
        "etcdserverpb.KV/Compact" => {
            with!(request => async { done(member.compact(origin, request).await) });
        }
        "etcdserverpb.Lease/LeaseGrant" => {
            with!(request => member.grant(origin, request));
        }
        "etcdserverpb.Lease/LeaseRevoke" => {
            with!(request => async { done(member.revoke(origin, request).await) });
        }
        "etcdserverpb.Lease/LeaseTimeToLive" => {
            with!(request => member.time_to_live(request));
        }
        "etcdserverpb.Lease/LeaseLeases" => with!(request => leases(&member, request)),
        "etcdserverpb.Lease/LeaseKeepAlive" => keep_alive(&member, call).await,
        "etcdserverpb.Watch/Watch" => watch(&member, call).await,
        "v3lockpb.Lock/Lock" => lock(&member, call).await,
        "v3lockpb.Lock/Unlock" => with!(request => unlock(&member, origin, request)),
        "v3electionpb.Election/Campaign" => campaign(&member, call).await,
        "v3electionpb.Election/Proclaim" => with!(request => proclaim(&member, origin, request)),
        "v3electionpb.Election/Leader" => with!(request => leader(&member, origin, request)),
        "v3electionpb.Election/Resign" => with!(request => resign(&member, origin, request)),
        "etcdserverpb.Maintenance/Status" => with!(request => status(&member, request)),
        "etcdserverpb.Cluster/MemberList" => with!(request => members(&member, request)),
        RENEW => with!(request => renew(&member, origin, request)),
        TIME_TO_LIVE => with!(request => time_to_live(&member, request)),
        _ => {
            let method = call.method.clone();
            member.host.record(origin, What::NotModelled { name: method.clone() });
            call.refuse(&Status::unimplemented(&method));
        }
    }
}

fn done(answer: Result<crate::messages::Header, Status>) -> Result<Done, Status> {
    answer.map(|header| Done { header: Some(header) })
}

async fn range(member: &Member, origin: Origin, request: RangeRequest) -> Result<RangeResponse, Status> {
    let mut answer = member.range(origin, &request).await?;
    data::read(&request, &answer).into_iter().for_each(|what| member.host.record(origin, what));
    if member.version == Version::V37 {
        keys_only::of_range(&request, &mut answer);
    }
    Ok(answer)
}

async fn transact(member: &Member, origin: Origin, request: TxnRequest) -> Result<TxnResponse, Status> {
    if member.version != Version::V37 {
        return member.transact(origin, request).await;
    }
    let mut answer = member.transact(origin, request.clone()).await?;
    keys_only::of_transaction(&request, &mut answer);
    Ok(answer)
}

/// The leases that this member knows of: nobody else is asked.
async fn leases(member: &Member, _: Empty) -> Result<LeaseLeasesResponse, Status> {
    Ok(member.replica.with(|_, machine| {
        let leases = machine.leases.ids().into_iter().map(|id| LeaseRequest { id }).collect();
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
        // The revision is that of before: a client must not take a lease for alive at a revision at which it was ended.
        let header = Some(member.header());
        match member.renew(origin, id).await {
            Ok(ttl) => {
                let answer = LeaseResponse { header, id, ttl };
                if !replies.send_for(Some(origin), &answer) {
                    return;
                }
            }
            Err(status) => return replies.end(Err(status)),
        }
    }
}

/// The watches of one stream.
struct Watches {
    /// One that is cancelled by a compaction has nobody who watches, and keeps its number.
    by_number: BTreeMap<i64, Option<Watching>>,
    /// The next number that may be given.
    next: i64,
    sender: mpsc::UnboundedSender<Notice>,
}

/// A watch that goes on.
struct Watching {
    from: i64,
    _watched: Watched,
}

/// The number of no watch.
const NO_WATCH: i64 = -1;

/// Serves one stream of watches.
async fn watch(member: &Member, call: Call) {
    let Ok((mut replies, mut requests)) = call.begin() else { return };
    let (sender, mut notices) = mpsc::unbounded_channel();
    let mut watches = Watches { by_number: BTreeMap::new(), next: 0, sender };
    let mut asks = true;
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
            request = requests.next::<WatchRequest>(), if asks => match request {
                Ok(Some((origin, request))) => {
                    for answer in watches.answer(member, request) {
                        replies.send_for(Some(origin), &answer);
                    }
                }
                // Whoever has nothing more to ask goes on watching, until the stream is given up.
                Ok(None) => asks = false,
                Err(status) => break Err(status),
            },
            () = replies.abandoned(), if !asks => break Ok(()),
        }
    };
    replies.end(outcome);
}

impl Watches {
    fn answer(&mut self, member: &Member, request: WatchRequest) -> Vec<WatchResponse> {
        let header = member.header();
        match request.watching {
            Some(WatchAsked::Create(create)) => self.create(member, header, create),
            Some(WatchAsked::Cancel(WatchCancel { watch_id })) => {
                let answer = WatchResponse {
                    header: Some(header),
                    watch_id,
                    canceled: true,
                    ..WatchResponse::default()
                };
                self.by_number.remove(&watch_id).map(|_| answer).into_iter().collect()
            }
            Some(WatchAsked::Progress(_)) => {
                let answer =
                    WatchResponse { header: Some(header), watch_id: NO_WATCH, ..WatchResponse::default() };
                // 3.4 always answers, whether the events have been sent or not.
                let is_answered = member.version == Version::V34 || self.are_all_at(header.revision);
                is_answered.then_some(answer).into_iter().collect()
            }
            None => Vec::new(),
        }
    }

    /// True if there are watches and all of them have been sent what there is up to this revision.
    fn are_all_at(&self, revision: i64) -> bool {
        let is_at =
            |watching: &Option<Watching>| watching.as_ref().is_some_and(|watching| watching.from <= revision);
        !self.by_number.is_empty() && self.by_number.values().all(is_at)
    }

    fn create(&mut self, member: &Member, header: Header, create: WatchCreate) -> Vec<WatchResponse> {
        let filters = create.filters().collect();
        let WatchCreate { mut key, range_end: end, start_revision: from, watch_id, prev_kv, .. } = create;
        if key.is_empty() {
            // The smallest key.
            key.push(0);
        }
        let refused = if from < 0 && member.version == Version::V37 {
            Some("etcdserver: mvcc: required revision has been compacted")
        } else if !matches!(end.as_slice(), [] | [0]) && key >= end {
            Some("mvcc: watcher range is empty")
        } else if watch_id != 0 && self.by_number.contains_key(&watch_id) {
            Some("mvcc: duplicate watch ID provided on the WatchStream")
        } else {
            None
        };
        let created = WatchResponse { header: Some(header), created: true, ..WatchResponse::default() };
        if let Some(reason) = refused {
            let cancel_reason = reason.to_owned();
            return vec![WatchResponse { watch_id: NO_WATCH, canceled: true, cancel_reason, ..created }];
        }
        let number = if watch_id == 0 { self.number() } else { watch_id };
        let created = WatchResponse { watch_id: number, ..created };
        let compacted = member.replica.with(|_, machine| machine.keys.compacted);
        if from != 0 && from < compacted {
            self.by_number.insert(number, None);
            let cancelled = WatchResponse {
                // It is not known at which revision.
                header: Some(Header { revision: 0, ..header }),
                watch_id: number,
                canceled: true,
                compact_revision: compacted,
                ..WatchResponse::default()
            };
            return vec![created, cancelled];
        }
        let sender = self.sender.clone();
        let watch = Watch { watch: number, key, end, from, filters, with_previous: prev_kv, sender };
        // What has happened is sent after this answer.
        let watching = Watching { from, _watched: member.watch(watch) };
        self.by_number.insert(number, Some(watching));
        vec![created]
    }

    /// A number that no watch of the stream has.
    fn number(&mut self) -> i64 {
        while self.by_number.contains_key(&self.next) {
            self.next += 1;
        }
        self.next += 1;
        self.next - 1
    }
}

/// Waits for a lock, and gives its place up once nobody waits for the answer any more.
async fn lock(member: &Member, mut call: Call) {
    let origin = call.origin;
    let NamedRequest { name, lease, .. } = match call.request().await {
        Ok(request) => request,
        Err(status) => return call.refuse(&status),
    };
    let place = match member.stand(origin, &name, lease).await {
        Ok((place, true)) => {
            return call.finish(Ok(LockResponse { header: Some(place.header), key: place.key }));
        }
        Ok((place, false)) => place,
        Err(status) => return call.refuse(&status.through_client()),
    };
    let turn = tokio::select! {
        biased;
        () = call.abandoned() => None,
        turn = member.wait_for_lock(origin, &name, &place) => Some(turn),
    };
    let Some(turn) = turn else {
        // If it cannot be given up, its lease ends it.
        let _ = unlock(member, origin, UnlockRequest { key: place.key }).await;
        return;
    };
    let answer = turn.map(|header| LockResponse { header: Some(header), key: place.key });
    call.finish(answer.map_err(Status::through_client));
}

async fn unlock(member: &Member, origin: Origin, request: UnlockRequest) -> Result<Done, Status> {
    let delete = DeleteRangeRequest { key: request.key, ..DeleteRangeRequest::default() };
    let deleted = member.delete(origin, delete).await.map_err(Status::through_client)?;
    Ok(Done { header: deleted.header })
}

/// Waits for a leadership, and gives its place up once nobody waits for the answer any more.
async fn campaign(member: &Member, mut call: Call) {
    let origin = call.origin;
    let NamedRequest { name, lease, value } = match call.request().await {
        Ok(request) => request,
        Err(status) => return call.refuse(&status),
    };
    let place = match member.run(origin, &name, lease, value).await {
        Ok(place) => place,
        Err(status) => return call.refuse(&status.through_client()),
    };
    let turn = tokio::select! {
        biased;
        () = call.abandoned() => None,
        turn = member.wait_for_those_before(origin, &name, place.revision) => Some(turn),
    };
    let leader = LeaderKey { name, key: place.key, rev: place.revision, lease: place.lease };
    let Some(turn) = turn else {
        // If it cannot be given up, its lease ends it.
        let _ = member.resign(origin, &leader).await;
        return;
    };
    let answer = turn.map(|_| CampaignResponse { header: Some(place.header), leader: Some(leader) });
    call.finish(answer.map_err(Status::through_client));
}

async fn proclaim(member: &Member, origin: Origin, request: LeaderRequest) -> Result<Done, Status> {
    let leader = request.leader.ok_or_else(no_leader_given)?;
    done(member.proclaim(origin, &leader, request.value).await).map_err(Status::through_client)
}

async fn leader(member: &Member, origin: Origin, request: NamedRequest) -> Result<LeaderResponse, Status> {
    let found = member.elected(origin, &request.name).await.map_err(Status::through_client)?;
    let kv = found.kvs.into_iter().next().ok_or_else(|| Status::unknown("election: no leader"))?;
    Ok(LeaderResponse { header: found.header, kv: Some(kv) })
}

async fn resign(member: &Member, origin: Origin, request: LeaderRequest) -> Result<Done, Status> {
    let leader = request.leader.ok_or_else(no_leader_given)?;
    done(member.resign(origin, &leader).await).map_err(Status::through_client)
}

fn no_leader_given() -> Status {
    Status::unknown("\"leader\" field must be provided")
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

/// The time that is left of a lease, for another member, if this one leads.
async fn time_to_live(
    member: &Member,
    request: LeaseTimeToLiveRequest,
) -> Result<LeaseTimeToLiveResponse, Status> {
    member.time_to_live_here(request).ok_or_else(Status::not_leader)
}
