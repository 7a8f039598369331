//! `picklock adapter`: a program to start from, in one of several languages.

use clap::Args;
use picklock_sim::text::nearest;

use super::exit::{Exit, Failure};
use super::screen;

#[derive(Args)]
#[command(after_help = "\
An adapter is a loop around a lock library: it reads lines such as `acquire lock:1 5000` and answers `granted`, `refused`,
`released` or `error TEXT`. docs/guide/programs.md says all of it.

Examples:
  picklock adapter
  picklock adapter python > lock.py
  picklock run --program 'python3 lock.py' --scenario pause --seeds 20")]
pub(crate) struct AdapterArgs {
    /// Which one; a list of them if absent
    name: Option<String>,
}

/// An adapter that comes with picklock.
struct Adapter {
    name: &'static str,
    doc: &'static str,
    text: &'static str,
}

const ALL: &[Adapter] = &[
    Adapter {
        name: "python",
        doc: "redis-py's Lock",
        text: include_str!("../../examples/adapters/redis_py.py"),
    },
    Adapter {
        name: "python-plain",
        doc: "Python without any library: what a client says to Redis",
        text: include_str!("../../examples/adapters/plain.py"),
    },
];

pub(crate) fn adapter(args: &AdapterArgs) -> Result<Exit, Failure> {
    let Some(name) = &args.name else {
        let lines: Vec<String> =
            ALL.iter().map(|adapter| format!("{:<14} {}\n", adapter.name, adapter.doc)).collect();
        screen::print(&lines.concat())?;
        return Ok(Exit::Expected);
    };
    let Some(adapter) = ALL.iter().find(|adapter| adapter.name == name) else {
        let names: Vec<&str> = ALL.iter().map(|adapter| adapter.name).collect();
        let near = nearest(name, names.iter().copied());
        let hint = near.map(|near| format!(" (did you mean `{near}`?)")).unwrap_or_default();
        return Err(Failure::Input(format!(
            "there is no adapter `{name}`{hint}; there are {}",
            names.join(", ")
        )));
    };
    screen::print(adapter.text)?;
    Ok(Exit::Expected)
}
