//! A browser without a window, driven over the pipe of its DevTools protocol: JSON messages, each ended by a zero byte.
//!
//! A shell lays the pipe to the numbers that Chromium expects (3 and 4), so nothing else is needed. Only what the tests use is here.
//! <https://chromedevtools.github.io/devtools-protocol/>

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

/// Ends a browser that hangs, and with it the test.
const SECONDS: &str = "180";
const LAY_PIPE: &str =
    r#"exec timeout -s KILL "$0" chromium "$@" 3<&0 4>&1 0</dev/null 1>/dev/null 2>/dev/null"#;
const ARGS: [&str; 6] = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--remote-debugging-pipe",
    "--no-first-run",
];

/// A browser with one page.
pub(crate) struct Browser {
    process: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    calls: u64,
    session: Option<String>,
    /// The events that no call has waited for.
    events: Vec<Value>,
}

impl Browser {
    /// Starts one; `None` where no Chromium is installed.
    pub(crate) fn start(profile: &Path) -> Option<Browser> {
        Command::new("chromium").arg("--version").output().ok().filter(|ended| ended.status.success())?;
        let mut process = Command::new("sh")
            .args(["-c", LAY_PIPE, SECONDS])
            .args(ARGS)
            .arg(format!("--user-data-dir={}", profile.display()))
            .arg("about:blank")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (to, from) = (process.stdin.take().unwrap(), process.stdout.take().unwrap());
        let from = BufReader::new(from);
        let mut browser = Browser { process, to, from, calls: 0, session: None, events: Vec::new() };
        let target = browser.call("Target.createTarget", json!({ "url": "about:blank" }));
        let attached = json!({ "targetId": target["targetId"], "flatten": true });
        let session = browser.call("Target.attachToTarget", attached);
        browser.session = session["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page", "Runtime", "Log"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        Some(browser)
    }

    /// Opens a file in a window of this width, in light or dark.
    pub(crate) fn open(&mut self, file: &Path, width: u32, scheme: &str) {
        let window = json!({ "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false });
        self.call("Emulation.setDeviceMetricsOverride", window);
        let scheme = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
        self.call("Emulation.setEmulatedMedia", scheme);
        for url in ["about:blank".to_owned(), format!("file://{}", file.display())] {
            self.call("Page.navigate", json!({ "url": url }));
            self.wait_for("Page.loadEventFired");
        }
    }

    /// The value of an expression on the page.
    pub(crate) fn ask(&mut self, expression: &str) -> Value {
        let asked = json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let answer = self.call("Runtime.evaluate", asked);
        assert!(answer.get("exceptionDetails").is_none(), "{expression}: {answer:#}");
        answer["result"]["value"].clone()
    }

    /// Presses a key.
    pub(crate) fn press(&mut self, key: &str) {
        let code = match key {
            "Tab" => 9,
            "Enter" => 13,
            "ArrowUp" => 38,
            "ArrowDown" => 40,
            "ArrowRight" => 39,
            _ => 0,
        };
        for kind in ["rawKeyDown", "char", "keyUp"] {
            let text = if key == "Enter" && kind == "char" { "\r" } else { "" };
            if kind == "char" && text.is_empty() {
                continue;
            }
            let pressed =
                json!({ "type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code, "text": text });
            self.call("Input.dispatchKeyEvent", pressed);
        }
    }

    /// The entries of the page's console and log, and its exceptions.
    pub(crate) fn errors(&self) -> Vec<&Value> {
        let such = ["Log.entryAdded", "Runtime.exceptionThrown", "Runtime.consoleAPICalled"];
        self.events.iter().filter(|event| such.iter().any(|name| event["method"] == *name)).collect()
    }

    fn call(&mut self, method: &str, params: Value) -> Value {
        self.calls += 1;
        let mut call = json!({ "id": self.calls, "method": method, "params": params });
        if let Some(session) = &self.session {
            call["sessionId"] = json!(session);
        }
        self.to.write_all(call.to_string().as_bytes()).unwrap();
        self.to.write_all(&[0]).unwrap();
        self.to.flush().unwrap();
        loop {
            let message = self.message();
            if message["id"] == self.calls {
                assert!(message.get("error").is_none(), "{method}: {message:#}");
                return message["result"].clone();
            }
            self.events.push(message);
        }
    }

    /// Waits until this has happened.
    pub(crate) fn wait_for(&mut self, method: &str) {
        loop {
            if let Some(at) = self.events.iter().position(|event| event["method"] == method) {
                self.events.remove(at);
                return;
            }
            let message = self.message();
            self.events.push(message);
        }
    }

    fn message(&mut self) -> Value {
        let mut message = Vec::new();
        self.from.read_until(0, &mut message).unwrap();
        message.pop().expect("the browser goes on until the test is over");
        serde_json::from_slice(&message).unwrap()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // It may be gone already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
