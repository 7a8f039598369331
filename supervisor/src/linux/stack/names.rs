//! Names of functions, as their source has them.
//!
//! A short name can stand for one that fills the memory, so that the length of a name is limited.

use std::fmt::{self, Write};

/// Bytes of the longest name that is read, and of the longest that is shown.
const LONGEST: usize = 512;

/// A text up to the longest name.
#[derive(Default)]
struct Bounded(String);

impl Write for Bounded {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        if self.0.len() + part.len() > LONGEST {
            return Err(fmt::Error);
        }
        self.0.push_str(part);
        Ok(())
    }
}

/// A name of C++ or Rust without its mangling, or another name as it is; empty if it is too long.
pub(super) fn readable(name: &str) -> String {
    if name.len() > LONGEST {
        return String::new();
    }
    let mut text = Bounded::default();
    let written = match rustc_demangle::try_demangle(name) {
        // Without the hash at its end.
        Ok(rust) => write!(text, "{rust:#}"),
        Err(_) => match cpp_demangle::Symbol::new(name) {
            Ok(cpp) if name.starts_with("_Z") => cpp.structured_demangle(&mut text, &Default::default()),
            _ => text.write_str(name),
        },
    };
    if written.is_ok() { without_hash(&text.0).to_owned() } else { String::new() }
}

/// A function of Rust without the hash at its end.
fn without_hash(function: &str) -> &str {
    match function.rsplit_once("::h") {
        Some((name, hash)) if hash.len() == 16 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()) => name,
        _ => function,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_as_their_source_has_them() {
        assert_eq!(readable("_ZN4lock7releaseE"), "lock::release");
        assert_eq!(readable("_ZN4lock7release17h0123456789abcdefE"), "lock::release");
        assert_eq!(readable("lock::release::h0123456789abcdef"), "lock::release");
        assert_eq!(readable("main.release"), "main.release");
    }

    #[test]
    fn a_name_that_grows_without_end_is_left_out() {
        // Each argument is a template of the one before it, twice.
        let growing = |times: usize| {
            let mut name = "_Z1fI1AIiEE".to_owned();
            for at in 0..times {
                name = name.replace("EE", &format!("E1BIS{at}_S{at}_EE"));
            }
            name + "vT_"
        };
        assert!(readable(&growing(30)).len() <= LONGEST);
        assert_eq!(readable(&"x".repeat(LONGEST + 1)), "");
    }
}
