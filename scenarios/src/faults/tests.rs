//! Faults drawn against made-up probe runs.

use std::collections::BTreeSet;
use std::time::Duration;

use picklock_model::plan::{
    Access, Action, ClientPlan, Edge, Injection, Phase, Plan, Point, Settings, Target, When,
};
use picklock_model::points::Points;
use picklock_model::seed::Seed;
use picklock_model::time::TrueTime;
use picklock_model::trace::{HostInfo, Role};
use picklock_sim::design::{Design, RenewedBy};
use picklock_sim::lock::{BoxFuture, LockError};
use picklock_sim::resource::HOST as RESOURCE;
use picklock_sim::store::{Member, ServerContext, SimulatedStore, StoreSpec, Topology};

use super::{ALL, Fault, Stage, TIMES, at_site_named, find, form_named, parse, present_name};
use crate::scenario::Scenario;
use crate::testing::{MadeUp, STORES};
use picklock_sim::param::Args;

pub(crate) fn design(stores: u32, replicated: bool) -> Design {
    let design = Design::new("made-up", |_| async { Err(LockError::new("never made")) });
    if stores == 0 { design } else { design.on_stores(Topology { stores, replicated }, MadeUp) }
}

/// The points that a probe run of a plan might reach: every phase of every section, with accesses of each kind.
pub(crate) fn probe(design: &Design, plan: &Plan) -> Points {
    let mut points = Vec::new();
    let servers = design.members(&design.settings(&plan.world));
    for ClientPlan { name, sections, .. } in &plan.clients {
        for section in sections {
            let mut pass = |phase, access, peer: &str, nth| {
                let (host, peer) = (name.as_str().into(), peer.into());
                let (section, edge) = (section.ordinal, Edge::Before);
                points.push(Point { host, section, phase, access, peer, nth, edge });
            };
            pass(Phase::Idle, Access::Poll, "", 0);
            for phase in [Phase::Acquire, Phase::Read, Phase::Work, Phase::Write, Phase::Release] {
                pass(phase, Access::Enter, "", 0);
                (0..20).for_each(|nth| pass(phase, Access::Poll, "", nth));
                match phase {
                    Phase::Acquire | Phase::Release => {
                        for server in servers.iter().map(|member| &member.name) {
                            pass(phase, Access::Write, server, 0);
                            pass(phase, Access::Read, server, 0);
                        }
                    }
                    Phase::Read | Phase::Write => pass(phase, Access::Write, RESOURCE, 0),
                    _ => pass(phase, Access::Clock, "", 0),
                }
            }
        }
    }
    Points::of(points, TrueTime(900_000_000))
}

fn scenario(faults: &str) -> Scenario {
    Scenario::parse("made-up.toml", &format!("summary = 'made up'\n{faults}"), STORES).unwrap()
}

fn plan(scenario: &Scenario, design: &Design, seed: u64) -> Plan {
    let design = scenario.adapt(design).unwrap();
    let probe = probe(&design, &scenario.fault_free_plan(&design, Seed(seed)));
    scenario.plan(&design, Seed(seed), Some(&probe))
}

fn injections(faults: &str, design: &Design) -> Vec<Injection> {
    let scenario = scenario(faults);
    (0..400).flat_map(|seed| plan(&scenario, design, seed).injections).collect()
}

fn point(injection: &Injection) -> &Point {
    let When::Point { point, .. } = &injection.when else { panic!("{injection:?} is not at a point") };
    point
}

fn hosts(target: &Target) -> &[String] {
    let Target::Hosts(hosts) = target else { panic!("{target:?} is not hosts") };
    hosts
}

#[test]
fn every_fault_declares_defaults_of_its_domains_and_a_number_of_hits() {
    for fault in ALL {
        let args = Args::defaults(fault.params);
        assert!(args.find(TIMES).is_some(), "{}", fault.name);
        args.check(Duration::from_secs(1)).unwrap();
    }
}

/// Each name of each fault, with the fault.
fn names() -> impl Iterator<Item = (&'static str, &'static Fault)> {
    ALL.iter().flat_map(|fault| {
        std::iter::once(fault.name).chain(fault.also.iter().copied()).map(|name| (name, *fault))
    })
}

#[test]
fn no_two_faults_share_a_name() {
    let all: Vec<&str> = names().map(|(name, _)| name).collect();
    let different: BTreeSet<&str> = all.iter().copied().collect();
    assert_eq!(all.len(), different.len(), "{all:?}");
}

#[test]
fn a_fault_is_found_placed_and_served_under_each_of_its_names() {
    for (name, fault) in names() {
        assert_eq!(find(name).unwrap().name, fault.name, "{name}");
        match (at_site_named(name), fault.at_sites.first()) {
            (Some(placed), Some(first)) => {
                assert!(placed.name == first.name || placed.name == name, "{name} is {}", placed.name);
            }
            (None, None) => {}
            (placed, _) => panic!("{name}: {placed:?}"),
        }
        assert_eq!(form_named(name).is_some(), !fault.served.is_empty(), "{name}");
    }
    let printed = |name| present_name(name);
    assert_eq!(["crash", "restart", "cut"].map(printed), ["client-crash", "node-restart", "partition"]);
    assert_eq!(
        ["cut-off", "calm"].map(printed),
        ["cut-off", "calm"],
        "a site and a scenario keep their names"
    );
}

#[test]
fn the_usual_site_of_a_fault_has_its_name_and_further_ones_have_another_of_its_names() {
    for fault in ALL {
        let mut sites = fault.at_sites.iter();
        assert!(sites.next().is_none_or(|first| first.name == fault.name), "{}", fault.name);
        assert!(sites.all(|site| fault.also.contains(&site.name)), "{}", fault.name);
    }
}

#[test]
fn a_scenario_takes_each_name_of_a_fault_in_its_file_in_settings_in_ties_and_to_keep() {
    let described = |text: &str, set: &str| {
        let mut scenario = scenario(text);
        scenario.set(set).unwrap();
        let settable: Vec<String> = scenario
            .settable()
            .iter()
            .map(|one| format!("{}.{}={}", one.group, one.param.name, one.value))
            .collect();
        (scenario.changes().to_vec(), settable)
    };
    let file = |kind: &str, tie: &str| {
        format!("[[fault]]\nkind = '{kind}'\n[[fault]]\nkind = 'cancel'\nduring = '{tie}'")
    };
    let present = described(&file("partition", "partition"), "partition.times=2");
    assert_eq!(described(&file("cut", "cut"), "cut.times=2"), present);
    assert_eq!(present.0, ["partition.times=2"]);
    let tied = described(&file("partition", "nothing"), "cancel.during=cut");
    assert_eq!(tied.0, ["cancel.during=partition"]);

    let drifting = scenario("[[fault]]\nkind = 'clock-drift'");
    assert_eq!(drifting.keeping(&["drift".to_owned()]).unwrap().faults().len(), 1);
}

#[test]
fn a_partition_starts_in_the_phase_the_client_and_the_section_that_are_named() {
    let named = "[[fault]]\nkind = 'partition'\nphase = 'work'\nclient = 2\nsection = 1";
    let found = injections(named, &design(1, false));
    assert!(found.len() >= 400, "{}", found.len());
    let is_there =
        |point: &Point| point.phase == Phase::Work && &*point.host == "client-2" && point.section == 1;
    assert!(found.iter().all(|cut| is_there(point(cut))), "{:?}", point(&found[0]));
    let why = scenario(&format!("{named}\nstart = 'instant'")).adapt(&design(1, false)).unwrap_err();
    assert!(why.contains("`start` is an instant"), "{why}");
}

#[test]
fn every_fault_hits_a_design_that_it_applies_to() {
    for fault in ALL {
        // The only one that needs a host between clients and a store.
        let design = if fault.name == "service" { pooled(1) } else { design(1, true) };
        let found = injections(&format!("[[fault]]\nkind = '{}'", fault.name), &design);
        assert!(found.len() >= 400, "{} scheduled {} injections in 400 runs", fault.name, found.len());
        assert!(found.iter().all(|injection| injection.fault == fault.name));
    }
}

#[test]
fn a_pause_hits_every_phase_and_rarely_at_a_poll() {
    let found = injections("[[fault]]\nkind = 'pause'", &design(5, false));
    let phases: BTreeSet<Phase> = found.iter().map(|pause| point(pause).phase).collect();
    assert_eq!(phases.len(), 5, "{phases:?}");
    assert!(!phases.contains(&Phase::Idle));
    let polls = found.iter().filter(|pause| point(pause).access == Access::Poll).count();
    assert!(polls < found.len() / 10, "{polls} of {}", found.len());
    assert!(found.iter().any(|pause| point(pause).edge == Edge::After));
}

#[test]
fn a_stall_hits_the_section_alone() {
    let found = injections("[[fault]]\nkind = 'stall'", &design(1, false));
    assert!(found.iter().all(|stall| matches!(point(stall).phase, Phase::Read | Phase::Work | Phase::Write)));
}

#[test]
fn links_keep_a_network_fault_away_from_the_other_hosts() {
    for kind in ["delay", "lost-reply", "partition"] {
        for links in ["lock", "resource"] {
            let found =
                injections(&format!("[[fault]]\nkind = '{kind}'\nlinks = '{links}'"), &design(3, false));
            assert!(!found.is_empty());
            for injection in found {
                let (Action::Cut { to: other, .. }
                | Action::Delay { to: other, .. }
                | Action::LoseReply { from: other }) = &injection.action
                else {
                    panic!("{injection:?}")
                };
                let both = hosts(&injection.target).iter().chain(hosts(other));
                let servers: Vec<&String> = both.filter(|host| !host.starts_with("client-")).collect();
                assert!(!servers.is_empty());
                assert!(
                    servers.iter().all(|host| (*host == RESOURCE) == (links == "resource")),
                    "{injection:?}"
                );
            }
        }
    }
}

#[test]
fn a_partition_may_start_some_time_after_its_phase_has_begun() {
    let late = "[[fault]]\nkind = 'partition'\nphase = 'work'\ncut_after = ['100ms', '200ms']";
    for injection in injections(late, &design(3, false)) {
        let When::Point { after, .. } = injection.when else { panic!("{injection:?} is not at a point") };
        assert!((100..=200).contains(&after.as_millis()), "{after:?}");
    }
    let why = scenario("[[fault]]\nkind = 'partition'\nstart = 'instant'\ncut_after = '1s'");
    let why = why.adapt(&design(3, false)).unwrap_err();
    assert!(why.contains("`cut_after`"), "{why}");
}

#[test]
fn a_partition_of_a_minority_leaves_a_quorum() {
    let found =
        injections("[[fault]]\nkind = 'partition'\nservers = 'minority'\nway = 'out'", &design(5, false));
    let sizes: BTreeSet<usize> = found
        .iter()
        .map(|cut| {
            let Action::Cut { to, both: false, .. } = &cut.action else { panic!("{cut:?}") };
            hosts(to).len()
        })
        .collect();
    assert_eq!(sizes, BTreeSet::from([1, 2]));
}

#[test]
fn a_clock_step_holds_exactly_as_many_nodes_as_asked_and_steps_among_those() {
    let clock_step = scenario("[[fault]]\nkind = 'clock-step'\nheld = 4\nstepped = 2");
    assert!(!clock_step.needs_probe_run());
    for seed in 0..100 {
        let injections = plan(&clock_step, &design(7, false), seed).injections;
        let [cut, step] = &injections[..] else { panic!("{injections:?}") };
        let Action::Cut { to, both: true, .. } = &cut.action else { panic!("{cut:?}") };
        assert_eq!((hosts(&cut.target), hosts(to).len()), (&["client-1".to_owned()][..], 3));
        assert_eq!(hosts(&step.target).len(), 2);
        assert!(hosts(&step.target).iter().all(|node| !hosts(to).contains(node)));
    }
}

#[test]
fn a_clock_step_moves_replicas_with_their_store() {
    let found = injections("[[fault]]\nkind = 'clock-step'", &design(1, true));
    assert!(found.iter().all(|step| hosts(&step.target) == ["node-1", "replica-1-1"]));
}

#[test]
fn a_failover_hits_the_primary_by_crash_or_by_cut() {
    let found = injections("[[fault]]\nkind = 'failover'", &design(1, true));
    assert!(found.iter().all(|injection| injection.target == Target::Leader));
    let cuts = found.iter().filter(|injection| matches!(injection.action, Action::Cut { .. })).count();
    assert!((100..300).contains(&cuts), "{cuts}");
}

#[test]
fn a_split_leaves_the_primary_with_one_client_and_a_minority_of_the_sentinels() {
    let split =
        scenario("replicas = 2\n[contend]\nsections = 9\n[[fault]]\nkind = 'failover'\nhow = 'split'");
    for seed in 0..100 {
        let injections = plan(&split, &design(1, true), seed).injections;
        let [primary, others] = &injections[..] else { panic!("{injections:?}") };
        assert_eq!((&primary.target, &primary.when), (&Target::Leader, &others.when));
        assert_eq!(primary.action, others.action);
        assert!(point(primary).section <= 2, "early enough for the run to see the end of it");
        let [client, sentinel] = hosts(&others.target) else { panic!("{others:?}") };
        assert!(**client == *point(primary).host && sentinel.starts_with("sentinel"));
        let Action::Cut { to, both: true, .. } = &primary.action else { panic!("{primary:?}") };
        let of = |kind: &str| hosts(to).iter().filter(|host| host.starts_with(kind)).count();
        assert_eq!((of("client"), of("sentinel"), of("replica"), of("resource")), (2, 2, 2, 0));
        assert!(!hosts(to).contains(client) && !hosts(to).contains(sentinel));
    }
}

#[test]
fn a_split_begins_as_long_after_its_point_as_its_parameter_says() {
    let split = "[[fault]]\nkind = 'failover'\nhow = 'split'\ncut_after = ['20ms', '50ms']";
    for injection in injections(split, &design(1, true)) {
        let When::Point { after, .. } = injection.when else { panic!("{injection:?}") };
        assert!((Duration::from_millis(20)..=Duration::from_millis(50)).contains(&after), "{after:?}");
    }
}

#[test]
fn a_client_is_cut_off_from_all_servers_at_one_site() {
    let design = design(3, false);
    let plan = plan(&scenario("[[fault]]\nkind = 'pause'"), &design, 1);
    let hosts = [("client-1", Role::Client), ("node-1", Role::Leader), ("node-2", Role::Leader)];
    let hosts = hosts.map(|(name, role)| HostInfo::new(name, role));
    let stage = Stage::new(&design, &plan, Duration::from_secs(3), &hosts);
    let sites =
        at_site_named("cut-off").unwrap().sites(&stage, std::slice::from_ref(point(&plan.injections[0])));
    let [site] = &sites[..] else { panic!("{sites:?}") };
    let Action::Cut { to, both: true, .. } = &site.action else { panic!("{site:?}") };
    assert_eq!(self::hosts(to), ["node-1", "node-2"]);
}

#[test]
fn the_clocks_of_all_replicas_may_be_moved_alone() {
    let found =
        injections("replicas = 2\n[[fault]]\nkind = 'clock-step'\nwho = 'replicas'", &design(1, true));
    assert!(found.iter().all(|step| hosts(&step.target) == ["replica-1-1", "replica-1-2"]));
}

#[test]
fn a_restart_hits_as_many_stores_as_asked() {
    let restart = scenario("[[fault]]\nkind = 'node-restart'\nforgetting = 3");
    assert_eq!(plan(&restart, &design(5, false), 1).injections.len(), 3);
}

/// Stores with a pooler before each.
struct Pooled;

impl StoreSpec for Pooled {
    fn name(&self) -> &'static str {
        "made-up"
    }

    fn members(&self, topology: Topology, _: &Settings) -> Vec<Member> {
        let of = |name: &'static str, role| {
            (1..=topology.stores).map(move |store| Member::new(format!("{name}-{store}"), store, role))
        };
        of("node", Role::Leader).chain(of("pooler", Role::Proxy)).collect()
    }

    fn port(&self, _: Role) -> u16 {
        1
    }
}

impl SimulatedStore for Pooled {
    fn serve(&self, _: ServerContext) -> BoxFuture<'static, ()> {
        Box::pin(async {})
    }
}

fn pooled(stores: u32) -> Design {
    let topology = Topology { stores, replicated: false };
    Design::new("pooled", |_| async { Err(LockError::new("never made")) }).on_stores(topology, Pooled)
}

#[test]
fn a_service_is_hit_and_the_client_that_works_is_only_cut_off_from_it() {
    let hit = |how: &str| injections(&format!("[[fault]]\nkind = 'service'\nhow = '{how}'"), &pooled(2));
    for how in ["pause", "crash", "cut-client", "cut-store"] {
        let found = hit(how);
        assert!(found.len() >= 400, "{how}: {}", found.len());
        assert!(found.iter().all(|one| hosts(&one.target) == ["pooler-1", "pooler-2"]), "{how}");
        assert!(found.iter().all(|one| point(one).phase == Phase::Work), "{how}");
    }
    assert!(injections("[[fault]]\nkind = 'service'", &design(1, true)).is_empty());
}

#[test]
fn a_restart_of_poolers_hits_no_store() {
    let restart = "[[fault]]\nkind = 'node-restart'\nrestarts = 'poolers'\nforgetting = 2\nheld = 1";
    let pooled = pooled(2);
    let found = injections(restart, &pooled);
    let targets: BTreeSet<Vec<String>> = found.iter().map(|crash| hosts(&crash.target).to_vec()).collect();
    assert_eq!(targets, BTreeSet::from([vec!["pooler-1".to_owned()], vec!["pooler-2".to_owned()]]));
    assert!(plan(&scenario(restart), &design(2, false), 1).injections.is_empty());
}

#[test]
fn without_a_probe_a_fault_that_needs_one_schedules_nothing() {
    let scenario = scenario("[[fault]]\nkind = 'pause'");
    assert!(scenario.needs_probe_run());
    assert_eq!(
        scenario.plan(&design(1, false), Seed(1), None),
        scenario.fault_free_plan(&design(1, false), Seed(1))
    );
}

#[test]
fn one_fault_more_leaves_the_draws_of_the_others_alone() {
    let one = scenario("[[fault]]\nkind = 'pause'\ntimes = [1, 3]");
    let two = scenario("[[fault]]\nkind = 'delay'\n[[fault]]\nkind = 'pause'\ntimes = [1, 3]");
    for seed in 0..50 {
        let alone = plan(&one, &design(3, false), seed).injections;
        let mut mixed = plan(&two, &design(3, false), seed).injections;
        mixed.retain(|injection| injection.fault == "pause");
        assert_eq!(alone, mixed);
    }
}

#[test]
fn a_fault_says_why_it_does_not_apply() {
    let why =
        |faults: &str, stores, replicated| scenario(faults).adapt(&design(stores, replicated)).unwrap_err();
    assert!(why("[[fault]]\nkind = 'failover'", 5, false).contains("replicated store"));
    assert!(why("[[fault]]\nkind = 'node-restart'", 0, false).contains("has none"));
    assert!(why("[[fault]]\nkind = 'delay'\nlinks = 'lock'", 0, false).contains("has none"));
    assert!(why("[[fault]]\nkind = 'clock-step'\nheld = 4", 3, false).contains("`held` is 4"));
    assert!(why("[[fault]]\nkind = 'partition'\nservers = 'minority'", 1, false).contains("no minority"));
    assert!(why("store = 'replicated'", 5, false).contains("5 independent ones"));
    let waiting = "[[fault]]\nkind = 'pause'\nphase = 'acquire'\nnth = 2";
    assert!(why(waiting, 0, false).contains("asks a server for a lock again"));
    assert!(scenario("[[fault]]\nkind = 'pause'\nphase = 'acquire'").adapt(&design(0, false)).is_ok());
    let renewal = scenario("[[fault]]\nkind = 'lost-reply'\nlinks = 'lock'\nphase = 'work'");
    let fixed = design(1, false);
    assert!(renewal.adapt(&fixed).unwrap_err().contains("renewal"));
    assert!(renewal.adapt(&fixed.clone().renewing()).is_ok());
    let by_service = Design { renewed_by: RenewedBy::Service, ..fixed.clone() };
    assert!(renewal.adapt(&by_service).unwrap_err().contains("a service renews"));
    let cut = scenario("[[fault]]\nkind = 'partition'\nlinks = 'lock'\nphase = 'work'");
    assert!(cut.adapt(&fixed).is_ok(), "a cut reaches the release");
    let mixed = scenario("[[fault]]\nkind = 'failover'\n[[fault]]\nkind = 'pause'");
    assert!(mixed.adapt(&design(5, false)).is_ok());
}

#[test]
fn a_fault_that_is_kept_to_some_servers_hits_only_where_one_of_them_is_the_peer() {
    let hit = |peer: &str| {
        let found = injections(&format!("[[fault]]\nkind = 'pause'\n{peer}"), &design(5, false));
        found.iter().map(|pause| point(pause).peer.to_string()).collect::<BTreeSet<_>>()
    };
    assert_eq!(hit("peer = 1"), ["node-1".to_owned()].into());
    assert_eq!(hit("peer = 0"), [RESOURCE.to_owned()].into());
    assert!(hit("").contains(""), "everywhere, and so where nobody is talked to");
}

#[test]
fn a_call_is_cancelled_before_it_sends_anything_too() {
    let found = injections("[[fault]]\nkind = 'cancel'\nphase = 'release'", &design(1, false));
    let hit: BTreeSet<(Access, Edge)> =
        found.iter().map(|cancel| (point(cancel).access, point(cancel).edge)).collect();
    assert!(hit.contains(&(Access::Enter, Edge::Before)), "{hit:?}");
    assert!(hit.contains(&(Access::Write, Edge::Before)), "{hit:?}");
    assert!(hit.contains(&(Access::Read, Edge::After)), "{hit:?}");
}

#[test]
fn a_fault_in_the_list_is_drawn_placed_at_points_and_asked_for_in_a_line() {
    let scenario = scenario("[[fault]]\nkind = 'made-up'\nfor = '2s'");
    let design = design(1, false);
    let plan = plan(&scenario, &design, 1);
    let actions: Vec<&Action> = plan.injections.iter().map(|injection| &injection.action).collect();
    assert_eq!(
        actions,
        [&Action::StepClock { by_ns: 1_000_000 }, &Action::Pause { lasts: Duration::from_secs(2) }]
    );
    let placed = at_site_named("made-up").unwrap();
    let client = HostInfo::new("client-1", Role::Client);
    let stage = Stage::new(&design, &plan, Duration::from_secs(3), &[client]);
    let When::Point { point, .. } = &plan.injections[0].when else { panic!("it is drawn from points") };
    let injections = placed.sites(&stage, std::slice::from_ref(point));
    assert_eq!(injections.len(), 2);
    assert_eq!(injections[1].action, Action::Pause { lasts: Duration::from_secs(3) });
    let asked = parse("made-up node-1 at 1s for 2s", &["node-1"]).unwrap();
    assert_eq!(asked[0].action, Action::Pause { lasts: Duration::from_secs(2) });
}
