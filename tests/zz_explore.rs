//! x
use picklock_sim::capsule::Capsule;
use picklock_sim::engine::Engine;
use picklock_scenarios::check;
use serde_json::{Value, json};
#[path = "support/cells.rs"]
mod cells;
use cells::*;
fn put(capsule: &Capsule, path: &str, value: Value) -> Result<Capsule, serde_json::Error> {
    let mut v = serde_json::to_value(capsule).unwrap();
    *v.pointer_mut(path).unwrap_or_else(|| panic!("{path}")) = value;
    serde_json::from_value(v)
}
#[test]
fn explore() {
    for name in ["single", "redlock{nodes=3}", "replicated", "watchdog", "oracle", "no-lock"] {
    let cell = Cell::of(&design(name), scenario("calm")).unwrap();
    let run = cell.run(Engine::Event, 1);
    let cap = picklock_scenarios::tell::capsule(&cell.design, "calm", Engine::Event, &run);
    let at = |ns: u64| json!({"at": {"at_ns": ns}});
    let point = |after: u64| json!({"point": {"point": {"host":"client-1","section":1,"phase":"work","access":"enter","nth":0,"edge":"before"}, "after_ns": after}});
    let all = json!({"hosts": ["resource","node-1","node-2","client-1","client-2","nobody","","node-1"]});
    let mut levers = Vec::new();
    for n in [0u64, 1, 1_000_000, 1<<63, u64::MAX] {
        for kind in ["pause", "suspend", "stall"] { levers.push(json!({kind: {"lasts_ns": n}})); }
        for p in [true, false] { levers.push(json!({"crash": {"power_loss": p, "restart_after_ns": n}})); }
        for both in [true, false] { levers.push(json!({"cut": {"to": all, "both": both, "lasts_ns": n}})); }
        for m in [0u64, 1, 4294967295] { levers.push(json!({"delay": {"to": all, "by_ns": n, "lasts_ns": n, "messages": m}})); }
        levers.push(json!({"delay": {"to": all, "by_ns": n, "lasts_ns": u64::MAX}}));
        levers.push(json!({"delay": {"to": all, "by_ns": 1, "lasts_ns": n}}));
    }
    levers.push(json!({"crash": {"power_loss": true}}));
    for n in [i64::MIN, -1, 0, 1, i64::MAX] {
        levers.push(json!({"step-clock": {"by_ns": n}}));
        levers.push(json!({"set-drift": {"ppm": n}}));
    }
    levers.push(json!({"drop-connections": {"to": all}}));
    levers.push(json!({"lose-reply": {"from": all}}));
    for lever in levers {
        for when in [at(0), at(300_000_000), at(u64::MAX), point(0), point(u64::MAX), point(1)] {
            for target in [all.clone(), json!("holder"), json!("primary"), json!({"hosts": []}), json!({"hosts":["client-1"]}), json!({"hosts":["node-1"]}), json!({"hosts":["resource"]})] {
                let inj = json!([{"fault": "x", "when": when, "target": target, "lever": lever}, {"fault": "x", "when": when, "target": target, "lever": lever}]);
                let c = put(&cap, "/plan/injections", inj).unwrap();
                c.plan.validate().unwrap();
                let t = std::time::Instant::now();
                let r = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| check::check(Engine::Event, &cell.design, c.plan.clone())));
                let dt = t.elapsed();
                let what = format!("{name} {lever} {when} {target}");
                match r { Err(e) => println!("XX PANIC {what} {:?}", e.downcast_ref::<String>()), Ok(Err(e)) => println!("XX ERR {what} {e}"), Ok(Ok(run)) => if dt.as_millis() > 500 { println!("XX SLOW {dt:?} {} {what}", run.trace.events.len()) } }
            }
        }
    }
    }
}
#[test]
fn explore_world() {
    for name in ["single", "redlock{nodes=3}", "replicated", "watchdog", "oracle", "no-lock", "redlock-fenced-quorum"] {
    let cell = Cell::of(&design(name), scenario("calm")).unwrap();
    let run = cell.run(Engine::Event, 1);
    let cap = picklock_scenarios::tell::capsule(&cell.design, "calm", Engine::Event, &run);
    let h = 3_600_000_000_000u64; let ms = 1_000_000u64;
    let cases: Vec<(&str, Value)> = vec![
        ("/plan/world/ttl_ns", json!(ms)), ("/plan/world/ttl_ns", json!(h)), ("/plan/world/ttl_ns", json!(ms+1)),
        ("/plan/world/wait_ns", json!(0)), ("/plan/world/wait_ns", json!(1)), ("/plan/world/wait_ns", json!(h)),
        ("/plan/world/horizon_ns", json!(ms)), ("/plan/world/horizon_ns", json!(h)),
        ("/plan/world/latency", json!({"min_ns": 1000, "max_ns": 1000})), ("/plan/world/latency", json!({"min_ns": 1000, "max_ns": h})), ("/plan/world/latency", json!({"min_ns": h, "max_ns": h})),
        ("/plan/world/tcp_timeout_ns", json!(ms)), ("/plan/world/down_after_ns", json!(ms)), ("/plan/world/down_after_ns", json!(h)),
        ("/plan/world/replicas", json!(0)), ("/plan/world/replicas", json!(9)),
        ("/plan/world/stock", json!(i64::MIN)), ("/plan/world/stock", json!(i64::MAX)),
        ("/plan/seed", json!(u64::MAX)), ("/plan/network_seed", json!(0)),
        ("/plan/clients", json!([])),
        ("/plan/clients/0/sections", json!([])),
        ("/plan/clients/0/name", json!("")), ("/plan/clients/0/name", json!("client-2")), ("/plan/clients/0/name", json!("resource")), ("/plan/clients/0/name", json!("node-1")), ("/plan/clients/0/name", json!("a b\n\u{1b}[31m{}é:1")), ("/plan/clients/0/name", json!("192.168.0.1")), ("/plan/clients/0/name", json!("x".repeat(100_000))),
        ("/plan/clients/0/sections/0/ordinal", json!(0)), ("/plan/clients/0/sections/0/ordinal", json!(2)), ("/plan/clients/0/sections/0/ordinal", json!(u32::MAX)),
        ("/plan/clients/0/sections/0/key", json!("")), ("/plan/clients/0/sections/0/key", json!("\u{0}\r\n$5{x}")), ("/plan/clients/0/sections/0/key", json!("x".repeat(100_000))),
        ("/plan/clients/0/sections/0/think_ns", json!(h)), ("/plan/clients/0/sections/0/work_ns", json!(h)),
    ];
    for engine in [Engine::Event, Engine::TURMOIL] {
    for (path, value) in &cases {
        if engine == Engine::TURMOIL && (path.ends_with("horizon_ns")) { continue }
        let mut what = format!("{engine} {name} {path} {value}"); what.truncate(150);
        let c = match put(&cap, path, value.clone()) { Ok(c) => c, Err(e) => { println!("XX form {what}: {e}"); continue } };
        if let Err(e) = c.plan.validate() { println!("XX refused {what}: {e}"); continue }
        let t = std::time::Instant::now();
        let r = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| check::check(engine, &cell.design, c.plan.clone())));
        let dt = t.elapsed();
        match r { Err(e) => println!("XX PANIC {what} {:?}", e.downcast_ref::<String>()), Ok(Err(e)) => println!("XX ERR {what} {e}"), Ok(Ok(run)) => if dt.as_millis() > 500 { println!("XX SLOW {dt:?} {} {what}", run.trace.events.len()) } }
    }
    }
    }
}
