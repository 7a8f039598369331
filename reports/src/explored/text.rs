//! Explorations for a terminal.

use std::fmt::Write as _;

use picklock_campaign::campaign::quoted;
use picklock_campaign::explore::{Explored, Failures, PairFailures, Pairs, Site};

use super::explorations::Explorations;
use super::words::{step, whom};
use crate::format::{Format, ReportError};
use crate::page::layout::{left, paragraph, right};
use crate::page::numbers::{plural, span};
use crate::page::paint::{Ink, Style};
use crate::story::place::between;

/// Explorations for people.
pub(super) const FORMAT: Format<Explorations> = Format {
    name: "text",
    file: "explored.txt",
    doc: "the sites that were tried, and each failure with the line that replays it",
    render,
};

/// So many sites of a way are named, unless all are asked for.
const NAMED: usize = 2;

fn render(explorations: &Explorations, style: &Style) -> Result<String, ReportError> {
    let Explorations { pages, args, verbose } = explorations;
    Ok(pages.iter().map(|page| one(page, style, *verbose, args)).collect::<Vec<_>>().join("\n"))
}

fn one(page: &Explored, style: &Style, verbose: bool, args: &str) -> String {
    let columns = style.columns();
    let mut out = String::new();
    let title = format!("{} under {}, faults of {}", page.design, page.scenario, span(page.lasts));
    let _ = writeln!(out, "{}\n", style.paint(Ink::Head, &title));
    out.push_str(&paragraph(&format!("{}.", result(page)), 0, columns));
    if !page.without_fault.is_empty() {
        let already = format!(
            "Without a fault it violates {} already; that is left out.",
            page.without_fault.join(", ")
        );
        out.push_str(&paragraph(&already, 0, columns));
    }
    if !page.holds.is_empty() {
        let never = format!("Held at each explored site: {}.", page.holds.join(", "));
        out.push_str(&paragraph(&never, 0, columns));
    }
    if !page.undecided.is_empty() {
        let each = page
            .undecided
            .iter()
            .map(|(name, sites)| format!("{name} at {sites} {}", plural(*sites as u64, "site")));
        let open = format!("Undecided: {}.", each.collect::<Vec<_>>().join(", "));
        out.push_str(&paragraph(&open, 0, columns));
    }
    let _ = writeln!(
        out,
        "\n{}{}{}{}",
        left("fault", 14),
        right("sites", 10),
        right("took effect", 13),
        right("violate", 9)
    );
    for kind in &page.kinds {
        let explored = if kind.explored == kind.sites {
            kind.sites.to_string()
        } else {
            format!("{}/{}", kind.explored, kind.sites)
        };
        let violating = right(&kind.violating.to_string(), 9);
        let ink = if kind.violating > 0 { Ink::First } else { Ink::Plain };
        let figures = format!("{}{}", right(&explored, 10), right(&kind.took_effect.to_string(), 13));
        let _ = writeln!(out, "{}{figures}{}", left(kind.fault, 14), style.paint(ink, &violating));
    }
    if !page.failures.is_empty() {
        let _ = writeln!(out, "\n{}", style.paint(Ink::Head, "what breaks"));
        let mut groups: Vec<Vec<Failures>> = Vec::new();
        for failure in &page.failures {
            match groups.iter_mut().find(|group| alike(&group[0], failure)) {
                Some(group) => group.push(failure.clone()),
                None => groups.push(vec![failure.clone()]),
            }
        }
        groups.iter().for_each(|group| out.push_str(&failure_lines(group, page, style, verbose, args)));
    }
    if let Some(pairs) = &page.pairs {
        out.push_str(&pair_lines(pairs, page, style, args));
    }
    out
}

/// The extent and the result of an exploration, in one sentence.
fn result(page: &Explored) -> String {
    let (workloads, failures) = (page.seeds.len() as u64, page.failures.len() as u64);
    let violating = match page.violating() as u64 {
        0 => "none violates anything".to_owned(),
        1 => "1 violates something".to_owned(),
        many => format!("{many} violate, in {failures} {}", plural(failures, "group")),
    };
    format!(
        "{} of {} single sites explored at {workloads} {}, {violating}",
        page.explored(),
        page.sites(),
        plural(workloads, "workload")
    )
}

/// Failures that differ in the step alone stand together, under what hits whom: those at one line of a program under this line, and one
/// line for each step.
fn failure_lines(failures: &[Failures], page: &Explored, style: &Style, verbose: bool, args: &str) -> String {
    let columns = style.columns();
    let Some(first) = failures.first() else { return String::new() };
    let mut out =
        paragraph(&format!("{}: {}", whom(&first.signature), first.violated.join(", ")), 2, columns);
    let mut lines: Vec<(Option<String>, Vec<&Failures>)> = Vec::new();
    for failure in failures {
        let line = failure.location.as_ref().and_then(between);
        match lines.iter_mut().find(|(known, _)| *known == line) {
            Some((_, steps)) => steps.push(failure),
            None => lines.push((line, vec![failure])),
        }
    }
    for (line, steps) in lines {
        let indent = if line.is_some() { 6 } else { 4 };
        line.iter().for_each(|line| out.push_str(&paragraph(line, 4, columns)));
        steps.iter().for_each(|step| out.push_str(&paragraph(&sites(step, page, verbose), indent, columns)));
    }
    if let Some(place) = first.places.first() {
        let _ = writeln!(
            out,
            "    {}",
            style.paint(Ink::First, &self::line(page, std::slice::from_ref(place), args))
        );
    }
    out
}

/// The sites of a step by name, the first ones or all.
fn sites(failure: &Failures, page: &Explored, verbose: bool) -> String {
    let count = if verbose { failure.places.len() } else { NAMED };
    let named: Vec<String> = failure.places.iter().take(count).map(|place| name(place, page)).collect();
    let more = match failure.places.len().saturating_sub(count) {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    format!("{}: {}{more}", step(&failure.signature), named.join(", "))
}

fn alike(one: &Failures, other: &Failures) -> bool {
    whom(&one.signature) == whom(&other.signature) && one.violated == other.violated
}

fn pair_lines(pairs: &Pairs, page: &Explored, style: &Style, args: &str) -> String {
    let columns = style.columns();
    let mut out = format!("\n{}\n", style.paint(Ink::Head, "pairs"));
    let left_out = match pairs.pairs - pairs.explored {
        0 => "none is left out".to_owned(),
        rest if pairs.out_of_time => format!("{rest} are left out, because the time was up"),
        rest => format!("{rest} are left out"),
    };
    let sum = format!(
        "{} of {} pairs of sites that are harmless alone explored, {} {}; {left_out}.",
        pairs.explored,
        pairs.pairs,
        pairs.violating,
        if pairs.violating == 1 { "violates" } else { "violate" },
    );
    out.push_str(&paragraph(&sum, 0, columns));
    for failure in &pairs.failures {
        out.push_str(&paragraph(&pair_words(failure), 2, columns));
        let _ = writeln!(out, "    {}", style.paint(Ink::First, &line(page, &failure.first, args)));
    }
    out
}

fn pair_words(failure: &PairFailures) -> String {
    let [(one, here), (other, there)] = &failure.both;
    format!(
        "{one} of {here} and {other} of {there}: {} of {} pairs violate {}",
        failure.violating,
        failure.explored,
        failure.violated.join(", ")
    )
}

/// A site by its number, its host and its section.
fn name(place: &Site, page: &Explored) -> String {
    let seed = if page.seeds.len() > 1 { format!(", seed {}", place.seed.0) } else { String::new() };
    let section = match place.point.section {
        0 => String::new(),
        section => format!(" section {section}"),
    };
    format!("{}:{} ({}{section}{seed})", place.fault, place.number, place.point.host)
}

/// The line that makes the run with these hits.
fn line(page: &Explored, places: &[Site], args: &str) -> String {
    let mut line = format!(
        "picklock explore --design {} --scenario {}{args}",
        quoted(&page.design),
        quoted(&page.scenario)
    );
    if let Some(seed) = places.first().map(|place| place.seed.0).filter(|seed| *seed > 0) {
        let _ = write!(line, " --seeds {seed}..{}", seed + 1);
    }
    for place in places {
        let _ = write!(line, " --place {}:{}", place.fault, place.number);
    }
    line
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use picklock_campaign::explore::Signature;
    use picklock_model::code::{Frame, Location};
    use picklock_model::plan::{Access, Edge, Phase, Point};
    use picklock_model::seed::Seed;
    use picklock_model::trace::Role;

    use super::*;

    /// One site of a pause before such an access in the release, at this line of a program if it is known.
    fn failure(number: usize, access: Access, line: Option<u32>) -> Failures {
        let point = Point {
            host: "client-1".into(),
            section: 1,
            phase: Phase::Release,
            access,
            peer: "".into(),
            edge: Edge::Before,
            nth: 0,
        };
        let signature = Signature {
            fault: "pause".to_owned(),
            backwards: None,
            role: Role::Client,
            phase: Phase::Release,
            access,
            peer: None,
            edge: Edge::Before,
        };
        let frame = |line| Frame {
            function: "release".to_owned(),
            file: "/home/me/lock.py".to_owned(),
            line,
            text: Some("r.delete(key)".to_owned()),
            library: false,
        };
        let location =
            line.map(|line| Location { stack: Arc::from([frame(line)]), before: None, after: None });
        let places = vec![Site { seed: Seed(0), fault: "pause", number, point }];
        Failures { signature, violated: vec!["ownership".to_owned()], places, location }
    }

    fn page(failures: Vec<Failures>) -> Explored {
        Explored {
            design: "mine".to_owned(),
            scenario: "calm".to_owned(),
            seeds: vec![Seed(0)],
            lasts: Duration::from_secs(1),
            without_fault: Vec::new(),
            holds: Vec::new(),
            undecided: Vec::new(),
            kinds: Vec::new(),
            failures,
            pairs: None,
            partial: false,
        }
    }

    #[test]
    fn steps_at_one_line_of_a_program_stand_under_it() {
        let failures = vec![
            failure(1, Access::Sends, Some(12)),
            failure(2, Access::Clock, None),
            failure(3, Access::Waits, Some(12)),
            failure(4, Access::Prints, Some(13)),
        ];
        let text = one(&page(failures), &Style { width: 100, colour: false }, false, "");
        let broken = text.split_once("what breaks\n").unwrap().1;
        assert_eq!(
            broken,
            "  pause of a client while it releases: ownership\n    \
             in lock.py:12 `r.delete(key)`\n      \
             before its program sends: pause:1 (client-1 section 1)\n      \
             before its program waits for something to happen: pause:3 (client-1 section 1)\n    \
             before it reads a clock: pause:2 (client-1 section 1)\n    \
             in lock.py:13 `r.delete(key)`\n      \
             before its program prints a line: pause:4 (client-1 section 1)\n    \
             picklock explore --design mine --scenario calm --place pause:1\n"
        );
    }
}
