//! The work of a member for those who ask: it has changes appended to the log and waits for them, and reads once everybody has agreed.
//!
//! *Source:* etcd's `v3_server.go` and `server.go`, 3.4 and 3.6.

use std::sync::Arc;
use std::time::Duration;

use picklock_raft::{NoLeader, Replica};
use picklock_sim::host::{Host, Origin};
use prost::Message as _;
use tokio::sync::mpsc;

use super::state::{
    Answer, Command, Done, Machine, Notice, Order, Renewal, Revoke, Watch, check_delete, check_put,
    check_range, check_transaction, is_serializable, only_reads,
};
use crate::CLIENT_PORT;
use crate::grpc::Channel;
use crate::grpc::status::Status;
use crate::messages::{
    DeleteRangeRequest, DeleteRangeResponse, Header, LeaseGrantRequest, LeaseRequest, LeaseResponse,
    LeaseTimeToLiveRequest, LeaseTimeToLiveResponse, PutRequest, PutResponse, RangeRequest, RangeResponse,
    TxnRequest, TxnResponse,
};
use crate::params::fewest_seconds;
use crate::version::Version;

/// The call by which a member asks the one that leads to renew a lease. A real one asks on the port of members, over HTTP.
pub(crate) const RENEW: &str = "picklock.Members/Renew";

/// The call by which a member asks the one that leads for the time that is left of a lease.
pub(crate) const TIME_TO_LIVE: &str = "picklock.Members/TimeToLive";

/// A read that nobody confirms is asked for again after this.
const READS_AGAIN: Duration = Duration::from_millis(500);

/// How often a member looks for leases that have run out.
const LOOKS: Duration = Duration::from_millis(500);

/// The longest request, in bytes (`max-request-bytes`).
const LONGEST_REQUEST: usize = 3 << 19;

/// The longest lease, in seconds.
const LONGEST_LEASE: i64 = 9_000_000_000;

/// A member.
pub(crate) struct Member {
    pub(crate) host: Host,
    pub(crate) replica: Arc<Replica<Machine>>,
    /// The hosts of all members, by their numbers from 1.
    pub(crate) names: Vec<String>,
    /// Where clients find them.
    pub(crate) urls: Vec<String>,
    pub(crate) version: Version,
}

/// One who watches, for as long as this is kept.
pub(crate) struct Watched {
    replica: Arc<Replica<Machine>>,
    number: u64,
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.replica.with(|_, machine| machine.unwatch(self.number));
    }
}

impl Member {
    fn election(&self) -> Duration {
        self.replica.timing.tick * self.replica.timing.election_ticks
    }

    /// How long a request may take.
    fn patience(&self) -> Duration {
        Duration::from_secs(5) + 2 * self.election()
    }

    /// The fewest seconds of a lease.
    fn shortest_lease(&self) -> i64 {
        fewest_seconds(self.replica.timing.tick, self.replica.timing.election_ticks) as i64
    }

    pub(crate) fn header(&self) -> Header {
        self.replica.with(|_, machine| machine.header())
    }

    /// The number of the member that leads, if that is known.
    pub(crate) fn leader(&self) -> Option<u32> {
        self.replica.with(|node, _| node.leader())
    }

    pub(crate) fn leads(&self) -> bool {
        self.replica.with(|node, _| node.leader() == Some(node.id()))
    }

    /// Has a change appended, and waits until it is applied here.
    async fn order(&self, origin: Origin, order: Order) -> Answer {
        let (request, answer) = self.replica.with(|_, machine| machine.expect());
        let command = Command { request, order: Some(order) };
        let data = command.encode_to_vec();
        if data.len() > LONGEST_REQUEST {
            self.replica.with(|_, machine| machine.forget(request));
            return Err(Status::request_too_large());
        }
        let waits = async {
            // Without a leader it waits for one.
            while let Err(NoLeader) = self.replica.propose(origin, data.clone()) {
                self.host.sleep(self.replica.timing.tick).await;
            }
            answer.await.map_err(|_| Status::timed_out())?
        };
        let answer = self.host.timeout_boxed(self.patience(), Box::pin(waits)).await;
        answer.unwrap_or_else(|_| {
            self.replica.with(|_, machine| machine.forget(request));
            Err(Status::timed_out())
        })
    }

    /// Waits until everything is applied here that was committed by now.
    pub(crate) async fn agree(&self, origin: Origin) -> Result<(), Status> {
        let agreed = async {
            loop {
                let read = self.host.timeout_boxed(READS_AGAIN, Box::pin(self.replica.read(origin))).await;
                match read {
                    Ok(Ok(())) => return,
                    Ok(Err(NoLeader)) => self.host.sleep(self.replica.timing.tick).await,
                    Err(_) => {}
                }
            }
        };
        self.host.timeout_boxed(self.patience(), Box::pin(agreed)).await.map_err(|_| Status::timed_out())
    }

    pub(crate) async fn range(
        &self,
        origin: Origin,
        request: &RangeRequest,
    ) -> Result<RangeResponse, Status> {
        check_range(request)?;
        if !request.serializable {
            self.agree(origin).await?;
        }
        self.replica.with(|_, machine| machine.range(request))
    }

    pub(crate) async fn put(&self, origin: Origin, request: PutRequest) -> Result<PutResponse, Status> {
        check_put(&request)?;
        match self.order(origin, Order::Put(request)).await? {
            (header, Done::Put(answer)) => Ok(PutResponse { header: Some(header), ..answer }),
            _ => Err(Status::malformed("a put")),
        }
    }

    pub(crate) async fn delete(
        &self,
        origin: Origin,
        request: DeleteRangeRequest,
    ) -> Result<DeleteRangeResponse, Status> {
        check_delete(&request)?;
        match self.order(origin, Order::Delete(request)).await? {
            (header, Done::Delete(answer)) => Ok(DeleteRangeResponse { header: Some(header), ..answer }),
            _ => Err(Status::malformed("a deletion")),
        }
    }

    pub(crate) async fn transact(&self, origin: Origin, request: TxnRequest) -> Result<TxnResponse, Status> {
        check_transaction(&request)?;
        if only_reads(&request) {
            if !is_serializable(&request) {
                self.agree(origin).await?;
            }
            return self.replica.with(|_, machine| machine.read(&request));
        }
        match self.order(origin, Order::Txn(request)).await? {
            (header, Done::Txn(answer)) => Ok(TxnResponse { header: Some(header), ..answer }),
            _ => Err(Status::malformed("a transaction")),
        }
    }

    pub(crate) async fn compact(
        &self,
        origin: Origin,
        request: crate::messages::CompactionRequest,
    ) -> Result<Header, Status> {
        Ok(self.order(origin, Order::Compact(request)).await?.0)
    }

    /// Grants a lease: at least of the shortest time, and with a number if it was given none.
    pub(crate) async fn grant(
        &self,
        origin: Origin,
        mut request: LeaseGrantRequest,
    ) -> Result<LeaseResponse, Status> {
        if request.ttl > LONGEST_LEASE {
            return Err(Status::ttl_too_large());
        }
        while request.id == 0 {
            request.id = self.host.rng().below(1 << 62) as i64;
        }
        request.ttl = request.ttl.max(self.shortest_lease());
        let LeaseGrantRequest { id, ttl } = request;
        let (header, _) = self.order(origin, Order::Grant(request)).await?;
        Ok(LeaseResponse { header: Some(header), id, ttl })
    }

    pub(crate) async fn revoke(
        &self,
        origin: Origin,
        LeaseRequest { id }: LeaseRequest,
    ) -> Result<Header, Status> {
        Ok(self.order(origin, Order::Revoke(Revoke { id, has_run_out: false, overdue_ns: 0 })).await?.0)
    }

    /// Renews a lease. Its seconds; 0 if it is not there.
    ///
    /// # Errors
    /// When nobody who leads could be asked in time.
    pub(crate) async fn renew(&self, origin: Origin, id: i64) -> Result<i64, Status> {
        let renewed = async {
            loop {
                match self.renew_here(origin, id).await {
                    Some(ttl) => return ttl,
                    None if self.leader().is_some_and(|_| !self.leads()) => {
                        if let Ok(ttl) = self.renew_there(id).await {
                            return ttl;
                        }
                    }
                    None => {}
                }
                self.host.sleep(Duration::from_millis(50)).await;
            }
        };
        self.host.timeout_boxed(self.patience(), Box::pin(renewed)).await.map_err(|_| Status::timed_out())
    }

    /// Renews a lease if this member leads: its seconds, or 0 if it is not there; none if it does not lead.
    pub(crate) async fn renew_here(&self, origin: Origin, id: i64) -> Option<i64> {
        if !self.is_sure_to_lead(origin).await {
            return None;
        }
        loop {
            let renewal = self.replica.with(|_, machine| machine.renew(&self.host, origin, id));
            match renewal {
                Ok(ttl) => return Some(ttl.unwrap_or(0)),
                Err(Renewal::Elsewhere) => return None,
                Err(Renewal::Ending(ended)) => {
                    if !ended.await.unwrap_or(false) {
                        return None;
                    }
                }
            }
        }
    }

    /// Asks the member that leads.
    async fn renew_there(&self, id: i64) -> Result<i64, Status> {
        let answer: LeaseResponse = self.ask_leader(RENEW, &LeaseRequest { id }).await?;
        Ok(answer.ttl)
    }

    async fn ask_leader<A: prost::Message + Default>(
        &self,
        method: &str,
        request: &impl prost::Message,
    ) -> Result<A, Status> {
        let leader = self.leader().ok_or_else(Status::no_leader)?;
        let name = self.names.get((leader as usize).wrapping_sub(1)).ok_or_else(Status::no_leader)?;
        let asked = async {
            let mut channel = Channel::connect(&self.host, name, CLIENT_PORT, None).await?;
            channel.call(method, request).await
        };
        let patience = Duration::from_secs(1) + self.election();
        self.host.timeout_boxed(patience, Box::pin(asked)).await.unwrap_or_else(|_| Err(Status::timed_out()))
    }

    /// The time that is left of a lease. Only the member that leads knows it.
    ///
    /// # Errors
    /// When nobody who leads could be asked in time.
    pub(crate) async fn time_to_live(
        &self,
        request: LeaseTimeToLiveRequest,
    ) -> Result<LeaseTimeToLiveResponse, Status> {
        let asked = async {
            loop {
                if let Some(answer) = self.time_to_live_here(request) {
                    return answer;
                }
                if let Ok(answer) = self.ask_leader(TIME_TO_LIVE, &request).await {
                    return answer;
                }
                self.host.sleep(Duration::from_millis(50)).await;
            }
        };
        let answer = self.host.timeout_boxed(self.patience(), Box::pin(asked)).await;
        let answer = answer.map_err(|_| Status::timed_out())?;
        Ok(LeaseTimeToLiveResponse { header: Some(self.header()), ..answer })
    }

    /// The time that is left of a lease, if this member leads: -1 for one that is not there.
    pub(crate) fn time_to_live_here(
        &self,
        LeaseTimeToLiveRequest { id, keys }: LeaseTimeToLiveRequest,
    ) -> Option<LeaseTimeToLiveResponse> {
        if !self.leads() {
            return None;
        }
        let now = self.host.monotonic();
        Some(self.replica.with(|_, machine| {
            let Some(lease) = machine.leases.get(id) else {
                return LeaseTimeToLiveResponse { id, ttl: -1, ..LeaseTimeToLiveResponse::default() };
            };
            let keys = if keys { lease.keys.iter().cloned().collect() } else { Vec::new() };
            LeaseTimeToLiveResponse { header: None, id, ttl: lease.left(now), granted_ttl: lease.ttl, keys }
        }))
    }

    /// True if it leads. A current version makes sure of it when it has missed ticks: it may have been replaced meanwhile.
    async fn is_sure_to_lead(&self, origin: Origin) -> bool {
        if !self.leads() {
            return false;
        }
        if self.version == Version::V34 || !self.replica.has_missed_ticks() {
            return true;
        }
        let term = self.replica.with(|node, _| node.term());
        let patience = 3 * self.replica.timing.tick;
        let agreed = self.host.timeout_boxed(patience, Box::pin(self.replica.read(origin))).await;
        matches!(agreed, Ok(Ok(()))) && self.leads() && self.replica.with(|node, _| node.term()) == term
    }

    /// Begins to watch a range, and has the events sent there, until what it gives is dropped.
    pub(crate) fn watch(&self, watch: Watch) -> Watched {
        let number = self.replica.with(|_, machine| machine.watch(watch));
        Watched { replica: Arc::clone(&self.replica), number }
    }

    /// A watch of one key, from a revision on.
    pub(crate) fn new_watch(&self, key: &[u8], from: i64) -> (Watch, mpsc::UnboundedReceiver<Notice>) {
        let (sender, notices) = mpsc::unbounded_channel();
        let (key, end) = (key.to_vec(), Vec::new());
        (Watch { watch: 0, key, end, from, filters: Vec::new(), with_previous: false, sender }, notices)
    }

    /// Ends leases that have run out, as long as this member leads. It looks from some time after its start on, as no two start at once.
    pub(crate) async fn end_leases(self: Arc<Self>) {
        self.host.sleep(self.host.rng().span(Duration::ZERO, LOOKS)).await;
        loop {
            self.host.sleep(LOOKS).await;
            let now = self.host.monotonic();
            let over = self.replica.with(|_, machine| {
                let objects = machine.objects.run_out(now);
                objects.into_iter().for_each(|(origin, what)| self.host.record(origin, what));
                machine.leases.run_out(now)
            });
            if over.is_empty() || !self.is_sure_to_lead(Origin::default()).await {
                continue;
            }
            for (id, overdue) in over {
                let member = Arc::clone(&self);
                let overdue_ns = picklock_model::time::nanos(overdue);
                let order = Order::Revoke(Revoke { id, has_run_out: true, overdue_ns });
                self.host.spawn(async move {
                    // One that could not be ended is tried again.
                    let _ = member.order(Origin::default(), order).await;
                });
            }
        }
    }

    /// Saves the state once the log is long.
    pub(crate) async fn shorten_log(self: Arc<Self>) {
        let mut saved = 0;
        loop {
            self.host.sleep(Duration::from_secs(30)).await;
            let applied = self.replica.with(|_, machine| machine.applied);
            if applied >= saved + LONGEST_LOG {
                saved = applied;
                self.replica.compact();
            }
        }
    }
}

/// A snapshot is made after so many entries (`--snapshot-count` of 3.6).
const LONGEST_LOG: u64 = 10_000;
