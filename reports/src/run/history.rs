//! A run as a history of its lock: JSON lines that `picklock judge` reads.

use picklock_campaign::story::Story;
use picklock_judge::recorded::{of_run, to_json};

use crate::format::{Format, ReportError};
use crate::page::paint::Style;

pub(super) const FORMAT: Format<Story> = Format {
    name: "history",
    file: "history.jsonl",
    doc: "what clients, stores and resource noted, a JSON object each line; for `picklock judge`",
    render,
};

fn render(story: &Story, _style: &Style) -> Result<String, ReportError> {
    Ok(of_run(&story.trace).iter().map(|line| to_json(line) + "\n").collect())
}
