//! Judges a history.

use std::time::Duration;

use picklock_model::trace::Role;

use super::malformed::{Malformed, clipped};
use super::recording::Recording;
use super::verdict::{Breach, Judgement, SHOWN, Verdict};
use super::{as_trace, exclusion, tokens};
use crate::history::History;
use crate::invariants::{ALL, Invariant, Recorded};
use crate::outcome::{Finding, Outcome};

/// Says what a history violates. `uncertainty` is how far the clocks of those hosts may be off that do not say so themselves.
///
/// # Errors
/// When something that the judgement would depend on is not known: how far a clock may be off, or how many stores must agree.
pub fn judge(mut recording: Recording, uncertainty: Option<Duration>) -> Result<Judgement, Malformed> {
    complete(&mut recording, uncertainty)?;
    let first = recording.hosts.iter().filter_map(|host| host.first).min().unwrap_or_default();
    let last = recording.hosts.iter().map(|host| host.last).max().unwrap_or_default();
    let grants = recording.sections.iter().filter(|section| section.granted.is_some()).count();
    let (lines, hosts, keys) = (recording.lines, recording.hosts.len(), recording.keys.len());
    let of_exclusion = exclusion::judge(&recording);
    let (trace, stated) = as_trace::of(&mut recording);
    let history = History::of(&trace);
    let breach = |finding: &Finding| Breach {
        text: finding.text.clone(),
        lines: finding.events.iter().map(|id| stated[id.0 as usize]).filter(|line| *line > 0).collect(),
        width: finding.width,
    };
    let mut verdicts = Vec::new();
    for invariant in ALL {
        let verdict = match invariant.recorded {
            Recorded::ByIntervals => of_exclusion.clone(),
            Recorded::ByTokens => tokens::judge(&recording, &history, breach),
            Recorded::OfResource(_) if !recording.has_resource() => {
                Verdict::NotApplicable("no resource noted anything".to_owned())
            }
            Recorded::AsInRuns(otherwise) | Recorded::OfResource(otherwise) => {
                as_it_is(invariant, &history, breach, otherwise)
            }
            Recorded::Never => continue,
        };
        verdicts.push((invariant.number, invariant.name, verdict));
    }
    let span = Duration::from_nanos(last.saturating_sub(first));
    Ok(Judgement { lines, hosts, keys, grants, span, verdicts })
}

/// The outcome of an invariant of runs, as a verdict.
fn as_it_is(
    invariant: &Invariant,
    history: &History<'_>,
    breach: impl Fn(&Finding) -> Breach,
    otherwise: &str,
) -> Verdict {
    match (invariant.check)(history) {
        Outcome::Holds => Verdict::Holds,
        Outcome::Violated(findings) => Verdict::Violated {
            count: findings.len(),
            breaches: findings.iter().take(SHOWN).map(breach).collect(),
        },
        Outcome::Undecided(why) | Outcome::NotAsked(why) => {
            Verdict::Inconclusive { why, perhaps: Vec::new() }
        }
        Outcome::NotApplicable => Verdict::NotApplicable(otherwise.to_owned()),
    }
}

fn complete(recording: &mut Recording, uncertainty: Option<Duration>) -> Result<(), Malformed> {
    let stores = recording.hosts.iter().filter(|host| host.role == Some(Role::Leader)).count();
    if stores > 1 && recording.settings.quorum.is_none() {
        return Err(Malformed::of(
            "quorum",
            format!(
                "there are {stores} stores, and nothing says how many must agree: begin the file with \
                 {{\"history\":1,\"quorum\":{}}}",
                stores / 2 + 1
            ),
        ));
    }
    // Readings of one clock are compared as they are.
    let alone = recording.hosts.iter().all(|host| host.clock == 0);
    let all = uncertainty.map(|uncertainty| u64::try_from(uncertainty.as_nanos()).unwrap_or(u64::MAX));
    for host in &mut recording.hosts {
        host.uncertainty = host.uncertainty.or(all).or(alone.then_some(0));
        if host.uncertainty.is_none() {
            let name = clipped(&host.name);
            return Err(Malformed::of(
                "uncertainty_ns",
                format!(
                    "nothing says how far the clock of `{name}` may be off: add a line \
                     {{\"host\":\"{name}\",\"type\":\"info\",\"f\":\"host\",\"uncertainty_ns\":5000000}} for 5 ms, or give \
                     --uncertainty for all; hosts that read one clock, as processes of one machine do, may say so: \
                     \"clock\":\"machine-1\""
                ),
            ));
        }
    }
    Ok(())
}
