//! The bounds within which a run ends in reasonable time: a plan may come from a hostile file.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::time::Duration;

use super::action::Action;
use super::plan::{Injection, Plan};
use super::point::When;
use crate::clock::DRIFT_PPM_MAX;

/// The reason why a plan cannot be run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{field}` is {value}, and must be {must}")]
pub struct PlanError {
    /// The field, as the repro file spells it.
    pub field: Cow<'static, str>,
    /// Its value.
    pub value: String,
    /// The values that it may have.
    pub must: Cow<'static, str>,
}

impl PlanError {
    fn new(field: &'static str, value: String, must: &'static str) -> PlanError {
        PlanError { field: field.into(), value, must: must.into() }
    }
}

impl Plan {
    /// Checks that a run of this plan ends in reasonable time.
    ///
    /// # Errors
    /// When a field is out of its bounds.
    pub fn validate(&self) -> Result<(), PlanError> {
        let world = &self.world;
        span("ttl_ns", world.ttl, MILLISECOND, HOUR, "from 1 ms to 1 h")?;
        span("wait_ns", world.wait, Duration::ZERO, HOUR, "at most 1 h")?;
        span("horizon_ns", world.horizon, MILLISECOND, HOUR, "from 1 ms to 1 h")?;
        span("latency.min_ns", world.latency.min, MICROSECOND, HOUR, "from 1 us to 1 h")?;
        span("latency.max_ns", world.latency.max, world.latency.min, HOUR, "from the minimum to 1 h")?;
        span("tcp_timeout_ns", world.tcp_timeout, MILLISECOND, HOUR, "from 1 ms to 1 h")?;
        count("clients", self.clients.len(), 1_000, "at most 1000")?;
        count("injections", self.injections.len(), 10_000, "at most 10000")?;
        count("choices", self.choices.len(), 100_000, "at most 100000")?;
        let mut named = BTreeSet::new();
        if let Some(twice) = self.choices.iter().find(|choice| !named.insert((choice.kind, choice.ordinal))) {
            return Err(PlanError::new(
                "ordinal",
                twice.ordinal.to_string(),
                "named once for each kind of choice",
            ));
        }
        for (at, client) in self.clients.iter().enumerate() {
            let number = client.name.strip_prefix("client-").and_then(|number| number.parse::<u32>().ok());
            let earlier = self.clients[..at].iter().any(|other| other.name == client.name);
            if number.is_none_or(|number| client.name != format!("client-{number}")) || earlier {
                let value = client.name.chars().take(40).collect();
                return Err(PlanError::new("name", value, "client-1, client-2, ..., each once"));
            }
            let sections = client.sections.len() + client.background.len();
            count(
                "sections",
                sections,
                10_000,
                "at most 10000 for each client, with the background sections",
            )?;
            for section in client.sections.iter().chain(&client.background) {
                span("think_ns", section.think, Duration::ZERO, HOUR, "at most 1 h")?;
                span("work_ns", section.work, Duration::ZERO, HOUR, "at most 1 h")?;
            }
        }
        self.injections.iter().try_for_each(Injection::validate)
    }
}

impl Injection {
    fn validate(&self) -> Result<(), PlanError> {
        let bounded = |field, value| span(field, value, Duration::ZERO, HOUR, "at most 1 h");
        match &self.when {
            When::At { at_ns } => bounded("at_ns", Duration::from_nanos(at_ns.0))?,
            When::Point { after, .. } | When::With { after, .. } => bounded("after_ns", *after)?,
        }
        match &self.action {
            Action::Pause { lasts }
            | Action::Suspend { lasts }
            | Action::Stall { lasts }
            | Action::Cut { lasts, .. } => bounded("lasts_ns", *lasts),
            Action::Crash { restart_after, .. } => {
                bounded("restart_after_ns", restart_after.unwrap_or_default())
            }
            Action::Delay { by, lasts, .. } => bounded("by_ns", *by).and(bounded("lasts_ns", *lasts)),
            Action::SetDrift { ppm } if !(-DRIFT_PPM_MAX..=DRIFT_PPM_MAX).contains(ppm) => {
                Err(PlanError::new("ppm", ppm.to_string(), "from -500000 to 500000"))
            }
            Action::StepClock { .. }
            | Action::SetDrift { .. }
            | Action::DropConnections { .. }
            | Action::ForgetConnections { .. }
            | Action::Own { .. }
            | Action::LoseRequest { .. }
            | Action::Cancel
            | Action::LoseReply { .. } => Ok(()),
            #[cfg(feature = "made-up-action")]
            Action::MadeUp => Ok(()),
        }
    }
}

const MICROSECOND: Duration = Duration::from_micros(1);
const MILLISECOND: Duration = Duration::from_millis(1);
const HOUR: Duration = Duration::from_secs(3_600);

fn span(
    field: &'static str,
    span: Duration,
    min: Duration,
    max: Duration,
    must: &'static str,
) -> Result<(), PlanError> {
    if (min..=max).contains(&span) { Ok(()) } else { Err(PlanError::new(field, format!("{span:?}"), must)) }
}

fn count(field: &'static str, count: usize, max: usize, must: &'static str) -> Result<(), PlanError> {
    if count <= max { Ok(()) } else { Err(PlanError::new(field, count.to_string(), must)) }
}
