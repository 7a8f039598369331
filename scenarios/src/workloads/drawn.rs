//! The plans of clients that contend, whatever they do in their sections.
//!
//! Every choice of a section is an addressed draw, a function of the seed, the client and the section, so that one
//! client or section more or less leaves all others as they were.

use std::time::Duration;

use picklock_model::ids::Key;
use picklock_model::plan::{ClientPlan, Injection, Plan, SectionPlan, When};
use picklock_model::seed::{Seed, scale};

use super::shape::{SHAPE, Shape, span};
use picklock_sim::param::{Args, Count, HOUR, Param, Spans, SpansOr, Word};
use picklock_sim::params;

const CLIENTS: Param<Count> =
    Param { name: "clients", domain: Count(1, 1_000), default: "3", doc: "how many clients" };

pub(crate) const KEYS: Param<Count> =
    Param { name: "keys", domain: Count(1, 1_000), default: "1", doc: "how many keys; a section draws one" };

pub(crate) const ASSIGN: Param<Word> = Param {
    name: "assign",
    domain: Word(&["drawn", "own"]),
    default: "drawn",
    doc: "own: a client's sections all use its own key, the next of the keys for each client",
};

const SECTIONS: Param<Count> =
    Param { name: "sections", domain: Count(1, 1_000), default: "2", doc: "sections of each task" };

pub(crate) const TASKS: Param<Count> = Param {
    name: "tasks",
    domain: Count(1, 32),
    default: "1",
    doc: "how many tasks each client has; they share its lock object, and its connection",
};

pub(crate) const SHARED: Param<Count> = Param {
    name: "shared",
    domain: Count(0, 100),
    default: "0",
    doc: "how many sections of a hundred only read, and ask for the lock as readers do, background ones too; with 100 the last client does as well",
};

const THINK: Param<Spans> = Param {
    name: "think",
    domain: Spans::UP_TO_HOUR,
    default: "0ms..50ms",
    doc: "how long a client waits before it asks for the lock",
};

pub(crate) const WORK: Param<Spans> = Param {
    name: "work",
    domain: Spans::UP_TO_HOUR,
    default: "20ms..200ms",
    doc: "how long a section works between reading and writing",
};

const HEAD_START: Param<Spans> = Param {
    name: "head_start",
    domain: Spans::UP_TO_HOUR,
    default: "0ms",
    doc: "client-1 asks at once, the others this much later than they would; 0: no head start",
};

pub(crate) const FIRST_WORK: Param<SpansOr> = Param {
    name: "first_work",
    domain: SpansOr { min: Duration::ZERO, max: HOUR, or: "work" },
    default: "work",
    doc: "how long client-1's first section works; `work`: as all others",
};

pub(crate) const BACKGROUND: Param<Count> = Param {
    name: "background",
    domain: Count(0, 100),
    default: "4",
    doc: "sections that each client may add while a fault lasts, so that somebody wants the lock when it ends",
};

/// The parameters of clients that contend.
pub(super) const PARAMS: &[Param] = params![
    CLIENTS, KEYS, ASSIGN, SECTIONS, TASKS, SHARED, THINK, WORK, SHAPE, HEAD_START, FIRST_WORK, BACKGROUND,
];

/// Where there are faults: the sections of clients that are done and ask again in the background. They ask for what the
/// first fault hits, and work for a good part of a lease, so that few of them outlast a fault.
pub fn add_background(args: &Args, plan: &mut Plan) {
    let Some(key) = plan.injections.first().and_then(|first| hit(plan, first)) else { return };
    let (seed, ttl, count) = (plan.seed, plan.world.ttl, args.get(BACKGROUND));
    for (client, done) in (1..).zip(&mut plan.clients) {
        let last = done.sections.last().map_or(0, |section| section.ordinal);
        let section = |nth: u64| {
            let ordinal = u64::from(last) + nth;
            let drawn = |what: Choice| seed.at([WORKLOAD, what as u64, client, ordinal]);
            SectionPlan {
                shared: scale(drawn(Choice::Shared), 100) < args.get(SHARED),
                ..SectionPlan::new(
                    ordinal as u32,
                    key.clone(),
                    span(drawn(Choice::Think), (ttl / 100, ttl / 25)),
                    span(drawn(Choice::Work), (ttl / 5, ttl / 2)),
                )
            }
        };
        done.background = (1..=count).map(section).collect();
    }
}

/// The key that the section hit asks for; the first of all where no section is named.
fn hit(plan: &Plan, injection: &Injection) -> Option<Key> {
    let named = match &injection.when {
        When::Point { point, .. } => plan
            .clients
            .iter()
            .filter(|client| *client.name == *point.host)
            .flat_map(|client| &client.sections)
            .find(|section| section.ordinal == point.section),
        When::At { .. } | When::With { .. } => None,
    };
    let section = named.or_else(|| plan.clients.first()?.sections.first())?;
    Some(section.key.clone())
}

/// The clients and their sections.
pub(super) fn draw(args: &Args, ttl: Duration, seed: Seed) -> Vec<ClientPlan> {
    let range = |param: Param<Spans>| args.get(param).resolve(ttl);
    let (think, work, head_start) = (range(THINK), range(WORK), range(HEAD_START));
    let first_work = args.get(FIRST_WORK).map_or(work, |range| range.resolve(ttl));
    let shape = Shape::of(args);
    let own = args.get(ASSIGN) == "own";
    let section = |client: u64, ordinal: u64| {
        let drawn = |what: Choice| seed.at([WORKLOAD, what as u64, client, ordinal]);
        let first = ordinal == 1;
        let mut before = span(drawn(Choice::Think), think);
        if first && head_start.1 > Duration::ZERO {
            before = if client == 1 {
                Duration::ZERO
            } else {
                before + span(drawn(Choice::HeadStart), head_start)
            };
        }
        let key = if own {
            1 + (client - 1) % args.get(KEYS)
        } else {
            1 + scale(drawn(Choice::Key), args.get(KEYS))
        };
        SectionPlan {
            // Each of the two is at most an hour, and a plan allows no more than that for both.
            think: before.min(HOUR),
            work: shape.draw(drawn(Choice::Work), if first && client == 1 { first_work } else { work }),
            task: ((ordinal - 1) / args.get(SECTIONS)) as u32,
            shared: scale(drawn(Choice::Shared), 100) < args.get(SHARED),
            ..SectionPlan::new(
                ordinal as u32,
                Key::new(&format!("lock:{key}")),
                Duration::ZERO,
                Duration::ZERO,
            )
        }
    };
    (1..=args.get(CLIENTS))
        .map(|client| {
            let count = args.get(TASKS) * args.get(SECTIONS);
            let sections = (1..=count).map(|ordinal| section(client, ordinal)).collect();
            ClientPlan::new(format!("client-{client}"), sections)
        })
        .collect()
}

/// The first coordinate of the workload's draws; others use the same seed with other coordinates.
const WORKLOAD: u64 = u64::from_be_bytes(*b"workload");

#[derive(Clone, Copy)]
enum Choice {
    Think,
    Work,
    Key,
    HeadStart,
    Shared,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fewer_clients_and_sections_leave_the_others_as_they_were() {
        let drawn = |clients: &str, sections: &str| {
            let text =
                format!("summary = 's'\n[contend]\nclients = {clients}\nsections = {sections}\nkeys = 5");
            let scenario = crate::scenario::Scenario::parse("s.toml", &text, &[]).unwrap();
            scenario.fault_free_plan(&crate::faults::tests::design(1, false), Seed(7)).clients
        };
        let (many, few) = (drawn("5", "4"), drawn("3", "2"));
        for (large, small) in many.iter().zip(&few) {
            assert_eq!(large.name, small.name);
            assert_eq!(large.sections[..2], small.sections[..]);
        }
    }

    #[test]
    fn background_sections_share_as_often_as_the_others_of_the_plan() {
        let sharing = |shared: &str| {
            let text = format!(
                "summary = 's'\n[contend]\nshared = {shared}\nrivals = 50\n[[fault]]\nkind = 'pause'"
            );
            let scenario = crate::scenario::Scenario::parse("s.toml", &text, &[]).unwrap();
            let design = crate::faults::tests::design(1, false);
            let probe = crate::faults::tests::probe(&design, &scenario.fault_free_plan(&design, Seed(7)));
            let plan = scenario.plan(&design, Seed(7), Some(&probe));
            let background = plan.clients.iter().flat_map(|client| &client.background);
            background.map(|section| section.shared).collect::<Vec<_>>()
        };
        assert_eq!(sharing("0"), [false; 150]);
        assert_eq!(sharing("100"), [true; 150]);
        let some = sharing("30").into_iter().filter(|shared| *shared).count();
        assert!((20..70).contains(&some), "{some} of 150");
    }
}
