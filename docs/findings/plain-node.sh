# shellcheck shell=bash disable=SC2034,SC2154
# Sourced after plain.sh: the packages of package.json in $program, and a patched copy of one of them for `--fixed`.

# installs PACKAGE: installs the packages of package.json, and prints the versions. With `--fixed` it applies fixed.patch to PACKAGE.
installs() {
    need node nodejs
    need npm npm
    need patch patch
    program=$work/node-$fixed
    if ! cmp --silent "$here/package.json" "$program/ready"; then
        rm -rf "$program"
        mkdir -p "$program"
        cp "$here/package.json" "$program"
        (cd "$program" && npm install --silent --no-audit --no-fund --ignore-scripts)
        [ $fixed = no ] || patch --quiet --strip 1 --directory "$program/node_modules/$1" <"$here/fixed.patch"
        cp "$here/package.json" "$program/ready"
    fi
    cp "$here"/*.mjs "$program"
    version server redis-server --version
    version runtime node --version
    sed -n 's/^    "\(.*\)": "\(.*\)".*/library: \1 \2/p' "$here/package.json"
    [ $fixed = no ] || echo "with fixed.patch"
}
