//! Steering a served world while it runs: lines on standard input, or on connections to a port of the loopback interface.
//!
//! A line is a fault as `--fault` takes it, or one of a few words of its own. On a connection each is answered by one line,
//! `ok` or `error: ` and why; HELP by several and a dot.

use std::io::{BufRead as _, IsTerminal as _, Write as _};
use std::sync::Arc;
use std::time::Duration;

use picklock_model::text::nearest;
use picklock_sim::live::LiveCommand;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::sync::mpsc::UnboundedSender;
use tokio::task::JoinSet;
use tokio::time::Instant;

use picklock_scenarios::faults::{self, Served};

/// The commands that are not faults, and what they do.
const WORDS: [(&str, &str); 5] = [
    ("heal", "ends all that lasts: pauses, cuts, delays, replies that are to be lost"),
    ("start HOST", "starts a server that was killed"),
    ("hosts", "lists the hosts"),
    ("help", "lists what can be said"),
    ("stop", "ends it all"),
];

/// The longest line, in bytes.
const LINE_MAX: u64 = 1_000;

/// The time until a connection is accepted again after an error.
const RETRY: Duration = Duration::from_millis(100);

/// The steering of a served world.
#[derive(Clone)]
pub(super) struct Steering {
    hosts: Arc<[String]>,
    commands: UnboundedSender<LiveCommand>,
    stop: Arc<Notify>,
}

impl Steering {
    /// The steering of a world with these hosts; `stop` ends it.
    pub(super) fn new(hosts: &[&str], commands: UnboundedSender<LiveCommand>, stop: Arc<Notify>) -> Steering {
        Steering { hosts: hosts.iter().map(|host| (*host).to_owned()).collect(), commands, stop }
    }

    /// Does what a line says. What is to be answered, if it is more than that all went well.
    ///
    /// # Errors
    /// The error of a line that is not understood, with the lines that would be.
    fn line(&self, line: &str) -> Result<Option<String>, String> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let command = match words[..] {
            [] => return Ok(None),
            ["help"] => return Ok(Some(help())),
            ["hosts"] => return Ok(Some(self.hosts.join("\n"))),
            ["stop"] => {
                self.stop.notify_one();
                return Ok(None);
            }
            ["heal"] => LiveCommand::Heal,
            ["start", host] if self.hosts.iter().any(|known| known == host) => {
                LiveCommand::Start(host.to_owned())
            }
            ["start", ..] => {
                return Err(format!("`start` needs one of the hosts: {}", self.hosts.join(", ")));
            }
            [word @ ("help" | "hosts" | "stop" | "heal"), ..] => {
                return Err(format!("nothing may follow `{word}`"));
            }
            [word, ..] => {
                let own = || WORDS.iter().filter_map(|(form, _)| form.split(' ').next());
                if faults::form_named(word).is_none() {
                    let hint = nearest(word, faults::words().chain(own()));
                    let hint = hint.map(|near| format!(" (did you mean `{near}`?)")).unwrap_or_default();
                    return Err(format!("`{word}` is not understood{hint}; `help` lists what is"));
                }
                LiveCommand::Apply(faults::parse_now(&words, &self.hosts)?)
            }
        };
        // A world that is gone is steered no more.
        let _ = self.commands.send(command);
        Ok(None)
    }

    /// Takes lines from standard input until it ends, on a thread of its own: a read from a terminal cannot be given up.
    #[expect(
        clippy::disallowed_methods,
        reason = "the thread belongs to the real world: it only hands lines over"
    )]
    pub(super) fn by_standard_input(self) {
        std::thread::spawn(move || {
            let input = std::io::stdin();
            let terminal = input.is_terminal();
            let mut line = String::new();
            loop {
                line.clear();
                // A job in the background would be stopped if it read from its terminal.
                if terminal && !is_in_foreground() {
                    return;
                }
                match input.lock().read_line(&mut line) {
                    Ok(0) | Err(_) => return,
                    Ok(_) => {}
                }
                let answer = match self.line(&line) {
                    Ok(None) => continue,
                    Ok(Some(text)) => text,
                    Err(why) => format!("error: {why}"),
                };
                // Whoever closed standard error does not want to know.
                let _ = writeln!(std::io::stderr(), "{answer}");
            }
        });
    }

    /// Takes lines from connections, for ever.
    pub(super) async fn by_connections(self, listener: std::net::TcpListener) {
        // A world that cannot be steered from there runs on.
        let Ok(listener) = TcpListener::from_std(listener) else { return std::future::pending().await };
        let mut connections = JoinSet::new();
        loop {
            tokio::select! {
                accepted = listener.accept() => match accepted {
                    Ok((socket, _)) => drop(connections.spawn(self.clone().converse(socket))),
                    // There is no file descriptor, say.
                    Err(_) => tokio::time::sleep_until(Instant::now() + RETRY).await,
                },
                Some(_) = connections.join_next() => {}
            }
        }
    }

    async fn converse(self, socket: TcpStream) -> std::io::Result<()> {
        let (read, mut write) = socket.into_split();
        let mut lines = BufReader::new(read);
        loop {
            let mut line = Vec::new();
            let len =
                tokio::io::AsyncReadExt::take(&mut lines, LINE_MAX).read_until(b'\n', &mut line).await?;
            if line.last() != Some(&b'\n') {
                if (len as u64) < LINE_MAX {
                    return Ok(());
                }
                let answer = format!("error: a line has at most {LINE_MAX} bytes\n");
                write.write_all(answer.as_bytes()).await?;
                pass_over(&mut lines).await?;
                continue;
            }
            let answer = match self.line(&String::from_utf8_lossy(&line)) {
                Ok(None) => "ok\n".to_owned(),
                Ok(Some(text)) => format!("{text}\n.\n"),
                Err(why) => format!("error: {why}\n"),
            };
            write.write_all(answer.as_bytes()).await?;
        }
    }
}

/// Reads up to the end of a line, and keeps nothing of it.
async fn pass_over(lines: &mut (impl tokio::io::AsyncBufRead + Unpin)) -> std::io::Result<()> {
    loop {
        let buffer = lines.fill_buf().await?;
        let end = buffer.iter().position(|byte| *byte == b'\n');
        let used = end.map_or(buffer.len(), |end| end + 1);
        lines.consume(used);
        if end.is_some() || used == 0 {
            return Ok(());
        }
    }
}

/// The help: all lines that are understood.
fn help() -> String {
    let mut text = String::new();
    for Served { form, .. } in faults::forms() {
        text.push_str(form);
        text.push('\n');
    }
    for (form, what) in WORDS {
        text.push_str(&format!("{form:<12} {what}\n"));
    }
    text.push_str(
        "times count from now; without `at` it happens at once, without `for` it lasts until `heal`, without `restart` \
         until `start`",
    );
    text
}

/// True unless the system says that another job has the terminal.
fn is_in_foreground() -> bool {
    let Ok(status) = std::fs::read_to_string("/proc/self/stat") else { return true };
    // Behind the name in parentheses: state, parent, group, session, terminal, the terminal's group.
    let fields: Vec<&str> = status.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    match (fields.get(2), fields.get(5)) {
        (Some(group), Some(foreground)) => group == foreground,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use picklock_model::plan::{Action, UNTIL_HEALED};
    use tokio::sync::mpsc::unbounded_channel;

    use super::*;

    fn typed(line: &str) -> (Result<Option<String>, String>, Option<LiveCommand>) {
        let (commands, mut taken) = unbounded_channel();
        let steering = Steering::new(&["node-1", "replica-1", "clients"], commands, Arc::default());
        (steering.line(line), taken.try_recv().ok())
    }

    #[test]
    fn a_fault_is_applied_at_once() {
        let (answer, command) = typed("pause node-1\n");
        assert_eq!(answer, Ok(None));
        let Some(LiveCommand::Apply(injections)) = command else { panic!("{command:?}") };
        assert_eq!(injections[0].action, Action::Pause { lasts: UNTIL_HEALED });
    }

    #[test]
    fn there_are_words_that_are_no_faults() {
        assert_eq!(typed("heal").1, Some(LiveCommand::Heal));
        assert_eq!(typed("start node-1").1, Some(LiveCommand::Start("node-1".to_owned())));
        assert_eq!(typed(" \n"), (Ok(None), None));
        assert_eq!(typed("hosts").0, Ok(Some("node-1\nreplica-1\nclients".to_owned())));
        let help = typed("help").0.expect("help is there").expect("it says something");
        for Served { form, .. } in faults::forms() {
            assert!(help.contains(form), "{form}");
        }
    }

    #[test]
    fn an_error_names_what_was_expected() {
        let why = |line: &str| {
            let (answer, command) = typed(line);
            assert_eq!(command, None, "{line}");
            answer.expect_err("the line is wrong")
        };
        assert!(why("kil node-1").contains("did you mean `kill`"));
        assert!(why("heel").contains("did you mean `heal`"));
        assert!(why("kill node-2").contains("there are node-1, replica-1, clients"));
        assert!(why("start node-2").contains("node-1, replica-1"));
        assert!(why("heal node-1").contains("nothing may follow"));
        assert!(why("pause node-1 for ever").contains("ever"));
        assert!(why("kill clients").contains("cannot be killed"));
    }
}
