//! Explorations as JSON: all of them, or the counts alone.

use std::collections::BTreeMap;

use picklock_campaign::explore::{Explored, Kind, Site};
use picklock_model::code::{Location, own};
use serde_json::{Value, json};

use super::explorations::Explorations;
use super::words::words;
use crate::format::{Format, ReportError};
use crate::page::paint::Style;
use crate::story::place::between;

/// Explorations as data.
pub(super) const FORMAT: Format<Explorations> = Format {
    name: "json",
    file: "explored.json",
    doc: "everything, as one JSON object; for scripts",
    render,
};

/// How many of how many sites violate something, as data: what stands beside a matrix.
pub(super) const FIGURES: Format<Explorations> = Format {
    name: "figures",
    file: "figures.json",
    doc: "the counts alone, for `run --explored`",
    render: figures,
};

fn figures(explorations: &Explorations, _style: &Style) -> Result<String, ReportError> {
    let page = |page: &Explored| json!({ "design": page.design, "faults": kinds_json(page) });
    let pages: Vec<Value> = explorations.pages.iter().map(page).collect();
    Ok(serde_json::to_string_pretty(&json!({ "schema": 2, "explored": pages }))? + "\n")
}

fn render(explorations: &Explorations, _style: &Style) -> Result<String, ReportError> {
    let pages: Vec<Value> = explorations.pages.iter().map(page_json).collect();
    Ok(serde_json::to_string_pretty(&json!({ "schema": 2, "explored": pages }))? + "\n")
}

fn kinds_json(page: &Explored) -> Vec<Value> {
    let kind = |kind: &Kind| {
        json!({
            "fault": kind.fault,
            "sites": kind.sites,
            "explored": kind.explored,
            "took_effect": kind.took_effect,
            "violating": kind.violating,
        })
    };
    page.kinds.iter().map(kind).collect()
}

fn page_json(page: &Explored) -> Value {
    let failures = page.failures.iter().map(|way| {
        let mut row = json!({
            "way": words(&way.signature),
            "violated": way.violated,
            "places": way.places.iter().map(place_json).collect::<Vec<_>>(),
        });
        if let Some(code) = way.location.as_ref().and_then(code_json) {
            row["code"] = code;
        }
        row
    });
    let pairs = page.pairs.as_ref().map(|pairs| {
        json!({
            "pairs": pairs.pairs,
            "explored": pairs.explored,
            "violating": pairs.violating,
            "out_of_time": pairs.out_of_time,
            "failures": pairs.failures.iter().map(|way| json!({
                "both": way.both.iter().map(|(fault, host)| json!({ "fault": fault, "host": host })).collect::<Vec<_>>(),
                "violated": way.violated,
                "violating": way.violating,
                "explored": way.explored,
                "first": way.first.iter().map(place_json).collect::<Vec<_>>(),
            })).collect::<Vec<_>>(),
        })
    });
    json!({
        "design": page.design,
        "scenario": page.scenario,
        "seeds": page.seeds.iter().map(|seed| seed.0).collect::<Vec<_>>(),
        "lasts_ns": page.lasts.as_nanos() as u64,
        "partial": page.partial,
        "calm": page.without_fault,
        "holds": page.holds,
        "undecided": page.undecided.iter().cloned().collect::<BTreeMap<String, usize>>(),
        "sites": page.sites(),
        "explored": page.explored(),
        "violating": page.violating(),
        "faults": kinds_json(page),
        "failures": failures.collect::<Vec<_>>(),
        "pairs": pairs,
    })
}

/// The innermost line of the user's source in a stack, and the words of a story for it.
fn code_json(location: &Location) -> Option<Value> {
    let frame = own(&location.stack).next()?;
    Some(json!({
        "file": frame.file,
        "line": frame.line,
        "function": frame.function,
        "words": between(location),
    }))
}

fn place_json(place: &Site) -> Value {
    json!({
        "seed": place.seed.0,
        "fault": place.fault,
        "number": place.number,
        "point": place.point,
    })
}
