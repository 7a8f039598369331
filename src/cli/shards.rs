//! The shard of a campaign that this process makes: as the option says, or as the environment of a parallel job says.

use picklock_campaign::campaign::shard::Shard;

/// The variables in which parallel jobs find their number: the variable of the number, what the first job has there, the variable
/// of how many there are, and whose they are.
const ENVIRONMENTS: [(&str, First, &str, &str); 6] = [
    (
        "PICKLOCK_SHARD_INDEX",
        First::Is(0),
        "PICKLOCK_SHARDS",
        "your own, as from GitHub's strategy.job-index and job-total",
    ),
    ("CI_NODE_INDEX", First::Is(1), "CI_NODE_TOTAL", "GitLab"),
    ("BUILDKITE_PARALLEL_JOB", First::Is(0), "BUILDKITE_PARALLEL_JOB_COUNT", "Buildkite"),
    ("CIRCLE_NODE_INDEX", First::Is(0), "CIRCLE_NODE_TOTAL", "CircleCI"),
    ("SLURM_ARRAY_TASK_ID", First::IsIn("SLURM_ARRAY_TASK_MIN"), "SLURM_ARRAY_TASK_COUNT", "Slurm arrays"),
    ("JOB_COMPLETION_INDEX", First::Is(0), "PICKLOCK_SHARDS", "Indexed Jobs of Kubernetes"),
];

/// The number of the first job.
enum First {
    Is(u64),
    /// It is in another variable.
    IsIn(&'static str),
}

/// `I/N`, or `auto`: from the environment.
pub(super) fn parse(text: &str) -> Result<Shard, String> {
    if text == "auto" { of_environment(|name| std::env::var(name).ok()) } else { text.parse() }
}

fn of_environment(variable: impl Fn(&str) -> Option<String>) -> Result<Shard, String> {
    let number = |name: &str| {
        let parse =
            |text: String| text.parse::<u64>().map_err(|_| format!("{name} is `{text}`, which is no number"));
        variable(name).map(parse).transpose()
    };
    for (index, first, total, _) in &ENVIRONMENTS {
        let Some(at) = number(index)? else { continue };
        let of = number(total)?
            .ok_or_else(|| format!("{index} is set and {total} is not: set it to the number of jobs"))?;
        let first = match first {
            First::Is(first) => *first,
            First::IsIn(name) => number(name)?.unwrap_or(0),
        };
        let counted = at.checked_sub(first).and_then(|before| before.checked_add(1));
        let counted = counted.ok_or_else(|| format!("{index} is {at}, and jobs are counted from {first}"))?;
        return Shard::new(counted, of);
    }
    let known: Vec<String> = ENVIRONMENTS
        .iter()
        .map(|(index, _, total, whose)| format!("{index} and {total} ({whose})"))
        .collect();
    Err(format!("no variable says which shard this is: there are none of {}", known.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(set: &[(&str, &str)]) -> Result<String, String> {
        let variable =
            |name: &str| set.iter().find(|(other, _)| *other == name).map(|(_, value)| (*value).to_owned());
        of_environment(variable).map(|shard| shard.to_string())
    }

    #[test]
    fn parallel_jobs_know_their_shard() {
        for (set, shard) in [
            (&[("CI_NODE_INDEX", "3"), ("CI_NODE_TOTAL", "8")][..], "3/8"),
            (&[("BUILDKITE_PARALLEL_JOB", "0"), ("BUILDKITE_PARALLEL_JOB_COUNT", "2")], "1/2"),
            (
                &[
                    ("SLURM_ARRAY_TASK_ID", "7"),
                    ("SLURM_ARRAY_TASK_MIN", "5"),
                    ("SLURM_ARRAY_TASK_COUNT", "4"),
                ],
                "3/4",
            ),
            (&[("JOB_COMPLETION_INDEX", "4"), ("PICKLOCK_SHARDS", "5")], "5/5"),
            (&[("PICKLOCK_SHARD_INDEX", "1"), ("PICKLOCK_SHARDS", "5")], "2/5"),
        ] {
            assert_eq!(with(set), Ok(shard.to_owned()));
        }
    }

    #[test]
    fn what_is_missing_or_no_number_is_named() {
        for (set, because) in [
            (&[][..], "no variable says which shard this is"),
            (&[("JOB_COMPLETION_INDEX", "4")], "PICKLOCK_SHARDS is not: set it to the number of jobs"),
            (&[("CI_NODE_INDEX", "x"), ("CI_NODE_TOTAL", "8")], "CI_NODE_INDEX is `x`, which is no number"),
            (&[("CI_NODE_INDEX", "9"), ("CI_NODE_TOTAL", "8")], "there is no shard 9 of 8"),
            (&[("CI_NODE_INDEX", "0"), ("CI_NODE_TOTAL", "8")], "jobs are counted from 1"),
        ] {
            let error = with(set).unwrap_err();
            assert!(error.contains(because), "{error}");
        }
    }
}
