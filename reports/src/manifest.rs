//! The manifest of a saved run: its command, how far it came, and its verdict in a line, without reading its reports.
//!
//! It is a small file in the folder of the run, so that an index over a thousand runs costs a thousand small files. It has no
//! time and no place: the same runs make the same bytes.

use std::path::{Path, PathBuf};

use picklock_campaign::summary::Summary;
use serde::{Deserialize, Serialize};

use crate::compare::Comparison;
use crate::compare::ranking::{Protects, ranking, title};
use crate::formats::brief;
use crate::page::numbers::plural;

/// The version of the file's form.
pub const FORM: u32 = 1;
/// The name of the file in the folder of a run.
pub const FILE: &str = "manifest.json";

/// The former name of the file, which older runs have.
pub const FORMER_FILE: &str = "kept.json";

/// The manifest in the folder of a run: under its former name where it is there under that name alone.
#[must_use]
pub fn path_in(folder: &Path) -> PathBuf {
    let (path, former) = (folder.join(FILE), folder.join(FORMER_FILE));
    if former.is_file() && !path.is_file() { former } else { path }
}

/// The manifest of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// The version of the form.
    #[serde(alias = "kept")]
    pub manifest: u32,
    /// The command that makes its results again.
    pub command: String,
    /// Which part of the runs it made, as in `2/8`; `None` if all.
    pub shard: Option<String>,
    /// How far it came.
    pub state: State,
    /// Its results; `None` until it has come to its end.
    pub results: Option<Results>,
}

/// How far a run came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// It was begun, and is at work or was killed.
    Begun,
    /// It was interrupted, and has reported the runs until then.
    Interrupted,
    /// It came to its end.
    Ended,
}

/// The results of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Results {
    /// The exit code.
    pub exit: u8,
    /// The verdict in a line.
    pub verdict: String,
    /// The designs with something that makes it fail; of a comparison, those that harmed the data.
    pub failing: Vec<String>,
    /// How many repro files it keeps.
    #[serde(alias = "capsules")]
    pub repros: u64,
    /// The bytes of its files, the journal apart.
    pub bytes: u64,
    /// The names of its files, the journal apart; that of a directory ends in a stroke.
    pub files: Vec<String>,
}

impl Manifest {
    /// Of a run that begins.
    #[must_use]
    pub fn begun(command: &str, shard: Option<String>) -> Manifest {
        Manifest { manifest: FORM, command: command.to_owned(), shard, state: State::Begun, results: None }
    }

    /// Reads the file.
    ///
    /// # Errors
    /// When it is none, or of a form that is not known.
    pub fn from_text(text: &str) -> Result<Manifest, String> {
        let manifest: Manifest = serde_json::from_str(text).map_err(|error| error.to_string())?;
        if manifest.manifest == FORM {
            Ok(manifest)
        } else {
            Err(format!("its form is {}; this picklock reads form {FORM}", manifest.manifest))
        }
    }

    /// The file.
    ///
    /// # Errors
    /// When it does not go into JSON.
    pub fn to_text(&self) -> Result<String, serde_json::Error> {
        Ok(serde_json::to_string_pretty(self)? + "\n")
    }
}

impl Results {
    /// Of a campaign. How it ended and what files there are is filled in by whoever keeps it.
    #[must_use]
    pub fn of(summary: &Summary) -> Results {
        let (verdict, failing) = (brief::line(summary), brief::failing(summary));
        Results { verdict, failing, ..Results::default() }
    }

    /// Of a comparison.
    #[must_use]
    pub fn of_comparison(comparison: &Comparison) -> Results {
        let summary = &comparison.summary;
        let partial = if summary.partial { "(partial: interrupted) " } else { "" };
        let verdict = format!("{partial}{}", title(ranking(summary).iter()));
        Results { verdict, failing: harmed(summary), ..Results::default() }
    }

    /// The result of a shard, whose violations are reported when all shards are there.
    #[must_use]
    pub fn of_shard(runs: u64, violated: u64) -> Results {
        let verdict = format!("{runs} {}, a violation in {violated} of its cells", plural(runs, "run"));
        Results { verdict, ..Results::default() }
    }
}

fn harmed(summary: &Summary) -> Vec<String> {
    let harming = ranking(summary).into_iter().filter(|ranked| ranked.protects == Protects::No);
    harming.map(|ranked| ranked.design.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back_and_anything_else_is_refused() {
        let results = Results { exit: 1, files: vec!["repro/".into()], ..Results::default() };
        let manifest = Manifest {
            state: State::Ended,
            results: Some(results),
            ..Manifest::begun("picklock run", Some("2/8".into()))
        };
        let text = manifest.to_text().unwrap();
        assert_eq!(Manifest::from_text(&text), Ok(manifest));
        for (from, to, because) in [
            ("\"manifest\": 1", "\"manifest\": 7", "its form is 7; this picklock reads form 1"),
            ("\"ended\"", "\"over\"", "unknown variant `over`"),
            ("\"exit\": 1", "\"exit\": 999", "expected u8"),
            ("\"shard\"", "\"sherd\"", "unknown field `sherd`"),
        ] {
            let error = Manifest::from_text(&text.replacen(from, to, 1)).unwrap_err();
            assert!(error.contains(because), "{error}");
        }
    }
}
