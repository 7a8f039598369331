//! Shells, which start processes, wait for them, and are told of their ends by signals.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

#[allow(dead_code, reason = "each test uses a part of it")]
mod driver;

use driver::{run, runtime, setup};
use picklock_programs::Status;

/// Each round starts three processes, whose ends reach the shell while it reads, waits, or computes.
const ROUNDS: &str = "
caught=0
trap 'caught=$((caught + 1))' CHLD
for round in 1 2 3 4 5 6 7 8; do
  one=$(echo $round | tr 0-9 a-j)
  (exit $round) &
  wait $!
  echo $one $? $caught
done
";

#[test]
fn a_shell_is_told_of_the_ends_of_its_processes_at_the_same_points_each_time() {
    if runtime(&["/bin/bash"]).is_none() {
        return;
    }
    let setup = setup(&["/bin/bash", "-c", ROUNDS], 1);
    let first = run(&setup, &[]);
    assert_eq!(first.status, Some(Status::Code(0)), "{first:#?}");
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                for _ in 0..20 {
                    assert_eq!(run(&setup, &[]).steps, first.steps);
                }
            });
        }
    });
}
