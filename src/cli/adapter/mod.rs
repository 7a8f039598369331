//! `picklock adapter`: a program to start from, in one of several languages.

mod list;

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use picklock_campaign::campaign::quoted;
use picklock_model::text::nearest;

use self::list::{ALL, Adapter};
use super::exit::{Exit, Failure};
use super::screen;

#[derive(Args)]
#[command(after_help = "\
An adapter is a loop around a lock library: it reads lines such as `acquire lock:1 5000` and answers `granted`, \
`refused`, `released` or `error TEXT`. docs/guide/programs.md describes all lines.

Examples:
  picklock adapter
  picklock adapter python > lock.py
  picklock adapter go-redsync --out lock         the adapter, go.mod and go.sum, and how they are built
  picklock run --program 'python3 lock.py' --scenario pause --seeds 20")]
pub(crate) struct AdapterArgs {
    /// Which one; a list of them if absent
    name: Option<String>,
    /// Write it to this directory, with the files that its libraries need, and print the command that builds it
    #[arg(long, value_name = "DIR", requires = "name")]
    out: Option<PathBuf>,
}

pub(crate) fn adapter(args: &AdapterArgs) -> Result<Exit, Failure> {
    let Some(name) = &args.name else {
        let width = ALL.iter().map(|adapter| adapter.name.len()).max().unwrap_or_default();
        let lines: Vec<String> =
            ALL.iter().map(|adapter| format!("{:<width$}  {}\n", adapter.name, adapter.doc)).collect();
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
    match &args.out {
        None => screen::print(adapter.file.1)?,
        Some(dir) => {
            write(adapter, dir)?;
            screen::print(&how(adapter, dir))?;
        }
    }
    Ok(Exit::Expected)
}

/// Writes an adapter with the files of its project. A file that is there is not replaced.
fn write(adapter: &Adapter, dir: &Path) -> Result<(), Failure> {
    let failed = |path: &Path, error: &dyn std::fmt::Display| {
        Failure::Input(format!("failed to write {}: {error}", path.display()))
    };
    fs::create_dir_all(dir).map_err(|error| failed(dir, &error))?;
    let files = [adapter.file].into_iter().chain(adapter.project.files.iter().copied());
    let texts: Vec<(PathBuf, String)> =
        files.map(|(name, text)| (dir.join(name), text.replace("{file}", adapter.file.0))).collect();
    if let Some((path, _)) = texts.iter().find(|(path, _)| path.exists()) {
        return Err(failed(path, &"it is there already: name another directory, or remove it"));
    }
    texts.iter().try_for_each(|(path, text)| fs::write(path, text).map_err(|error| failed(path, &error)))
}

/// The commands that build and run an adapter.
fn how(adapter: &Adapter, dir: &Path) -> String {
    let (file, dir) = (adapter.file.0, quoted(&dir.display().to_string()));
    let name = file.split('.').next().unwrap_or(file);
    let filled = |text: &str| text.replace("{file}", file).replace("{name}", name);
    let build = adapter.project.build.map(|build| format!("  cd {dir} && {}\n", filled(build)));
    let run = format!("{} {}", filled(adapter.project.run), adapter.word);
    let options = format!("{} --scenario pause --seeds {}", adapter.options, adapter.project.seeds);
    format!(
        "build:\n{}run, in {dir}:\n  picklock run --program '{}' {}\n",
        build.unwrap_or_default(),
        run.trim_end(),
        options.trim_start()
    )
}
