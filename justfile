# Shortcuts. Each is a plain command that also works without just.

# Lists the recipes.
default:
    @just --list

# Runs what CI runs.
check:
    .ci/run

# Formats the code.
fmt:
    cargo fmt

# Runs the tests, all of them or as given, as in `just test -p picklock-sim`.
test *args="--workspace":
    cargo test {{ args }}

# Runs unit tests, invariants and scenarios: less than a minute once they are built. No program is started, and no page is compared.
test-fast:
    cargo test --workspace --lib
    cargo test --test structure

# Writes the hash of today into Chinese pages that translate the English text of today, as in `just translated faults.md replay.md`.
translated +pages:
    PICKLOCK_TRANSLATED="{{ pages }}" cargo test --test docs translated_from

# Installs what the checks need and this machine lacks.
setup:
    .ci/setup

# Compares the node with a redis-server for as many seconds.
conformance seconds="600" seed="1000000":
    CONFORMANCE_SECONDS={{ seconds }} CONFORMANCE_SEED={{ seed }} \
        cargo test --release --test stores -- --ignored --exact --nocapture \
        conformance::the_node_answers_as_redis_server_does_for_long

# Runs Redis's own tests against the served node; the sources of Redis 7.0 are fetched if no directory is given.
redis-suite *args:
    tests/external/redis-suite {{ args }}

# Runs client libraries and their lock tests against served nodes.
clients *args:
    tests/external/clients {{ args }}

# Runs kazoo's own tests on simulated members and on a real ensemble of ZooKeeper.
kazoo *args:
    tests/external/kazoo {{ args }}

# Runs the cluster tests of client libraries on real and on simulated nodes.
cluster-clients *args:
    tests/external/cluster-clients {{ args }}

# Runs the assertions of Redis's own cluster tests on real and on simulated nodes.
cluster-units *args:
    tests/external/cluster-units {{ args }}

# Measures the engines.
bench *args:
    cargo bench {{ args }}

# Counts the instructions that a command takes; `just instructions --update` writes down what it takes now.
instructions *args:
    tests/instructions {{ args }}

# Runs the suite, as in `just run --design single --scenario pause`.
run *args:
    cargo run --release -- run {{ args }}

# Runs what takes too long for every change: servers and programs with many seeds, real libraries, and a campaign on seeds
# that begin with today's date, for as long as given.
nightly budget="1h":
    .ci/nightly {{ budget }}

# Prints the pages in docs/ that the program makes: the verdict matrix and the experiments.
publish:
    tests/publish

# Renews all that the program makes: digests, traces, instruction counts, pages, pictures, and the figures in the guide.
bless *args:
    tests/bless {{ args }}

# Prints docs/libraries.md: what the locks of real libraries survive; builds them first. Belongs to the night.
libraries seeds="50":
    tests/libraries {{ seeds }}

# Reproduces the findings of docs/findings.md with the plain libraries on real servers, without picklock; all of them, or those that are named.
findings *names:
    tests/findings {{ names }}

# Builds the documentation of the crates.
docs:
    RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps

# Packs what a release hands out for a target, and builds the image where there is a builder for it.
release *target:
    deploy/release {{ target }}
    deploy/image

# Makes the guide a book, in target/book, and looks at every link of it and of all pages.
book:
    cd docs/book && CARGO_TARGET_DIR=../../target cargo run
