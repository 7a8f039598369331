//! A page of the guide, taken apart into what it has its reader do.
//!
//! A block marked `console` holds commands after `$ ` and what they print; each line of one marked `sh` is a command, unless the
//! line before it ends in a backslash; one marked `toml` that begins with the comment `# NAME.toml` is that file. In the text, what
//! stands between backticks and begins with `picklock` is a command, too.

/// A task that a page gives its reader.
#[derive(Debug, PartialEq)]
pub(crate) enum Step {
    /// Writes a file.
    File { name: String, text: String },
    /// Runs a command and sees so much of its output.
    Shown(Shown),
    /// Runs a command whose output is not shown.
    Command(String),
    /// Reads of a command.
    Mention(String),
}

/// A command and what a page shows of its output.
#[derive(Debug, PartialEq)]
pub(crate) struct Shown {
    pub(crate) command: String,
    pub(crate) lines: Vec<String>,
}

/// The steps of a page, in their order. An error is a command that stands where it would not be found.
pub(crate) fn steps(page: &str) -> Result<Vec<Step>, String> {
    let (mut steps, mut text) = (Vec::new(), String::new());
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        let Some(language) = line.strip_prefix("```") else {
            if line.starts_with("    picklock ") {
                return Err(format!("a command stands outside of a block: {line}"));
            }
            if line.is_empty() {
                steps.extend(mentions(&std::mem::take(&mut text)));
            } else {
                text.push_str(line);
                text.push(' ');
            }
            continue;
        };
        steps.extend(mentions(&std::mem::take(&mut text)));
        let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        match language {
            "console" => steps.extend(shown(&block).into_iter().map(Step::Shown)),
            "sh" => steps.extend(commands(&block).into_iter().map(Step::Command)),
            "toml" => steps.extend(file(&block)),
            _ => {
                if let Some(line) = block.iter().find(|line| is_command(line)) {
                    return Err(format!("a command stands in a block marked `{language}`: {line}"));
                }
            }
        }
    }
    steps.extend(mentions(&text));
    Ok(steps)
}

/// The lines of the blocks in this language.
pub(crate) fn blocks(page: &str, language: &str) -> Vec<Vec<String>> {
    let mut lines = page.lines();
    let mut all = Vec::new();
    while let Some(line) = lines.next() {
        if let Some(of) = line.strip_prefix("```") {
            let block = lines.by_ref().take_while(|line| *line != "```").map(str::to_owned).collect();
            if of == language {
                all.push(block);
            }
        }
    }
    all
}

/// The difference between the output and the page: the first line that was not printed.
pub(crate) fn missing<'a>(shown: &'a Shown, printed: &str) -> Option<&'a str> {
    let mut printed = printed.lines().map(str::trim_end);
    let mut anywhere = false;
    for line in shown.lines.iter().map(String::as_str) {
        let found = match line {
            "..." => {
                anywhere = true;
                continue;
            }
            line if anywhere => printed.any(|other| other == line),
            line => printed.next() == Some(line),
        };
        if !found {
            return Some(line);
        }
        anywhere = false;
    }
    None
}

/// What a page shows, with the figures of this output; `None` where the output has other words. A shown line is renewed by the next printed line
/// that differs in its digits and spaces alone, and by the very next line if nothing may stand between.
pub(crate) fn renewed(shown: &Shown, printed: &str) -> Option<Vec<String>> {
    let mut printed = printed.lines().map(str::trim_end);
    let (mut lines, mut anywhere) = (Vec::new(), false);
    for line in shown.lines.iter().map(String::as_str) {
        if line == "..." {
            anywhere = true;
            lines.push(line.to_owned());
            continue;
        }
        let found = if anywhere {
            let is_there = printed.clone().any(|other| other == line);
            printed
                .find(|other| if is_there { *other == line } else { words_alone(other) == words_alone(line) })
        } else {
            printed.next()
        };
        lines.push(found?.to_owned());
        anywhere = false;
    }
    Some(lines)
}

/// A line without its digits and spaces.
fn words_alone(line: &str) -> String {
    line.chars().filter(|c| !c.is_ascii_digit() && !c.is_whitespace()).collect()
}

fn is_command(line: &str) -> bool {
    ["$ ", "picklock ", "cargo "].iter().any(|start| line.starts_with(start))
}

fn shown(block: &[&str]) -> Vec<Shown> {
    let mut all: Vec<Shown> = Vec::new();
    for line in block {
        if let Some(command) = line.strip_prefix("$ ") {
            all.push(Shown { command: command.to_owned(), lines: Vec::new() });
        } else if let Some(last) = all.last_mut() {
            last.lines.push(line.trim_end().to_owned());
        }
    }
    all
}

fn commands(block: &[&str]) -> Vec<String> {
    block.join("\n").replace("\\\n", " ").lines().map(str::to_owned).collect()
}

fn file(block: &[&str]) -> Option<Step> {
    let name = block.first()?.strip_prefix("# ").filter(|name| name.ends_with(".toml"))?;
    Some(Step::File { name: name.to_owned(), text: block.join("\n") })
}

fn mentions(text: &str) -> Vec<Step> {
    let code = text.split('`').skip(1).step_by(2);
    code.filter(|code| code.starts_with("picklock ")).map(|code| Step::Mention(code.to_owned())).collect()
}
