//! The explanation of the names on a page: each design, each scenario with its lease and its faults, and who made the page.

use maud::{Markup, html};
use picklock_campaign::about::{About, AboutFault, AboutScenario};
use picklock_model::span::Span;

use crate::page::layout::{distinct, printable};

/// All designs and scenarios of a page.
pub(super) fn all<'a>(about: &About, designs: impl Iterator<Item = &'a str>) -> Markup {
    let designs = distinct(designs);
    let known =
        designs.iter().filter(|name| about.designs.get(**name).is_some_and(|claim| !claim.is_empty()));
    html! {
        h2 id="names" { "What the names mean" }
        @if designs.iter().any(|name| about.designs.contains_key(*name)) {
            h3 { "Designs" }
            dl.about {
                @for name in known { dt { (printable(name)) } dd { (claim(about, name)) } }
            }
        }
        @if !about.scenarios.is_empty() {
            h3 { "Scenarios" }
            dl.about {
                @for (name, scenario) in &about.scenarios {
                    dt { (printable(name)) }
                    dd { (sentence(&scenario.summary)) " " (faults(scenario)) }
                }
            }
        }
    }
}

/// The claim of a design, and the libraries that implement it.
pub(super) fn claim(about: &About, design: &str) -> Markup {
    let libraries: Vec<&str> =
        about.libraries.iter().filter(|(_, of)| of == design).map(|(library, _)| library.as_str()).collect();
    html! {
        @if let Some(claim) = about.designs.get(design).filter(|claim| !claim.is_empty()) { "Claim: " (printable(claim.trim_end_matches('.'))) "." }
        @if !libraries.is_empty() { " Implemented by: " (printable(&libraries.join(", "))) "." }
    }
}

/// The description of a scenario, its lease, and how long its faults last.
pub(super) fn scenario(about: &About, name: &str) -> Markup {
    html! {
        @if let Some(scenario) = about.scenarios.get(name) {
            (sentence(&scenario.summary)) " The lease is " (Span::Fixed(scenario.lease)) ". " (faults(scenario))
        }
    }
}

/// The leases of the scenarios, if they are few, and the version that made the runs.
pub(super) fn made(about: &About) -> String {
    let mut leases: Vec<String> =
        about.scenarios.values().map(|scenario| Span::Fixed(scenario.lease).to_string()).collect();
    leases.sort_unstable();
    leases.dedup();
    let lease = match leases.as_slice() {
        [lease] => format!(" The lease is {lease}."),
        _ => String::new(),
    };
    let version = if about.version.is_empty() { env!("CARGO_PKG_VERSION") } else { &about.version };
    format!("{lease} Made by picklock {version}.")
}

fn faults(scenario: &AboutScenario) -> String {
    let fault = |fault: &AboutFault| {
        let extent =
            if fault.extent.is_empty() { String::new() } else { format!(", {}", fault.extent.join(", ")) };
        format!("{} ({}){extent}", fault.name, fault.doc)
    };
    let faults: Vec<String> = scenario.faults.iter().map(fault).collect();
    match faults.as_slice() {
        [] => "No fault is injected.".to_owned(),
        [one] => printable(&format!("Fault: {one}.")).into_owned(),
        many => printable(&format!("Faults: {}.", many.join("; "))).into_owned(),
    }
}

/// Words as a sentence. A first word of code, such as `pg_advisory_lock`, stays as it is.
pub(super) fn sentence(text: &str) -> String {
    let text = printable(text);
    let first = text.split(' ').next().unwrap_or_default();
    if first.contains(|c: char| !c.is_alphabetic() && !matches!(c, '-' | '\'' | ',' | ':' | ';')) {
        return format!("{}.", text.trim_end_matches('.'));
    }
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", letters.as_str().trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_of_code_keeps_its_letters() {
        assert_eq!(sentence("one client stops"), "One client stops.");
        assert_eq!(sentence("pg_advisory_lock: one holder."), "pg_advisory_lock: one holder.");
    }
}
