//! From where in their source programs make their calls.

use std::path::Path;
use std::process::Command;

use picklock_supervisor::{Frame, Group, Step};

use crate::driver::{Run, Story, run, runtime, setup};
use crate::escapes::{Compiled, probes};

const PYTHON: &str = "import socket

def ask(line):
    store.sendall(line)
    return store.recv(100)

def release(key):
    if ask(b'*2\\r\\n$3\\r\\nGET\\r\\n$1\\r\\nk\\r\\n') != b'mine':
        ask(b'*2\\r\\n$3\\r\\nDEL\\r\\n$1\\r\\nk\\r\\n')

store = socket.create_connection(('store', 6379))
release('k')
";

const RUST: &str = "use std::io::{Read, Write};
use std::net::TcpStream;

#[inline(never)]
fn ask(store: &mut TcpStream, command: &[u8]) -> usize {
    store.write_all(command).unwrap();
    store.read(&mut [0; 100]).unwrap()
}

#[inline(never)]
fn release(store: &mut TcpStream) -> bool {
    if ask(store, b\"*2\\r\\n$3\\r\\nGET\\r\\n$1\\r\\nk\\r\\n\") != 1 {
        return ask(store, b\"*2\\r\\n$3\\r\\nDEL\\r\\n$1\\r\\nk\\r\\n\") > 0;
    }
    false
}

fn main() {
    release(&mut TcpStream::connect(\"10.0.0.9:6379\").unwrap());
}
";

const GO: &str = "package main

import \"net\"

func ask(store net.Conn, command string) int {
	if _, err := store.Write([]byte(command)); err != nil {
		panic(err)
	}
	got, _ := store.Read(make([]byte, 100))
	return got
}

func release(store net.Conn) {
	if ask(store, \"*2\\r\\n$3\\r\\nGET\\r\\n$1\\r\\nk\\r\\n\") != 1 {
		ask(store, \"*2\\r\\n$3\\r\\nDEL\\r\\n$1\\r\\nk\\r\\n\")
	}
}

func main() {
	store, err := net.Dial(\"tcp\", \"10.0.0.9:6379\")
	if err != nil {
		panic(err)
	}
	release(store)
}
";

/// What the program sends, each with the function and the line of `release` from which it does.
fn sent_from(dir: &Path, command: &[&str]) -> Vec<String> {
    let mut setup = setup(command, 1);
    setup.sources = vec![dir.to_owned()];
    let without = run(&setup, &[]).steps;
    setup.stacks = true;
    let mut run = Run::new(Group::start(&setup).expect("start the program"), &[]);
    let (mut place, mut sent) = (String::new(), Vec::new());
    while run.step() {
        match run.last.take() {
            Some(Step::At(stack)) => {
                let of_release = stack.iter().find(|frame| frame.function.ends_with("release"));
                place = of_release.map_or_else(String::new, |frame| {
                    let text = frame.text.as_deref().unwrap_or_default();
                    format!("{}:{} {}", frame.function, frame.line, &text[..text.len().min(7)])
                });
            }
            Some(Step::Sent { bytes, .. }) => {
                let name = String::from_utf8_lossy(&bytes).lines().nth(2).unwrap_or_default().to_owned();
                sent.push(format!("{name} from {place}"));
            }
            _ => {}
        }
    }
    run.story.steps.retain(|step| !step.contains(" At("));
    assert_eq!(run.story.steps, without, "the other steps are the same");
    sent
}

fn built(dir: &Path, command: &[&str]) {
    let output = Command::new(command[0]).args(&command[1..]).current_dir(dir).output();
    let output = output.expect("start the compiler");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn python_names_its_lines() {
    let Some(python) = runtime(&["/usr/bin/python3", "python3"]) else { return };
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("lock.py");
    std::fs::write(&file, PYTHON).unwrap();
    let sent = sent_from(dir.path(), &[&python, &file.display().to_string()]);
    assert_eq!(sent, ["GET from release:8 if ask(", "DEL from release:9 ask(b'*"]);
}

#[test]
fn rust_names_its_lines() {
    let Some(compiler) = runtime(&["rustc"]) else { return };
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("lock.rs"), RUST).unwrap();
    // Optimized, the last call of a function takes the place of its frame.
    built(dir.path(), &[&compiler, "-g", "lock.rs"]);
    let sent = sent_from(dir.path(), &[&dir.path().join("lock").display().to_string()]);
    assert_eq!(sent, ["GET from lock::release:12 if ask(", "DEL from lock::release:13 return "]);
}

#[test]
fn go_names_its_lines() {
    let Some(compiler) = runtime(&["go", "/usr/local/go/bin/go"]) else { return };
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("lock.go"), GO).unwrap();
    built(dir.path(), &["env", "CGO_ENABLED=0", &compiler, "build", "-o", "lock", "lock.go"]);
    let sent = sent_from(dir.path(), &[&dir.path().join("lock").display().to_string()]);
    assert_eq!(sent, ["GET from main.release:14 if ask(", "DEL from main.release:15 ask(sto"]);
}

/// Two threads that send and print without a wait: each goes on for so many calls before it is the other's turn.
const THREADS: &str = "import os, socket, threading

def run(name):
    store = socket.create_connection(('store', 6379))
    for nth in range(400):
        store.sendall(b'*1\\r\\n$4\\r\\nPING\\r\\n')
        if nth % 20 == 0:
            os.write(1, b'%s %d\\n' % (name, nth))

threads = [threading.Thread(target=run, args=(name,)) for name in (b'one', b'other')]
for thread in threads: thread.start()
for thread in threads: thread.join()
";

#[test]
fn the_turns_of_threads_are_the_same_with_and_without() {
    let Some(python) = runtime(&["/usr/bin/python3", "python3"]) else { return };
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("threads.py");
    std::fs::write(&file, THREADS).unwrap();
    let sent = sent_from(dir.path(), &[&python, &file.display().to_string()]);
    assert!(!sent.is_empty());
}

/// A program with the probe's way to mislead a reader.
fn misleading(way: u32, flags: &[&str]) -> Option<Compiled> {
    let way = format!("-DWAY={way}");
    Compiled::new("stacks", &[&["-g", "-Wno-unused-result", &way][..], flags].concat())
}

/// The stacks that are read of a program, and what it prints.
fn stacks_of(program: &str) -> (Vec<Vec<Frame>>, Story) {
    let mut setup = setup(&[program], 1);
    setup.stacks = true;
    // Everything but what no source file is.
    setup.sources = vec!["/".into()];
    let mut run = Run::new(Group::start(&setup).expect("start the program"), &[]);
    let mut stacks = Vec::new();
    while run.step() {
        if let Some(Step::At(stack)) = run.last.take() {
            stacks.push(stack);
        }
    }
    (stacks, run.story)
}

#[test]
fn what_a_program_names_is_not_opened() {
    for (way, has_stacks) in [(1, false), (2, false), (3, true), (4, true), (5, true), (6, true)] {
        for flags in [&[][..], &["-static"], &["-fno-asynchronous-unwind-tables", "-Wa,--gdwarf-5"]] {
            let Some(program) = misleading(way, flags) else { return };
            let (stacks, story) = stacks_of(program.path());
            assert_eq!(story.printed(), ["done"], "{way}: {story:#?}");
            assert!(has_stacks || stacks.is_empty(), "{way}: {stacks:#?}");
            let texts = stacks.iter().flatten().filter_map(|frame| frame.text.as_deref());
            assert!(texts.clone().all(|text| !text.contains('\0') && !text.contains("PATH=")), "{stacks:#?}");
        }
    }
}

#[test]
fn a_program_that_only_has_the_name_of_an_interpreter_is_read_with_limits() {
    let dir = tempfile::tempdir().unwrap();
    let huge = "char python_memory[3L << 30];\n#include \"";
    let source = format!("{huge}{}\"\n", probes().join("stacks.c").display());
    std::fs::write(dir.path().join("python.c"), source).unwrap();
    let program = dir.path().join("python3.11");
    let program = program.to_str().unwrap();
    if runtime(&["cc"]).is_none() {
        return;
    }
    built(dir.path(), &["cc", "-g", "-mcmodel=large", "-w", "-DWAY=0", "-o", program, "python.c"]);
    let (stacks, story) = stacks_of(program);
    assert_eq!(story.printed(), ["done"], "{story:#?}");
    assert!(stacks.is_empty(), "{stacks:#?}");
}
