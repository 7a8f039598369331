//! The hosts of a run with their programs: the resource, the servers, the clients.

use std::sync::Arc;
use std::time::Duration;

use picklock_model::ids::{HostId, Key};
use picklock_model::plan::{ClientPlan, Plan, SectionPlan, Settings};
use picklock_model::trace::{FINAL_CLIENT, HostInfo, Role};

use super::bound::Bound;
use super::context::{ClientContext, Workload};
use crate::base::future::BoxFuture;
use crate::contract::design::{Context, Design, StoreAddress};
use crate::contract::recorder::BeliefRecorder;
use crate::contract::store::{Member, ServerContext, Store};
use crate::controls::resource::{self, Resource};
use crate::engine::program::HostProgram;
use crate::host::Host;

/// All that is known of a run before it begins, computed once.
pub(super) struct Hosts {
    pub(super) infos: Vec<HostInfo>,
    pub(super) programs: Vec<HostProgram>,
    pub(super) bound: Bound,
    /// The fresh client at the end, and for how long it may stay.
    pub(super) final_client: Option<(HostId, Duration)>,
}

impl Hosts {
    /// The hosts of a plan. Where `monitors_rest`, monitors answer clients and do nothing else.
    pub(super) fn of(design: &Design, plan: &Plan, workload: &Workload, monitors_rest: bool) -> Hosts {
        let settings = design.settings(&plan.world);
        let members = design.members(&settings);
        let addresses = design.addresses(&members);
        let bound = Bound::of(design, plan, &settings);
        let mut hosts = Hosts { infos: Vec::new(), programs: Vec::new(), bound, final_client: None };
        let stock = plan.world.stock;
        let program: HostProgram = Arc::new(move |host| Box::pin(resource::serve(host, stock)));
        hosts.add(HostInfo::new(resource::HOST, Role::Resource), program);
        for (store, member) in
            design.store.iter().flat_map(|store| members.iter().map(move |member| (store, member)))
        {
            let of_its_store = members.iter().filter(|other| other.store == member.store).cloned().collect();
            let (name, role) = (member.name.clone(), member.role);
            let silent = role != Role::Monitor && store.is_real();
            let passive = monitors_rest && role == Role::Monitor;
            let program = server_program(store, member, of_its_store, &settings, passive);
            let (store_of, group, lease_clock) = (member.store, member.group, store.spec.lease_clock());
            let vocabulary = store.spec.vocabulary();
            let info = HostInfo { name, role, store: store_of, group, silent, lease_clock, vocabulary };
            hosts.add(info, program);
        }
        let settings = Arc::new(settings);
        let enter = entrance(design, plan, workload, &addresses, &settings, plan.world.wait);
        for client in &plan.clients {
            let (enter, client) = (Arc::clone(&enter), client.clone());
            let info = HostInfo::new(&client.name, Role::Client);
            hosts.add(info, Arc::new(move |host| enter(host, client.clone())));
        }
        if plan.world.final_client {
            let enter = entrance(design, plan, workload, &addresses, &settings, bound.asking());
            let span = keys(plan).len().min(KEYS_AT_THE_END) as u32 * (bound.asking() + 4 * plan.world.ttl);
            hosts.final_client = Some((HostId(hosts.infos.len() as u16), span));
            hosts.add(HostInfo::new(FINAL_CLIENT, Role::Client), final_client_program(plan, enter));
        }
        hosts
    }

    fn add(&mut self, info: HostInfo, program: HostProgram) {
        self.infos.push(info);
        self.programs.push(program);
    }
}

fn server_program(
    store: &Store,
    member: &Member,
    members: Vec<Member>,
    settings: &Settings,
    passive: bool,
) -> HostProgram {
    let (store, member, settings) = (store.clone(), member.clone(), settings.clone());
    Arc::new(move |host| {
        let (member, members, settings) = (member.clone(), members.clone(), settings.clone());
        store.serve(ServerContext { host, member, members, settings, passive })
    })
}

/// It asks for so many keys at most, those first of which it is not known that they are free.
const KEYS_AT_THE_END: usize = 16;

/// The keys that the plan's sections ask for.
fn keys(plan: &Plan) -> Vec<Key> {
    let sections = plan.clients.iter().flat_map(|client| &client.sections);
    let mut keys: Vec<Key> = sections.map(|section| section.key.clone()).collect();
    keys.sort_unstable();
    keys.dedup();
    keys
}

fn final_client_program(plan: &Plan, enter: Entrance) -> HostProgram {
    let all = keys(plan);
    // Where all only read, nobody need be able to write.
    let shared = plan.clients.iter().flat_map(|client| &client.sections).all(|section| section.shared);
    Arc::new(move |host| {
        let (enter, all) = (Arc::clone(&enter), all.clone());
        Box::pin(async move {
            let mut keys = host.let_in().await;
            keys.extend(all.into_iter().filter(|key| !keys.contains(key)).collect::<Vec<_>>());
            keys.truncate(KEYS_AT_THE_END);
            let section = |(at, key)| {
                let section = SectionPlan::new(at as u32 + 1, key, Duration::ZERO, Duration::ZERO);
                SectionPlan { shared, ..section }
            };
            let sections = keys.into_iter().enumerate().map(section).collect();
            enter(host, ClientPlan::new(FINAL_CLIENT, sections)).await;
        })
    })
}

/// Connects a client and has it carry its sections out.
type Entrance = Arc<dyn Fn(Host, ClientPlan) -> BoxFuture<'static, ()> + Send + Sync>;

fn entrance(
    design: &Design,
    plan: &Plan,
    workload: &Workload,
    stores: &[StoreAddress],
    settings: &Arc<Settings>,
    wait: Duration,
) -> Entrance {
    let (connect, workload) = (Arc::clone(&design.client), Arc::clone(workload));
    let (ttl, belief) = (plan.world.ttl, design.belief);
    let (stores, settings) = (stores.to_vec(), Arc::clone(settings));
    let (fences_reads, policy, own_data) = (design.fences_reads, plan.world.policy, design.own_data);
    Arc::new(move |host, plan| {
        let (connect, workload) = (Arc::clone(&connect), Arc::clone(&workload));
        let (stores, settings) = (stores.clone(), Arc::clone(&settings));
        let context = Context { host: host.clone(), ttl, stores, settings };
        Box::pin(async move {
            let client = loop {
                match connect(context.clone()).await {
                    Ok(client) => break client,
                    Err(_) => host.sleep(ttl / 10).await,
                }
            };
            let resource = Resource::new(host.clone(), 2 * ttl);
            let recorder = BeliefRecorder::of(&host);
            workload(ClientContext {
                host,
                client,
                recorder,
                resource,
                plan,
                wait,
                belief,
                fences_reads,
                policy,
                own_data,
            })
            .await;
        })
    })
}
