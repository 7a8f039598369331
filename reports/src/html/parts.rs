//! The parts of a page, each shown when the address names it.
//!
//! Hundreds of counterexamples make a page of many megabytes, nine tenths of it the same words. Then the parts are packed, those of a
//! design together, and the script unpacks what is asked for. A smaller page is left as it is, to be searched, compared and read
//! without a script.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use maud::{Markup, PreEscaped, html};

/// Parts of more bytes than that are packed.
const PAGE: usize = 2 << 20;
/// How hard is tried.
const LEVEL: u8 = 9;
/// Stands between the parts of a pack; no part has a control character.
const SEPARATOR: &str = "\u{1}";

/// A part: what the address names it, and what it holds. Its heading has the same name with an `h` after it.
pub(super) struct Part {
    pub(super) id: String,
    pub(super) inner: Markup,
}

/// All parts, those together that are packed together.
pub(super) fn all(groups: &[Vec<Part>]) -> Markup {
    let size: usize = groups.iter().flatten().map(|part| part.inner.0.len()).sum();
    if size <= PAGE {
        return html! {
            @for Part { id, inner } in groups.iter().flatten() {
                section.part id=(id) aria-labelledby={ (id) "h" } { (inner) }
            }
        };
    }
    html! {
        @for (nth, parts) in groups.iter().enumerate() {
            @for Part { id, .. } in parts {
                section.part id=(id) data-pack=(nth) { noscript { p { "This part is packed: the script of the page shows it." } } }
            }
            script type="text/plain" id={ "pack" (nth) } { (PreEscaped(packed(parts))) }
        }
    }
}

fn packed(parts: &[Part]) -> String {
    let inner: Vec<&str> = parts.iter().map(|part| part.inner.0.as_str()).collect();
    STANDARD.encode(miniz_oxide::deflate::compress_to_vec_zlib(inner.join(SEPARATOR).as_bytes(), LEVEL))
}
