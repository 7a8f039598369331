//! Redis with the renewal service beside it: one more host, which keeps no data.

use std::time::Duration;

use picklock_model::plan::Settings;
use picklock_model::trace::Role;
use picklock_redis::Redis;
use picklock_sim::lock::BoxFuture;
use picklock_sim::param::Param;
use picklock_sim::store::{
    Member, OwnAction, RealServer, ServerContext, SimulatedStore, StoreAddress, StoreSpec, Topology,
};

use super::service::{self, Terms};
use super::{HOST, PORT};

/// A Redis store and a renewal service.
pub(crate) struct RenewedRedis {
    redis: Redis,
    /// How long the service waits for a heartbeat, in thousandths of the lease.
    patience_permille: u32,
}

impl RenewedRedis {
    pub(crate) fn new(redis: Redis, patience_permille: u32) -> RenewedRedis {
        RenewedRedis { redis, patience_permille }
    }
}

/// The members of Redis alone.
fn of_redis(members: &[Member]) -> Vec<Member> {
    members.iter().filter(|member| member.role != Role::Renewer).cloned().collect()
}

impl StoreSpec for RenewedRedis {
    fn name(&self) -> &'static str {
        self.redis.name()
    }

    fn params(&self) -> &'static [Param] {
        self.redis.params()
    }

    fn replicates(&self) -> bool {
        self.redis.replicates()
    }

    /// The service comes last.
    fn members(&self, topology: Topology, settings: &Settings) -> Vec<Member> {
        let mut members = self.redis.members(topology, settings);
        members.push(Member::new(HOST, 1, Role::Renewer));
        members
    }

    fn address(&self, store: u32, topology: Topology, members: &[Member]) -> StoreAddress {
        self.redis.address(store, topology, &of_redis(members))
    }

    fn keep_everything(&self, settings: &mut Settings) {
        self.redis.keep_everything(settings);
    }

    fn required(&self) -> Settings {
        self.redis.required()
    }

    fn recovery_time(&self, topology: Topology, settings: &Settings, whole: bool) -> Duration {
        self.redis.recovery_time(topology, settings, whole)
    }

    fn port(&self, role: Role) -> u16 {
        if role == Role::Renewer { PORT } else { self.redis.port(role) }
    }

    fn url(&self, host: &str, port: u16) -> String {
        self.redis.url(host, port)
    }

    fn environment(&self, stores: &[StoreAddress]) -> Vec<(&'static str, String)> {
        self.redis.environment(stores)
    }

    fn real_server(&self, member: &Member, members: &[Member], settings: &Settings) -> Option<RealServer> {
        self.redis.real_server(member, &of_redis(members), settings)
    }

    fn has_program(&self, member: &Member) -> bool {
        member.role != Role::Renewer
    }

    fn decode(&self, role: Role, request: bool, bytes: &[u8]) -> Option<String> {
        match role {
            Role::Renewer => std::str::from_utf8(bytes).ok().map(|text| text.trim_end().replace('\n', "; ")),
            _ => self.redis.decode(role, request, bytes),
        }
    }

    fn actions(&self) -> &'static [OwnAction] {
        self.redis.actions()
    }
}

impl SimulatedStore for RenewedRedis {
    fn serve(&self, context: ServerContext) -> BoxFuture<'static, ()> {
        let redis = of_redis(&context.members);
        if context.member.role != Role::Renewer {
            return self.redis.serve(ServerContext { members: redis, ..context });
        }
        let replicated = redis.iter().any(|member| member.role == Role::Follower);
        let address = self.redis.address(1, Topology { stores: 1, replicated }, &redis);
        let terms = Terms { patience_permille: self.patience_permille };
        Box::pin(service::serve(context.host, address, terms))
    }
}
