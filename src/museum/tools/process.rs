//! A tool as a process: in a process group of its own, within a time limit, with limited output.

use std::io::{self, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The bytes of each output that are kept; the rest is read and dropped.
const OUTPUT_MAX: usize = 8 << 20;

/// The time between two looks at a process.
const STEP: Duration = Duration::from_millis(10);

/// A process that has ended.
pub(super) struct Ended {
    pub(super) status: ExitStatus,
    pub(super) stdout: String,
    pub(super) stderr: String,
}

/// The reasons for which there is no result of a process.
pub(super) enum NoEnd {
    /// It does not start, or its output cannot be read.
    Io(io::Error),
    /// It is killed at its time limit.
    TimeLimit,
    /// It is killed because the user interrupts picklock.
    Interrupted,
}

impl From<io::Error> for NoEnd {
    fn from(error: io::Error) -> NoEnd {
        NoEnd::Io(error)
    }
}

/// Runs a command to its end. Its process group is killed then, with what it left running.
#[expect(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "the time of a tool is that of the machine; no run reads it"
)]
pub(super) fn run(mut command: Command, limit: Duration, stop: &AtomicBool) -> Result<Ended, NoEnd> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    own_group(&mut command);
    let mut group = Group(command.spawn()?);
    let (mut stdout, mut stderr) = (Output::new(group.0.stdout.take())?, Output::new(group.0.stderr.take())?);
    let began = std::time::Instant::now();
    loop {
        stdout.read()?;
        stderr.read()?;
        if let Some(status) = group.0.try_wait()? {
            // All that it has written is in the pipes; a process that it left behind may hold them open.
            stdout.read()?;
            stderr.read()?;
            return Ok(Ended { status, stdout: stdout.text(), stderr: stderr.text() });
        }
        if stop.load(Ordering::Relaxed) {
            return Err(NoEnd::Interrupted);
        }
        if began.elapsed() > limit {
            return Err(NoEnd::TimeLimit);
        }
        std::thread::sleep(STEP);
    }
}

/// A process that leads its group. All of the group is killed when it is dropped.
struct Group(Child);

impl Drop for Group {
    fn drop(&mut self) {
        kill_group(&self.0);
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[cfg(unix)]
fn own_group(command: &mut Command) {
    use std::os::unix::process::CommandExt as _;

    command.process_group(0);
}

#[cfg(unix)]
fn kill_group(child: &Child) {
    use rustix::process::{Pid, Signal, kill_process_group};

    // Its number stays that of the group while a process of the group lives, also after the leader has been waited for.
    if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        let _ = kill_process_group(group, Signal::KILL);
    }
}

#[cfg(not(unix))]
fn own_group(_: &mut Command) {}

#[cfg(not(unix))]
fn kill_group(_: &Child) {}

/// A pipe of a process, read without waiting.
struct Output<P> {
    pipe: Option<P>,
    bytes: Vec<u8>,
}

impl<P: Read + Pipe> Output<P> {
    fn new(pipe: Option<P>) -> io::Result<Output<P>> {
        pipe.as_ref().map_or(Ok(()), Pipe::never_wait)?;
        Ok(Output { pipe, bytes: Vec::new() })
    }

    /// Reads what is there.
    fn read(&mut self) -> io::Result<()> {
        let mut buffer = [0; 1 << 14];
        // A process that writes without an end has its time limit looked at all the same.
        for _ in 0..64 {
            let Some(pipe) = &mut self.pipe else { return Ok(()) };
            match pipe.read(&mut buffer) {
                Ok(0) => self.pipe = None,
                Ok(length) => {
                    let room = OUTPUT_MAX.saturating_sub(self.bytes.len());
                    self.bytes.extend_from_slice(&buffer[..length.min(room)]);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn text(self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }
}

/// A pipe that can be read without waiting.
trait Pipe {
    fn never_wait(&self) -> io::Result<()>;
}

#[cfg(unix)]
impl<P: std::os::fd::AsFd> Pipe for P {
    fn never_wait(&self) -> io::Result<()> {
        Ok(rustix::io::ioctl_fionbio(self, true)?)
    }
}

#[cfg(not(unix))]
impl<P> Pipe for P {
    fn never_wait(&self) -> io::Result<()> {
        Ok(())
    }
}
