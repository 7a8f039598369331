//! `picklock judge`: a history that was recorded elsewhere.

use std::fs::File;
use std::io::BufReader;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use picklock_judge::recorded;
use picklock_reports::judged;

use super::args::{ColourOptions, time};
use super::exit::{Exit, Failure};
use super::{format, screen};

#[derive(Args)]
#[command(after_help = "\
Each line is one event: a process calls the lock, or its call returns. The time is that of the host's clock. \
docs/guide/judge.md describes all fields.

  {\"time_ns\":1000,\"host\":\"web-1\",\"process\":7,\"type\":\"invoke\",\"f\":\"acquire\",\"key\":\"stock\"}

If the order of two events depends on the error of the clocks, the verdict on them is `unknown`.

Exit codes:
  0  no violation, and something is certain
  1  a violation
  2  the file is not a history
  3  nothing is certain

Example:
  picklock judge history.jsonl --uncertainty 5ms")]
pub(crate) struct JudgeArgs {
    /// JSON lines, or EDN as Jepsen writes it
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// How far the clocks may be off, either way, of hosts that do not say so themselves
    #[arg(long, value_name = "TIME", value_parser = time)]
    uncertainty: Option<Duration>,
    /// text or json
    #[arg(long, default_value = "text")]
    format: String,
    #[command(flatten)]
    colours: ColourOptions,
}

pub(crate) fn judge(args: &JudgeArgs) -> Result<Exit, Failure> {
    let format = judged::ALL.iter().find(|format| format.name == args.format).ok_or_else(|| {
        let names: Vec<&str> = judged::ALL.iter().map(|format| format.name).collect();
        format::unknown(&args.format, " for a judgement", &names)
    })?;
    let name = args.file.display();
    let input = |error: &dyn std::fmt::Display| Failure::Input(format!("{name}: cannot be read: {error}"));
    let file = File::open(&args.file).map_err(|error| input(&error))?;
    // A line stands after the name at once, as editors expect it.
    let wrong = |malformed: recorded::Malformed| match malformed.line {
        0 => Failure::Input(format!("{name}: {malformed}")),
        _ => Failure::Input(format!("{name}:{malformed}")),
    };
    let recording = recorded::read(BufReader::with_capacity(1 << 20, file)).map_err(wrong)?;
    let judgement = recorded::judge(recording, args.uncertainty).map_err(wrong)?;
    screen::print(&(format.render)(&judgement, &screen::style(args.colours)).map_err(Failure::internal)?)?;
    Ok(if judgement.is_violated() {
        Exit::Violation
    } else if judgement.is_clean() {
        Exit::Expected
    } else {
        Exit::Inconclusive
    })
}
