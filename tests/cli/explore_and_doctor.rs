//! `picklock doctor` and `picklock explore` on the command line: exit codes, and errors for wrong input.

use crate::binary::{directory, run_in};

fn run(args: &[&str]) -> (i32, String, String) {
    let ended = run_in(directory().path(), args);
    (ended.code.unwrap(), ended.stdout, ended.stderr)
}

#[test]
fn built_in_designs_are_the_same_twice_and_in_another_process() {
    let (code, out, _) = run(&["doctor", "--scenario", "calm,failover", "--seeds", "1"]);
    assert_eq!(code, 0, "{out}");
    assert!(out.ends_with("another process: no difference\n"), "{out}");
}

#[test]
fn exploring_says_how_much_was_tried_and_which_line_shows_a_site() {
    let small = ["--set", "clients=2", "--set", "sections=1"];
    let (code, out, _) = run(&[&["explore", "--design", "single", "--fault", "stall"][..], &small].concat());
    assert_eq!(code, 1, "{out}");
    let result = out.lines().nth(2).unwrap();
    assert!(result.contains("single sites explored at 1 workload"), "{result}");
    let line = out.lines().find_map(|line| line.trim().strip_prefix("picklock ")).unwrap();
    let words: Vec<&str> = line.split(' ').collect();
    let (code, story, _) = run(&words);
    assert_eq!(code, 1, "{story}");
    assert!(story.contains(&format!("replay: picklock {line}")), "{story}");
    assert_eq!(run(&words).1, story);
}

#[test]
fn a_fault_is_explored_under_each_of_its_names_and_printed_under_one() {
    let small = ["--set", "clients=2", "--set", "sections=1"];
    let explored = |fault| run(&[&["explore", "--design", "single", "--fault", fault][..], &small].concat());
    for (name, other) in [("client-crash", "crash"), ("node-restart", "restart"), ("partition", "cut")] {
        let (code, out, error) = explored(name);
        assert!(code < 2 && out.contains(&format!("\n{name} ")), "{out}{error}");
        assert_eq!(explored(other), (code, out, error), "{other}");
    }
    let placed = |site| run(&[&["explore", "--design", "single", "--place", site][..], &small].concat());
    let story = placed("client-crash:1");
    assert!(story.1.contains("--place client-crash:1\n"), "{}", story.1);
    assert_eq!(placed("crash:1"), story);
}

#[test]
fn a_sound_lock_has_no_failures() {
    let (code, out, _) = run(&["explore", "--design", "oracle", "--fault", "pause"]);
    assert_eq!(code, 0, "{out}");
    assert!(out.contains("none violates anything"), "{out}");
}

#[test]
fn an_error_names_what_can_be_explored() {
    for (args, says) in [
        (&["explore", "--design", "single", "--fault", "paus"][..], "did you mean `pause`?"),
        (&["explore", "--design", "single", "--place", "pause"], "write a fault and a number"),
        (&["explore", "--design", "single", "--place", "pause:99999999"], "numbered from 0"),
        (&["explore", "--design", "redlock", "--held", "6"], "has 5 stores"),
        (&["explore", "--design", "single", "--scenario", "cal"], "did you mean `calm`?"),
        (&["doctor", "--design", "singel"], "did you mean `single`?"),
    ] {
        let (code, _, error) = run(args);
        assert_eq!(code, 2, "{args:?}: {error}");
        assert!(error.contains(says), "{args:?}: {error}");
    }
}
