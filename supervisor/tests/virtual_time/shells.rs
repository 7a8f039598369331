//! Shells, which start processes, wait for them, and hear of their ends by signals.

use picklock_supervisor::Status;

use crate::driver::{compiled, run, runtime, setup};

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
fn a_shell_hears_of_the_ends_of_its_processes_at_the_same_points_each_time() {
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

#[test]
fn a_shell_that_lends_its_memory_waits_for_that_process_alone() {
    // One child ends while the parent waits for another one, made by `vfork`, to become a program.
    let source = r#"
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void) {
    if (fork() == 0) { sleep(1); _exit(3); }
    if (vfork() == 0) { sleep(2); execl("/bin/sh", "sh", "-c", "echo became", (char *)0); _exit(1); }
    write(1, "goes on\n", 8);
    int first, second;
    wait(&first); wait(&second);
    printf("%d\n", WEXITSTATUS(first) + WEXITSTATUS(second));
}
"#;
    let Some(program) = compiled("lends", source) else { return };
    let story = run(&setup(&[&program], 1), &[]);
    assert_eq!(story.status, Some(Status::Code(0)), "{story:#?}");
    let mut printed = story.printed();
    printed.sort_unstable();
    assert_eq!(printed, ["3", "became", "goes on"], "{story:#?}");
    assert!(story.elapsed_ms >= 2_000);
}
