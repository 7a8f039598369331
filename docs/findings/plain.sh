# shellcheck shell=bash disable=SC2034
# Sourced by the `plain/run` of each finding: the plain library against a real server, without picklock.
#
# A `run` declares what it needs, prepares the library in $work, starts its servers, and hands the output of the program to `prints FILE`, whose
# lines are extended regular expressions: each must match a line of the output, in this order. Exit codes: 0 the output is as expected, 1 it is
# not, 3 a package is missing, which is named. `run --fixed` does the same with the proposed fix applied to the published sources.

set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[1]}")" && pwd)
finding=$(basename "$(dirname "$here")")
fixed=no
[ "${1:-}" != --fixed ] || fixed=yes
# Downloads are kept between runs.
work=${PICKLOCK_FINDINGS:-${CARGO_TARGET_DIR:-$here/../../../../target}/findings}/$finding
mkdir -p "$work"
work=$(cd "$work" && pwd)
servers=()
trap 'for server in "${servers[@]:-}"; do [ -z "$server" ] || kill -9 "$server" 2>/dev/null || true; done' EXIT

# need COMMAND PACKAGE: ends with code 3 if the command is not there.
need() {
    command -v "$1" >/dev/null && return
    echo "$finding: left out: $1 is missing; install it: apt-get install $2"
    exit 3
}

# redis PORT [OPTION...]: a server on a loopback port, with nothing on disk.
redis() {
    local port=$1
    shift
    need redis-server redis-server
    need redis-cli redis-tools
    (cd "$work" && exec redis-server --port "$port" --bind 127.0.0.1 --save '' --appendonly no --dir "$work" "$@") >"$work/redis-$port.log" &
    servers+=($!)
    local tries=100
    until redis-cli -p "$port" ping >/dev/null 2>&1; do
        tries=$((tries - 1))
        [ $tries -gt 0 ] || { echo "$finding: redis-server does not answer on port $port:"; tail -n 3 "$work/redis-$port.log"; exit 1; }
        sleep 0.1
    done
}

# version NAME COMMAND...: prints the first line that a command answers.
version() {
    local name=$1
    shift
    echo "$name: $("$@" 2>&1 | head -n 1)"
}

# prints FILE: reads the output of the program, prints it, and compares it.
prints() {
    local expected=$1 output at=0 line number found
    output=$(cat)
    printf '%s\n' "$output"
    while IFS= read -r line; do
        found=
        while IFS=: read -r number _; do
            [ "$number" -le "$at" ] || { found=$number; break; }
        done < <(printf '%s\n' "$output" | grep -nE -- "$line" || true)
        [ -n "$found" ] || { echo "$finding: not as expected: no line after line $at matches: $line"; return 1; }
        at=$found
    done <"$expected"
    echo "$finding: as expected"
}
