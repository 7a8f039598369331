//! The environment check, and several groups at once.

use picklock_supervisor::{Clock, Files, Group, Pool, StartError, Step, ready};

use crate::driver::{can_run, finish, run, setup};

#[test]
fn each_finding_says_what_is_lost_and_what_to_do() {
    let findings = ready::findings();
    assert!(findings.iter().any(|finding| finding.is_needed));
    assert!(
        findings.iter().all(|finding| !finding.lost.is_empty() && !finding.remedy.is_empty()),
        "{findings:#?}"
    );
}

#[test]
fn groups_of_several_threads_do_not_disturb_each_other() {
    if !can_run() {
        return;
    }
    let script = "for i in 1 2 3; do read line; echo $i $line $RANDOM $$; sleep 1; done; (exit 3)";
    let lines = ["a", "b", "c"];
    let alone: Vec<_> = (0..4).map(|seed| run(&setup(&["bash", "-c", script], seed), &lines).steps).collect();
    assert!(alone[0].len() > 6, "{alone:#?}");
    std::thread::scope(|scope| {
        for (seed, alone) in alone.iter().enumerate() {
            scope.spawn(move || {
                for _ in 0..5 {
                    assert_eq!(run(&setup(&["bash", "-c", script], seed as u64), &lines).steps, *alone);
                }
            });
        }
    });
}

#[test]
fn a_group_may_move_to_another_thread() {
    if !can_run() {
        return;
    }
    let mut group = Group::start(&setup(&["sh", "-c", "echo moved"], 1)).expect("start a shell");
    let clock = Clock { monotonic_ns: 1, wall_ns: 1 };
    assert!(matches!(group.step(clock), Ok(Step::Point(_))));
    let step =
        std::thread::scope(|scope| scope.spawn(move || group.step(clock)).join().expect("step a shell"));
    assert!(matches!(step, Ok(Step::Printed(line)) if line == "moved"));
}

#[test]
fn two_groups_in_one_thread_are_stepped_in_turn() {
    if !can_run() {
        return;
    }
    let start =
        |seed| Group::start(&setup(&["sh", "-c", "read line; echo $line"], seed)).expect("start a shell");
    let mut groups = [start(1), start(2)];
    let clock = Clock { monotonic_ns: 1, wall_ns: 1 };
    let mut printed = Vec::new();
    for round in 0..2 {
        for (number, group) in groups.iter_mut().enumerate() {
            loop {
                match group.step(clock).expect("step a shell") {
                    Step::Waits { .. } if round == 0 => break group.line(&format!("group {number}")),
                    Step::Printed(line) => printed.push(line),
                    Step::Exited(_) => break,
                    _ => {}
                }
            }
        }
    }
    assert_eq!(printed, ["group 0", "group 1"]);
}

#[test]
fn a_group_that_is_dropped_at_any_step_leaves_nothing() {
    if !can_run() {
        return;
    }
    for steps in 0..12 {
        let script = "'dropped-6113'; sleep 1 & (sleep 2; echo a) & read line; wait";
        let mut group = Group::start(&setup(&["bash", "-c", script], 1)).expect("start a shell");
        for _ in 0..steps {
            group.step(Clock { monotonic_ns: 1, wall_ns: 1 }).expect("step a shell");
        }
        drop(group);
        let entries = std::fs::read_dir("/proc").expect("read /proc").flatten();
        let mut lines = entries.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
        assert!(
            !lines.any(|line| String::from_utf8_lossy(&line).contains("dropped-6113")),
            "after {steps} steps"
        );
    }
}

#[test]
fn files_of_its_own_are_gone_at_the_end_and_others_are_only_read() {
    if !can_run() {
        return;
    }
    let script = "pwd; ls -A $HOME; echo x > $HOME/kept; ls -A $HOME; echo /proc/[0-9]*; readlink /proc/self";
    let mut own = setup(&["bash", "-c", script], 1);
    own.dir = Some("/dev/shm".into());
    let printed = ["/dev/shm", "kept", "/proc/1 /proc/2", "2"];
    assert_eq!(run(&own, &[]).printed(), printed);
    assert_eq!(run(&own, &[]).printed(), printed);
    assert!(!std::path::Path::new("/dev/shm/kept").exists());
    let script =
        "touch $0 && echo touched; : >> /proc/sys/vm/swappiness && echo set; echo x > /dev/null && echo null";
    let target = env!("CARGO_TARGET_TMPDIR");
    let mut touching = setup(&["bash", "-c", script, &format!("{target}/touched")], 1);
    assert_eq!(run(&touching, &[]).printed(), ["null"]);
    let pool = Pool::new();
    let copied = [0, 1, 2].map(|_| pool.start(&touching).expect("start a shell"));
    assert!(copied[2].is_copy());
    copied.into_iter().for_each(|group| assert_eq!(finish(group, &[]).printed(), ["null"]));
    touching.command[2] = "touch $0 && echo touched; echo x > /dev/null && echo null".into();
    touching.files = Files::Shared;
    assert_eq!(run(&touching, &[]).printed(), ["touched", "null"]);
    let mut shared = setup(&["bash", "-c", "echo $HOME $TMPDIR $$"], 1);
    shared.files = Files::Shared;
    assert_eq!(run(&shared, &[]).printed(), ["/ /tmp 2"]);
}

#[test]
fn a_home_that_is_kept_is_found_by_the_next_program_as_it_was_left() {
    if !can_run() {
        return;
    }
    let home = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("home-kept");
    let _ = std::fs::remove_dir_all(&home);
    std::fs::create_dir_all(&home).expect("there is room for a directory");
    let script = "echo $HOME; ls $HOME; echo x > $HOME/first; touch /tmp/x && echo touched";
    let mut setup = setup(&["bash", "-c", script], 1);
    setup.home = Some(home);
    let pool = Pool::new();
    let printed = [0, 1, 2].map(|_| {
        let group = pool.start(&setup).expect("start a shell");
        assert!(!group.is_copy());
        finish(group, &[]).printed().join(" ")
    });
    assert_eq!(printed, ["/dev/shm", "/dev/shm first", "/dev/shm first"]);
}

#[test]
fn what_is_not_there_is_not_started() {
    if !can_run() {
        return;
    }
    let missing = Group::start(&setup(&["no-such-program-here"], 1)).err();
    assert!(matches!(missing, Some(StartError::NotFound(name)) if name == "no-such-program-here"));
    let mut nowhere = setup(&["true"], 1);
    nowhere.dir = Some("/no/such/directory".into());
    assert!(Group::start(&nowhere).is_err());
}

#[test]
fn a_program_sees_the_same_mounts_and_groups_in_each_run() {
    if !can_run() {
        return;
    }
    let script = "read line
for file in /proc/self/mountinfo /proc/mounts /proc/cgroups; do
  while read line; do echo \"$line\"; done < $file
done";
    let setup = setup(&["bash", "-c", script], 1);
    let fresh = run(&setup, &["go"]);
    let pool = Pool::new();
    for _ in 0..3 {
        let again = finish(pool.start(&setup).expect("start a shell"), &["go"]);
        assert_eq!(again.printed(), fresh.printed());
    }
    let first = fresh.printed()[0].to_owned();
    assert!(first.starts_with("1 0 "), "{first}");
}
