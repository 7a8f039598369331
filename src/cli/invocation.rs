//! The command line of this process, as reports and journals keep it.

use picklock_campaign::campaign::quoted;

/// Options that make no difference to the results, with whether a value follows them: where these go to, how they look, how
/// many threads make them, and in how many parts.
const INDIFFERENT: [(&str, bool); 7] = [
    ("--out", true),
    ("--format", true),
    ("--jobs", true),
    ("--color", true),
    ("--shard", true),
    ("--resume", false),
    ("--verbose", false),
];

/// The arguments of this process that decide its results.
pub(crate) fn deciding() -> Vec<String> {
    without_irrelevant(std::env::args().skip(1))
}

/// The command that makes the results of these arguments again.
pub(crate) fn command(args: &[String]) -> String {
    let words = args.iter().map(|word| quoted(word));
    std::iter::once("picklock".to_owned()).chain(words).collect::<Vec<_>>().join(" ")
}

fn without_irrelevant(mut args: impl Iterator<Item = String>) -> Vec<String> {
    let mut rest = Vec::new();
    while let Some(arg) = args.next() {
        let name = arg.split_once('=').map_or(arg.as_str(), |(name, _)| name);
        match INDIFFERENT.iter().find(|(other, _)| *other == name) {
            None => rest.push(arg),
            Some((_, true)) if !arg.contains('=') => drop(args.next()),
            Some(_) => {}
        }
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_results_go_and_how_they_are_made_is_not_part_of_what_they_are() {
        let line = "run --design single --out=a/b --jobs 3 --set ttl=2s --shard 2/8 --verbose --format text,json --seeds 9";
        let rest = without_irrelevant(line.split(' ').map(str::to_owned));
        assert_eq!(rest.join(" "), "run --design single --set ttl=2s --seeds 9");
        assert_eq!(command(&rest), "picklock run --design single --set ttl=2s --seeds 9");
    }
}
