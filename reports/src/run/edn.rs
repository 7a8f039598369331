//! A run as a history in the manner of Jepsen, for its checkers and for `picklock judge`.

use std::collections::BTreeMap;

use picklock_campaign::story::Story;
use picklock_judge::recorded::{Operation, of_run, to_edn};

use crate::format::{Format, ReportError};
use crate::page::paint::Style;

pub(super) const FORMAT: Format<Story> = Format {
    name: "edn",
    file: "history.edn",
    doc: "the same in EDN, as Jepsen writes histories; for its checkers",
    render,
};

fn render(story: &Story, _style: &Style) -> Result<String, ReportError> {
    // Jepsen's processes are numbered across hosts.
    let mut numbers = BTreeMap::new();
    let mut page = String::new();
    for (index, line) in of_run(&story.trace).iter().enumerate() {
        let process =
            line.process.as_ref().filter(|_| line.operation != Some(Operation::Crash)).map(|process| {
                let next = numbers.len();
                *numbers.entry((line.host.clone(), process.clone())).or_insert(next)
            });
        page.push_str(&to_edn(line, index, process));
        page.push('\n');
    }
    Ok(page)
}
