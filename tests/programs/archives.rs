//! The class-data archive of a JVM: made by a run that is thrown away, kept, and used by all others.

use std::os::unix::fs::PermissionsExt as _;

use crate::binary::{directory, end, picklock};
use crate::can_run::can_run;

/// A JVM as far as its archives go: it leaves one if it is asked to, and says which one it uses.
const JVM: &str = "#!/usr/bin/env -S python3 -S
import os, sys
leave = [word.split('=')[1] for word in sys.argv if word.startswith('-XX:ArchiveClassesAtExit=')]
print('uses', sorted(word for word in sys.argv if word.startswith('-XX:')), file=sys.stderr, flush=True)
sys.argv = sys.argv[:1]
exec(open(os.path.dirname(os.path.abspath(__file__)) + '/lock.py').read())
for file in leave: open(file, 'w').write('classes')
";

#[test]
fn the_run_that_makes_an_archive_is_the_same_as_those_that_use_it() {
    if !can_run(&["python3"]) {
        return;
    }
    let (here, cache) = (directory(), directory());
    let jvm = here.path().join("java");
    std::fs::write(&jvm, JVM).unwrap();
    std::fs::set_permissions(&jvm, std::fs::Permissions::from_mode(0o755)).unwrap();
    std::fs::write(here.path().join("lock.py"), include_str!("../../examples/adapters/plain.py")).unwrap();
    std::fs::write(here.path().join("lock.jar"), "jar").unwrap();
    let run = |class_path: &str| {
        let command = format!("{} -cp {class_path} Lock", jvm.display());
        let mut run = picklock(here.path());
        run.env("XDG_CACHE_HOME", cache.path());
        run.args(["run", "--program", &command, "--scenario", "calm", "--seeds", "2", "--set", "clients=2"]);
        let ended = end(run);
        // A campaign makes its first run twice: the one that makes the archive, and one that finds it.
        assert_eq!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);
        let kept = std::fs::read_dir(cache.path().join("picklock/archives"));
        kept.into_iter().flatten().flatten().map(|file| file.path()).collect::<Vec<_>>()
    };
    assert!(run(".").is_empty(), "a class path with a directory has no archive");
    let kept = run("lock.jar");
    assert_eq!(kept.len(), 1);
    assert_eq!(std::fs::read_to_string(&kept[0]).unwrap(), "classes");
    assert_eq!(run("lock.jar"), kept);
    let mut replay = picklock(here.path());
    replay.env("XDG_CACHE_HOME", cache.path());
    let spelling = format!("program:{} -cp lock.jar Lock", jvm.display());
    replay.args(["replay", &spelling, "calm", "0", "--set", "clients=2", "--full"]);
    let story = end(replay).stdout;
    let used = kept[0].file_name().unwrap().to_str().unwrap();
    // A line of a story is broken where the column ends.
    let joined: String = story.chars().filter(|character| character.is_ascii_alphanumeric()).collect();
    let wanted: String = used.chars().filter(char::is_ascii_alphanumeric).collect();
    assert!(joined.contains(&wanted), "{story}");
}
