// recorder.rs: writes what threads ask of a lock, for `picklock judge`.
use std::fs::{File, OpenOptions};
use std::io::{Result, Write};
use std::sync::Mutex;
use std::time::{Duration, Instant, SystemTime};

pub struct Recorder {
    host: String,
    began: (Duration, Instant),
    file: Mutex<File>,
}

impl Recorder {
    /// The host's name is this process's own, and plain: without quotes and backslashes.
    pub fn new(path: &str, host: &str) -> Result<Recorder> {
        let file = Mutex::new(OpenOptions::new().create(true).append(true).open(path)?);
        // A clock that is never set back, on the machine's date.
        let date = SystemTime::UNIX_EPOCH.elapsed().expect("the date is after 1970");
        Ok(Recorder { host: format!("{host}-{}", std::process::id()), began: (date, Instant::now()), file })
    }

    pub fn note(&self, kind: &str, f: &str, key: &str) -> Result<()> {
        // The clock is read while the file is held, so that the lines are in its order.
        let mut file = self.file.lock().expect("no thread panics while it writes");
        let time = (self.began.0 + self.began.1.elapsed()).as_nanos();
        let (host, thread) = (&self.host, std::thread::current());
        let (name, id) = (thread.name().unwrap_or("unnamed"), thread.id());
        writeln!(
            file,
            r#"{{"time_ns":{time},"host":"{host}","process":"{name} {id:?}","type":"{kind}","f":"{f}","key":"{key}"}}"#
        )
    }
}
