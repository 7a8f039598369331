//! Colours of drawings for every program that shows SVG.
//!
//! The styles of a drawing are written once, as a style sheet with variables, which follow the dark mode of a browser. Many programs
//! know less: librsvg has no variables, and wikis and converters drop the whole sheet. So each declaration with a variable has one
//! with the literal colour before it ([`with_fallbacks`]), and a file of its own has the same as attributes of its elements
//! ([`with_attributes`]), which a sheet overrides where it is understood.
//!
//! Of CSS it knows what the sheets here use: types, classes, identifiers and descendants. Rules under conditions (`@media`) and
//! with other selectors are for browsers alone.

use std::collections::BTreeMap;

/// The sheet, with the literal value before each declaration that uses a variable.
#[must_use]
pub fn with_fallbacks(sheet: &str) -> String {
    let variables = variables(sheet);
    let mut page = String::with_capacity(sheet.len() * 2);
    let mut rest = sheet;
    while let Some(end) = rest.find(['{', ';', '}']) {
        let (declaration, mark) = (&rest[..end], &rest[end..=end]);
        if mark != "{"
            && let Some(literal) = literal(declaration, &variables)
            && !declaration.trim_start().starts_with("--")
        {
            page.push_str(&literal);
            page.push(';');
        }
        page.push_str(declaration);
        page.push_str(mark);
        rest = &rest[end + 1..];
    }
    page + rest
}

/// The drawing, whose elements have what the sheet says of them as attributes. It is one that was written here: an attribute holds no
/// `>`, and text no `<`.
#[must_use]
pub fn with_attributes(drawing: &str, sheet: &str) -> String {
    let rules = rules(sheet);
    let mut page = String::with_capacity(drawing.len() * 2);
    let mut open: Vec<Element<'_>> = Vec::new();
    let mut rest = drawing;
    while let Some(start) = rest.find('<') {
        let end = rest[start..].find('>').map_or(rest.len() - 1, |end| start + end);
        page.push_str(&rest[..start]);
        let tag = &rest[start + 1..end];
        rest = &rest[end + 1..];
        if tag.starts_with('/') {
            open.pop();
            page.push_str(&format!("<{tag}>"));
            continue;
        }
        let (tag, closed) = tag.strip_suffix('/').map_or((tag, ""), |tag| (tag, "/"));
        open.push(Element::of(tag));
        page.push_str(&format!("<{tag}{}{closed}>", attributes(&open, &rules)));
        if !closed.is_empty() {
            open.pop();
        }
    }
    page + rest
}

/// An element, as selectors see it.
#[derive(Clone, Copy)]
struct Element<'a> {
    tag: &'a str,
    whole: &'a str,
    class: &'a str,
    id: &'a str,
}

impl<'a> Element<'a> {
    fn of(tag: &'a str) -> Element<'a> {
        let value = |name: &str| {
            let from = tag.split_once(&format!(" {name}=\"")).map(|(_, from)| from);
            from.and_then(|from| from.split('"').next()).unwrap_or("")
        };
        let name = tag.split_ascii_whitespace().next().unwrap_or("");
        Element { tag: name, whole: tag, class: value("class"), id: value("id") }
    }

    fn has(&self, name: &str) -> bool {
        self.whole.contains(&format!(" {name}=\""))
    }
}

/// A part of a selector: `text`, `.own.one`, `#hot`.
#[derive(Default)]
struct Compound {
    tag: Option<String>,
    classes: Vec<String>,
    id: Option<String>,
}

impl Compound {
    /// `None` if it has anything that is not known here.
    fn of(text: &str) -> Option<Compound> {
        let mut compound = Compound::default();
        let starts =
            text.char_indices().filter(|(at, c)| *at == 0 || matches!(c, '.' | '#')).map(|(at, _)| at);
        let starts: Vec<usize> = starts.collect();
        for (nth, start) in starts.iter().enumerate() {
            let part = &text[*start..starts.get(nth + 1).copied().unwrap_or(text.len())];
            let name = part.trim_start_matches(['.', '#']);
            if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-') {
                return None;
            }
            match part.chars().next() {
                Some('.') => compound.classes.push(name.to_owned()),
                Some('#') => compound.id = Some(name.to_owned()),
                _ => compound.tag = Some(name.to_owned()),
            }
        }
        Some(compound)
    }

    fn matches(&self, element: &Element<'_>) -> bool {
        self.tag.as_deref().is_none_or(|tag| tag == element.tag)
            && self.id.as_deref().is_none_or(|id| id == element.id)
            && self.classes.iter().all(|class| element.class.split(' ').any(|has| has == class))
    }
}

/// A rule of a sheet for some elements.
struct Rule {
    /// From the outermost to the element itself.
    selector: Vec<Compound>,
    /// Identifiers, classes, types: the more, the stronger.
    weight: (usize, usize, usize),
    declarations: Vec<(String, String)>,
}

impl Rule {
    fn matches(&self, open: &[Element<'_>]) -> bool {
        let Some(((own, outer), (element, around))) = self.selector.split_last().zip(open.split_last())
        else {
            return false;
        };
        let mut around = around.iter().rev();
        own.matches(element) && outer.iter().rev().all(|part| around.any(|element| part.matches(element)))
    }
}

/// The attributes that the sheet gives to the innermost of these elements.
fn attributes(open: &[Element<'_>], rules: &[Rule]) -> String {
    let Some(element) = open.last() else { return String::new() };
    let mut matching: Vec<&Rule> = rules.iter().filter(|rule| rule.matches(open)).collect();
    matching.sort_by_key(|rule| rule.weight);
    let all = matching.iter().flat_map(|rule| &rule.declarations);
    let last: BTreeMap<&str, &str> = all.map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let own = last.iter().filter(|(name, _)| !element.has(name));
    own.map(|(name, value)| format!(" {name}=\"{}\"", value.replace('"', "'"))).collect()
}

/// The properties that may be attributes of an element of SVG.
const ATTRIBUTES: [&str; 11] = [
    "fill",
    "font-family",
    "font-size",
    "font-style",
    "font-weight",
    "opacity",
    "paint-order",
    "stroke",
    "stroke-dasharray",
    "stroke-linejoin",
    "stroke-width",
];

fn rules(sheet: &str) -> Vec<Rule> {
    let variables = variables(sheet);
    let sheet = without_comments(sheet);
    let mut rules = Vec::new();
    let mut rest = sheet.as_str();
    while let Some((selectors, after)) = rest.split_once('{') {
        if selectors.trim_start().starts_with('@') {
            rest = after_block(after);
            continue;
        }
        let (body, after) = after.split_once('}').unwrap_or((after, ""));
        rest = after;
        for selector in selectors.split(',') {
            let parts = selector.split_ascii_whitespace().map(Compound::of);
            let Some(selector) = parts.collect::<Option<Vec<Compound>>>().filter(|it| !it.is_empty()) else {
                continue;
            };
            let count = |of: fn(&Compound) -> usize| selector.iter().map(of).sum();
            let weight = (
                count(|part| usize::from(part.id.is_some())),
                count(|part| part.classes.len()),
                count(|part| usize::from(part.tag.is_some())),
            );
            let declarations = body.split(';').flat_map(|it| declarations(it, &variables)).collect();
            rules.push(Rule { selector, weight, declarations });
        }
    }
    rules
}

/// A declaration as attributes.
fn declarations(declaration: &str, variables: &BTreeMap<String, String>) -> Vec<(String, String)> {
    let literal = literal(declaration, variables);
    let Some((name, value)) = literal.as_deref().unwrap_or(declaration).split_once(':') else {
        return Vec::new();
    };
    let (name, value) = (name.trim(), value.trim());
    if value.contains("var(") {
        return Vec::new();
    }
    let owned = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    match name {
        // A size, perhaps with the height of a line, and a family.
        "font" => value.split_once(' ').map_or_else(Vec::new, |(size, family)| {
            let size = size.split('/').next().unwrap_or(size);
            vec![owned("font-size", size), owned("font-family", family)]
        }),
        "text-anchor" => vec![owned(name, value)],
        name if ATTRIBUTES.contains(&name) => vec![owned(name, value)],
        _ => Vec::new(),
    }
}

/// The declaration with what its variables stand for; `None` if it has none that are known.
fn literal(declaration: &str, variables: &BTreeMap<String, String>) -> Option<String> {
    let mut said = declaration.to_owned();
    while let Some((before, after)) = said.split_once("var(") {
        let (name, after) = after.split_once(')')?;
        said = format!("{before}{}{after}", variables.get(name.trim())?);
    }
    (said != declaration).then_some(said)
}

/// The variables of the first `:root`, which holds where no condition does.
fn variables(sheet: &str) -> BTreeMap<String, String> {
    let body = sheet.split_once(":root {").and_then(|(_, after)| after.split_once('}'));
    let declarations = body.map_or("", |(body, _)| body).split(';');
    let variable = declarations.filter_map(|declaration| declaration.split_once(':'));
    let named = variable.map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned()));
    named.filter(|(name, _)| name.starts_with("--")).collect()
}

fn without_comments(sheet: &str) -> String {
    let mut parts = sheet.split("/*");
    let first = parts.next().unwrap_or("").to_owned();
    parts.fold(first, |text, part| text + part.split_once("*/").map_or("", |(_, after)| after))
}

/// The text after a block whose opening brace is read.
fn after_block(text: &str) -> &str {
    let mut depth = 1_i32;
    let end = text.char_indices().find(|(_, c)| {
        depth += i32::from(*c == '{') - i32::from(*c == '}');
        depth == 0
    });
    end.map_or("", |(at, _)| &text[at + 1..])
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHEET: &str = "\
/* Colours. */ :root { --ink: #111; --red: #c00 }
@media (prefers-color-scheme: dark) { :root { --ink: #eee } .d text { fill: #f0f } }
.d { font: 12px/1.2 system-ui, \"Segoe UI\", sans-serif }
.d text { fill: var(--ink); text-anchor: middle }
.d .n.hot { fill: var(--red) }
.d a:hover { fill: blue }";

    #[test]
    fn elements_get_what_the_sheet_says_of_them_with_literal_colours() {
        let drawing =
            "<svg class=\"d\"><text>a</text><g><text class=\"n hot\">b</text></g><rect fill=\"none\"/></svg>";
        assert_eq!(
            with_attributes(drawing, SHEET),
            "<svg class=\"d\" font-family=\"system-ui, 'Segoe UI', sans-serif\" font-size=\"12px\">\
             <text fill=\"#111\" text-anchor=\"middle\">a</text>\
             <g><text class=\"n hot\" fill=\"#c00\" text-anchor=\"middle\">b</text></g><rect fill=\"none\"/></svg>"
        );
    }

    #[test]
    fn what_stands_already_is_kept_and_descendants_alone_match() {
        let sheet = ".d .s { fill: red; stroke: var(--no) }";
        assert_eq!(with_attributes("<g class=\"s\"></g>", sheet), "<g class=\"s\"></g>");
        let kept = with_attributes("<g class=\"d\"><i class=\"s\" fill=\"blue\"></i></g>", sheet);
        assert!(
            kept.contains("<i class=\"s\" fill=\"blue\"></i>"),
            "a variable that nobody knows is no attribute: {kept}"
        );
    }

    #[test]
    fn a_declaration_with_a_variable_comes_after_its_literal() {
        let sheet = with_fallbacks(SHEET);
        assert!(sheet.contains("{ fill: #111; fill: var(--ink); text-anchor: middle }"), "{sheet}");
        assert!(sheet.contains("{ fill: #c00 ; fill: var(--red) }"), "{sheet}");
        assert!(sheet.starts_with("/* Colours. */ :root { --ink: #111; --red: #c00 }"), "{sheet}");
    }
}
