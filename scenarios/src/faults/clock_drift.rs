//! F12, clocks that run fast or slow: each host of a drawn part gets a rate error of its own for the whole run.
//!
//! The default bound of 200 parts per million covers the quartz oscillators of real machines, uncalibrated; a lock
//! that allows for drift at all survives it. Temperature and ageing, which change the rate over time, are left out.

use picklock_model::clock::DRIFT_PPM_MAX;
use picklock_model::plan::{Action, Injection, Target, When};
use picklock_model::time::TrueTime;
use picklock_model::trace::Role;
use picklock_sim::store::Topology;

use super::draw::Draw;
use super::fault::{Fault, Hits};
use super::needs::needs_stores;
use super::params::{TIMES_AT_MOST_ONCE, any_section, no_time};
use super::served::Served;
use picklock_sim::param::{Args, Count, Counts, Param, Word};
use picklock_sim::params;

pub(super) const FAULT: Fault = Fault {
    name: "clock-drift",
    also: &["drift"],
    number: "F12",
    doc: "clocks of nodes and clients run fast or slow for the whole run",
    params: params![TIMES_AT_MOST_ONCE, WHO, PPM, SIZE, WAY, HOSTS],
    from_points: false,
    last_section: any_section,
    applies,
    schedule,
    at_sites: &[],
    own_action: None,
    hits: Hits::Hosts,
    lasts: no_time,
    served: &[Served {
        form: "drift HOST by PPM at TIME",
        read: |words| {
            let host = words.host()?;
            words.word("by")?;
            let ppm = words.next("parts per million")?;
            let number = ppm.parse().ok().filter(|ppm: &i64| ppm.abs() <= DRIFT_PPM_MAX);
            let number = number.ok_or_else(|| {
                format!("`{ppm}` is not a drift: whole parts per million, at most {DRIFT_PPM_MAX} either way")
            })?;
            Ok((host, Action::SetDrift { ppm: number }))
        },
    }],
};

const WHO: Param<Word> = Param {
    name: "who",
    domain: Word(&["all", "nodes", "clients"]),
    default: "all",
    doc: "whose clocks: any part of these hosts",
};

const PPM: Param<Count> = Param {
    name: "ppm",
    domain: Count(1, 500_000),
    default: "200",
    doc: "the largest error in parts per million, fast or slow",
};

const SIZE: Param<Word> = Param {
    name: "size",
    domain: Word(&["drawn", "exact"]),
    default: "drawn",
    doc: "exact: every clock is off by just so much",
};

const WAY: Param<Word> =
    Param { name: "way", domain: Word(&["random", "fast", "slow"]), default: "random", doc: "which way" };

const HOSTS: Param<Counts> = Param {
    name: "hosts",
    domain: Counts(1, 1_000),
    default: "1..1000",
    doc: "which of those hosts, by number, nodes first; given, all of these drift, and else a part that is drawn",
};

fn applies(args: &Args, topology: Topology) -> Result<(), String> {
    if args.get(WHO) == "nodes" { needs_stores(args, topology) } else { Ok(()) }
}

fn schedule(draw: &mut Draw<'_>) -> Vec<Injection> {
    let who = draw.get(WHO);
    let mut hosts = if who == "clients" { Vec::new() } else { nodes(draw) };
    if who != "nodes" {
        hosts.extend(draw.clients());
    }
    let most = draw.get(PPM);
    let (first, last) = draw.args().get(HOSTS);
    let all = hosts.len() as u64;
    let named: Vec<String> = (1..)
        .zip(hosts)
        .filter(|(number, _)| (first..=last).contains(number))
        .map(|(_, host)| host)
        .collect();
    let drifting = if (first, last.min(all)) == (1, all) { draw.any_part(named) } else { named };
    let (exact, way) = (draw.get(SIZE) == "exact", draw.get(WAY));
    drifting
        .into_iter()
        .map(|host| {
            let drawn = 1 + draw.rng().below(most) as i64;
            let size = if exact { most as i64 } else { drawn };
            let fast = draw.rng().percent(50);
            let ppm = match way {
                "fast" => size,
                "slow" => -size,
                _ if fast => size,
                _ => -size,
            };
            draw.inject(When::At { at_ns: TrueTime(0) }, Target::host(host), Action::SetDrift { ppm })
        })
        .collect()
}

fn nodes(draw: &Draw<'_>) -> Vec<String> {
    draw.servers(|role| matches!(role, Role::Leader | Role::Follower))
}
