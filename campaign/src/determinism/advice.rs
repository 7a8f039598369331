//! Advice on a difference between two runs, in the words of the code that makes it: a lock that is written against a host, or a
//! program in its own language.
//!
//! A program cannot reach the machine's clock, its randomness or its network: a supervisor stands between. What is left are the
//! instructions that no supervisor sees, and what the program does with its own memory.

use picklock_sim::design::Design;

use super::Cause;

/// The owner of the code that does something else each time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Code {
    /// A lock that is written against a host.
    #[default]
    Host,
    /// A program, or real servers, under a supervisor.
    Program(Language),
}

/// The language of a program, as far as its command says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// `python3 lock.py`
    Python,
    /// `node lock.js`, and others of its kind.
    JavaScript,
    /// `java -jar lock.jar`
    Java,
    /// `ruby lock.rb`
    Ruby,
    /// `php lock.php`
    Php,
    /// `perl lock.pl`
    Perl,
    /// A program by itself: C, Go, Rust, or a server.
    Compiled,
}

/// The names of interpreters, without their versions.
const INTERPRETERS: [(&str, Language); 11] = [
    ("python", Language::Python),
    ("pypy", Language::Python),
    ("node", Language::JavaScript),
    ("nodejs", Language::JavaScript),
    ("bun", Language::JavaScript),
    ("deno", Language::JavaScript),
    ("java", Language::Java),
    ("ruby", Language::Ruby),
    ("jruby", Language::Ruby),
    ("php", Language::Php),
    ("perl", Language::Perl),
];

impl Code {
    /// The owner of the code of the clients of a design, or of its servers.
    #[must_use]
    pub fn of(design: &Design) -> Code {
        if !design.parts.is_empty() {
            let command = design.name.split_once(':').map_or("", |(_, command)| command);
            return Code::Program(Language::of(command));
        }
        match &design.store {
            Some(store) if store.is_real() => Code::Program(Language::Compiled),
            _ => Code::Host,
        }
    }

    /// A likely cause in words.
    #[must_use]
    pub fn cause(self, cause: Cause) -> String {
        match (self, cause) {
            (Code::Host, _) | (_, Cause::Order | Cause::Unknown) => cause.to_string(),
            (_, Cause::Clock) => {
                "a clock that no supervisor sees: a number in it is the time of day".to_owned()
            }
            (_, Cause::Timing) => {
                "a time that is not its host's: the same step comes at another time".to_owned()
            }
            (_, Cause::Randomness) => {
                "randomness that no supervisor sees, or memory that was never written: what it says differs"
                    .to_owned()
            }
            (_, Cause::Thread) => "threads that race: which of them comes first differs".to_owned(),
            (_, Cause::Socket) => "a socket of the machine".to_owned(),
        }
    }

    /// The remedy.
    #[must_use]
    pub fn remedy(self, cause: Cause) -> String {
        let Code::Program(language) = self else { return cause.remedy().to_owned() };
        match cause {
            Cause::Clock | Cause::Timing => format!(
                "read the time with {}, and no counter of the processor (rdtsc) and no time stamp of a file",
                language.clock()
            ),
            Cause::Randomness => {
                format!("draw from {}, and not from the processor (rdrand)", language.randomness())
            }
            Cause::Order => language.order().to_owned(),
            Cause::Thread => {
                "let threads wait for each other by locks and conditions, and not by spinning".to_owned()
            }
            Cause::Socket => "connect to the hosts of the world, which PICKLOCK_STORES names".to_owned(),
            Cause::Unknown => "look at what the program does right before this event".to_owned(),
        }
    }
}

impl Language {
    fn of(command: &str) -> Language {
        let first = command.split_whitespace().next().unwrap_or_default();
        let name = first.rsplit('/').next().unwrap_or_default();
        let name = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-');
        let known = INTERPRETERS.iter().find(|(interpreter, _)| *interpreter == name);
        known.map_or(Language::Compiled, |(_, language)| *language)
    }

    fn clock(self) -> &'static str {
        match self {
            Language::Python => "time.time() or time.monotonic()",
            Language::JavaScript => "Date.now() or performance.now()",
            Language::Java => "System.currentTimeMillis() or System.nanoTime()",
            Language::Ruby => "Time.now or Process.clock_gettime",
            Language::Php => "microtime() or hrtime()",
            Language::Perl => "time or Time::HiRes",
            Language::Compiled => "clock_gettime (in Go time.Now)",
        }
    }

    fn randomness(self) -> &'static str {
        match self {
            Language::Python => "random, secrets or uuid",
            Language::JavaScript => "crypto.randomUUID() or Math.random()",
            Language::Java => "java.util.Random, SecureRandom or UUID",
            Language::Ruby => "SecureRandom or rand",
            Language::Php => "random_bytes() or random_int()",
            Language::Perl => "rand or /dev/urandom",
            Language::Compiled => "getrandom or /dev/urandom (in Go crypto/rand)",
        }
    }

    fn order(self) -> &'static str {
        match self {
            Language::Python => {
                "sort a set before you walk through it: what is hashed by its address has no order"
            }
            Language::Java => "use a TreeMap or a LinkedHashMap: what is hashed by its identity has no order",
            Language::JavaScript | Language::Ruby | Language::Php => "sort before you walk through it",
            Language::Perl => "sort the keys of a hash before you walk through it",
            Language::Compiled => {
                "sort before you walk through a map: what is hashed by its address has no order"
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_language_of_a_command_is_that_of_its_interpreter() {
        for (command, language) in [
            ("python3 lock.py", Language::Python),
            ("/usr/bin/python3.11 -u lock.py", Language::Python),
            ("nodejs lock.mjs", Language::JavaScript),
            ("java -jar lock.jar", Language::Java),
            ("./lock", Language::Compiled),
            ("", Language::Compiled),
        ] {
            assert_eq!(Language::of(command), language, "{command}");
        }
    }

    #[test]
    fn a_program_is_advised_in_its_own_language() {
        let every = [
            Cause::Thread,
            Cause::Socket,
            Cause::Clock,
            Cause::Order,
            Cause::Randomness,
            Cause::Timing,
            Cause::Unknown,
        ];
        for cause in every {
            let code = Code::Program(Language::Python);
            let advice = format!("{} {}", code.cause(cause), code.remedy(cause));
            for word in ["Host::", "BTree", "SystemTime", "Instant"] {
                assert!(!advice.contains(word), "{cause:?}: {advice}");
            }
        }
        assert!(Code::Program(Language::Python).remedy(Cause::Timing).contains("time.monotonic()"));
        assert!(Code::Host.remedy(Cause::Clock).contains("Host::monotonic"));
    }
}
