//! `picklock list`: what there is. All of it on a screen, by name; a kind, a line for each; one thing, whole.

mod data;
mod entries;
mod listing;

use clap::Args;
use picklock_model::family;
use picklock_model::text::nearest;
use picklock_reports::page::layout::{enumerated, left, wrap};
use picklock_scenarios::faults;
use serde_json::{Map, Value};

use self::entries::Entry;
use self::listing::Listing;
use super::exit::{Exit, Failure};
use super::screen;

#[derive(Args)]
#[command(after_help = "\
Examples:
  picklock list
  picklock list scenarios
  picklock list scenarios pause
  picklock list invariants I2")]
pub(crate) struct ListArgs {
    /// The kind of entries to list, one on each line; the names of everything if absent
    #[arg(value_enum)]
    pub(crate) what: Option<Listing>,
    /// One of them by its name (or number), shown whole
    pub(crate) name: Option<String>,
    /// As one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

const ALL: [Listing; 6] = [
    Listing::Designs,
    Listing::Bugs,
    Listing::Scenarios,
    Listing::Faults,
    Listing::Invariants,
    Listing::Formats,
];

/// At most so many lines show all that there is.
const SCREEN: usize = 40;

pub(crate) fn list(args: &ListArgs) -> Result<Exit, Failure> {
    let columns = screen::columns();
    let text = match (args.what, args.name.as_deref()) {
        (Some(listing), Some(name)) => {
            let entry = find(listing, name)?;
            if args.json { json(&[listing], Some(&entry.name)) } else { whole(&entry, columns) }
        }
        (Some(listing), None) if args.json => json(&[listing], None),
        (Some(listing), None) => lines(listing, columns),
        (None, _) if args.json => json(&ALL, None),
        (None, _) => overview(columns),
    };
    screen::print(&text)?;
    Ok(Exit::Expected)
}

fn name(listing: Listing) -> &'static str {
    match listing {
        Listing::Designs => "designs",
        Listing::Bugs => "bugs",
        Listing::Scenarios => "scenarios",
        Listing::Faults => "faults",
        Listing::Invariants => "invariants",
        Listing::Formats => "formats",
    }
}

/// The entry of this name or number. A design may be spelled with its parameters, and a fault goes by any of its names.
fn find(listing: Listing, wanted: &str) -> Result<Entry, Failure> {
    let plain = match (listing, faults::find(wanted)) {
        (Listing::Faults, Ok(fault)) => fault.name,
        _ => family::name_of(wanted),
    };
    let is = |entry: &Entry| {
        entry.name == plain || entry.number.is_some_and(|number| number.eq_ignore_ascii_case(plain))
    };
    let mut all = entries::entries(listing);
    all.extend(entries::unlisted(listing));
    if let Some(at) = all.iter().position(is) {
        return Ok(all.swap_remove(at));
    }
    let kind = name(listing).trim_end_matches('s');
    let near = near(plain, &all);
    let hint = if near.is_empty() { String::new() } else { format!(" (did you mean {near}?)") };
    let all = format!("`picklock list {}` shows them all", name(listing));
    Err(Failure::Input(format!("there is no {kind} `{wanted}`{hint}; {all}")))
}

/// The names that were probably meant: the one that is nearest, and some that hold what was typed.
fn near(wanted: &str, all: &[Entry]) -> String {
    const MOST: usize = 4;
    let names = || all.iter().map(|entry| entry.name.as_str());
    let mut near: Vec<&str> = nearest(wanted, names()).into_iter().collect();
    let alike = |name: &&str| name.contains(wanted) && !wanted.is_empty();
    for name in names().filter(alike) {
        if near.len() < MOST && !near.contains(&name) {
            near.push(name);
        }
    }
    let quoted: Vec<String> = near.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}

/// The names of everything, by kind.
fn overview(columns: usize) -> String {
    let names: Vec<Vec<String>> = (ALL.iter())
        .map(|listing| entries::entries(*listing).into_iter().map(|entry| entry.name).collect())
        .collect();
    let with = |most: usize| -> String {
        let mut page = String::new();
        for (listing, names) in ALL.iter().zip(&names) {
            page.push_str(&format!("{} ({})\n", name(*listing), names.len()));
            for line in cut_to(most, names, columns.saturating_sub(2)) {
                page.push_str(&format!("  {line}\n"));
            }
        }
        page.push_str("\na line for each: picklock list designs; one, whole: picklock list designs single\n");
        page
    };
    // Of the longest lists the end is left out, until all kinds fit on the screen.
    let pages = (1..SCREEN).rev().map(with);
    pages.into_iter().find(|page| page.lines().count() <= SCREEN).unwrap_or_else(|| with(1))
}

/// The names in at most so many lines, and how many more there are.
fn cut_to(most: usize, names: &[String], columns: usize) -> Vec<String> {
    let with = |count: usize| {
        let mut shown = names[..count].to_vec();
        if count < names.len() {
            shown.push(format!("and {} more", names.len() - count));
        }
        enumerated(&shown, columns)
    };
    (0..=names.len()).rev().map(with).find(|lines| lines.len() <= most).unwrap_or_else(|| with(0))
}

/// A kind, a line for each of its entries.
fn lines(listing: Listing, columns: usize) -> String {
    let entries = entries::entries(listing);
    let column = entries.iter().map(|entry| entry.name.len()).max().unwrap_or(0);
    let number = entries.iter().filter_map(|entry| entry.number).map(str::len).max();
    let mut page = format!("{}:\n", name(listing));
    for entry in &entries {
        let number = number.map(|most| left(entry.number.unwrap_or(""), most + 2)).unwrap_or_default();
        let line = format!("  {}  {number}{}", left(&entry.name, column), entry.claim);
        page.push_str(&format!("{}\n", on_one_line(&line, columns)));
    }
    page.push_str(&format!(
        "\none of them, whole: picklock list {} {}\n",
        name(listing),
        entries.first().map_or("NAME", |entry| &entry.name)
    ));
    page
}

/// The line, or as many of its words as fit, with a sign that there are more.
fn on_one_line(line: &str, columns: usize) -> String {
    if line.chars().count() <= columns {
        return line.to_owned();
    }
    let cut: String = line.chars().take(columns.saturating_sub(1)).collect();
    // The end of a word, unless that would take away more than a long word.
    let end = cut.rfind(' ').filter(|end| cut.len() - end < 24).unwrap_or(cut.len());
    format!("{}…", cut[..end].trim_end_matches([',', ':', ';', ' ']))
}

/// One entry with all that is known of it.
fn whole(entry: &Entry, columns: usize) -> String {
    let number = entry.number.map(|number| format!(" ({number})")).unwrap_or_default();
    let mut page = format!("{}{number}\n", entry.name);
    let mut paragraph = |text: &str, further: &str| {
        // Commands are there to be copied, and stay whole.
        let columns = if text.starts_with("picklock ") { usize::MAX } else { columns.saturating_sub(6) };
        for (at, line) in wrap(text, columns).iter().enumerate() {
            page.push_str(&format!("  {}{line}\n", if at == 0 { "" } else { further }));
        }
    };
    paragraph(&entry.claim, "");
    for line in &entry.lines {
        paragraph(line, "    ");
    }
    page
}

fn json(listings: &[Listing], only: Option<&str>) -> String {
    let parts: Map<String, Value> = (listings.iter())
        .map(|listing| {
            let mut all = data::as_json(*listing);
            if let (Some(only), Value::Array(all)) = (only, &mut all) {
                all.retain(|entry| entry["name"] == only);
            }
            (name(*listing).to_owned(), all)
        })
        .collect();
    format!("{:#}\n", Value::Object(parts))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_list_is_cut_to_its_lines_and_says_how_much_is_left_out() {
        let names: Vec<String> = (0..50).map(|nth| format!("name-{nth}")).collect();
        let lines = cut_to(2, &names, 40);
        assert_eq!(lines.len(), 2);
        assert!(lines[1].ends_with("and 42 more"), "{lines:?}");
        assert_eq!(cut_to(2, &names[..2], 40), ["name-0, name-1"]);
    }

    #[test]
    fn a_line_that_does_not_fit_ends_after_a_word() {
        assert_eq!(on_one_line("a lock, on one node", 19), "a lock, on one node");
        assert_eq!(on_one_line("a lock, on one node", 18), "a lock, on one…");
        assert_eq!(on_one_line("a lock, on one node", 9), "a lock…");
    }
}
