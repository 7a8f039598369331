//! An interrupt ends a campaign with the results so far.

use std::process::{Command, Stdio};

use crate::binary::{directory, picklock};
use crate::support::{json, text_of};

/// Waits until a process has something to do with an interrupt other than to die of it.
fn wait_until_it_listens(pid: u32) {
    // Bit 1 of the mask of caught signals is SIGINT's.
    let listens = |status: &str| {
        let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:"))?;
        Some(u64::from_str_radix(mask.trim(), 16).ok()? & 0b10 != 0)
    };
    for _ in 0..600 {
        match std::fs::read_to_string(format!("/proc/{pid}/status")) {
            Ok(status) if listens(&status) == Some(true) => break,
            _ => std::thread::sleep(std::time::Duration::from_millis(50)),
        }
    }
    // Some runs are to be made before it comes.
    std::thread::sleep(std::time::Duration::from_millis(500));
}

#[test]
fn an_interrupt_gives_130_and_the_results_so_far_marked_as_partial() {
    let here = directory();
    let mut command = picklock(here.path());
    command.args(["run", "--design", "single,oracle", "--scenario", "pause", "--seeds", "1000000000"]);
    command.args(["--expect", "none", "--out", "out", "--format", "text,json,junit,markdown,html"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_until_it_listens(child.id());
    let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(kill.success());
    let output = child.wait_with_output().unwrap();
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(130), "{stdout}{stderr}");
    assert!(stdout.contains("partial"), "{stdout}");
    let results = json(&text_of(&here.path().join("out/results.json")));
    assert_eq!(results["partial"], true);
    for cell in results["cells"].as_array().unwrap() {
        assert!(cell["runs"].as_u64().unwrap() > 0, "{cell}");
    }
    for name in ["results.txt", "junit.xml", "results.md", "report.html"] {
        assert!(here.path().join("out").join(name).is_file(), "{name} is missing");
    }
}
