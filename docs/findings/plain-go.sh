# shellcheck shell=bash disable=SC2034,SC2154
# Sourced after plain.sh: a Go program in $work with pinned modules, and a patched copy of one of them for `--fixed`.

# builds MODULE MODULE@VERSION...: builds $program from main.go, and prints the versions. With `--fixed` MODULE is a copy with fixed.patch.
builds() {
    need go golang-go
    need patch patch
    local patched=$1 module
    shift
    local place=$work/go-$fixed
    rm -rf "$place"
    mkdir -p "$place"
    cp "$here"/*.go "$place"
    program=$place/program
    (
        cd "$place"
        export GOFLAGS=-mod=mod
        go mod init reproduction
        go get "$@"
        if [ $fixed = yes ]; then
            cp -R "$(go list -m -f '{{.Dir}}' "$patched")" patched
            chmod -R u+w patched
            patch --strip 1 --directory patched <"$here/fixed.patch"
            go mod edit -replace "$patched=./patched"
        fi
        go mod tidy
        go build -o program .
    ) >"$place/log" 2>&1 || { cat "$place/log"; exit 1; }
    version server redis-server --version
    version runtime go version
    for module in "$@"; do echo "library: ${module/@/ }"; done
    [ $fixed = no ] || echo "with fixed.patch"
}
