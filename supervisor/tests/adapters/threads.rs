//! Threads, channels and a condition variable of the standard library, and a lock by hand.
use std::{
    io::{BufRead, BufReader, Write, stdin},
    net::TcpStream,
    sync::{Arc, Condvar, Mutex, mpsc},
    thread,
    time::{Duration, Instant},
};

fn main() {
    let (ask, asked) = mpsc::channel::<Vec<String>>();
    let answer = Arc::new((Mutex::new(None::<String>), Condvar::new()));
    let theirs = Arc::clone(&answer);
    thread::spawn(move || {
        let mut conn = TcpStream::connect("store:6379").unwrap();
        let mut lines = BufReader::new(conn.try_clone().unwrap());
        for words in asked {
            let mut text = format!("*{}\r\n", words.len());
            words.iter().for_each(|word| text += &format!("${}\r\n{word}\r\n", word.len()));
            conn.write_all(text.as_bytes()).unwrap();
            let mut line = String::new();
            lines.read_line(&mut line).unwrap();
            *theirs.0.lock().unwrap() = Some(line.trim().to_owned());
            theirs.1.notify_all();
        }
    });
    let call = |words: &[&str]| {
        ask.send(words.iter().map(|word| (*word).to_owned()).collect()).unwrap();
        let mut line = answer.0.lock().unwrap();
        loop {
            if let Some(line) = line.take() {
                return line;
            }
            line = answer.1.wait_timeout(line, Duration::from_secs(10)).unwrap().0;
        }
    };
    let mut number = 0;
    for line in stdin().lines().map_while(Result::ok) {
        let words: Vec<&str> = line.split(' ').collect();
        if words[0] == "release" {
            println!("released {}", call(&["EVAL", "release", "1", words[1], "token-1"]));
            continue;
        }
        number += 1;
        let end = Instant::now() + Duration::from_millis(words[2].parse().unwrap());
        let token = format!("token-{number}");
        let answer = loop {
            if call(&["SET", words[1], &token, "NX", "PX", "1000"]) == "+OK" {
                break "granted";
            }
            if Instant::now() > end {
                break "refused";
            }
            thread::sleep(Duration::from_millis(50));
        };
        println!("{answer}");
    }
}
