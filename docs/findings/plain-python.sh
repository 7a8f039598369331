# shellcheck shell=bash disable=SC2034,SC2154
# Sourced after plain.sh: a virtual environment in $work with the packages of $packages, and a patched copy of one of them for `--fixed`.

# installs PACKAGE==VERSION...: prepares $python, and prints the versions. With `--fixed` it applies fixed.patch to the published sources.
# $strip is the number of leading folders in the paths of the patch: 2 for `a/src/PACKAGE`, 1 for `a/PACKAGE`.
installs() {
    need python3 python3
    need patch patch
    local venv=$work/venv-$fixed
    python=$venv/bin/python
    if [ ! -e "$venv/ready" ]; then
        rm -rf "$venv"
        python3 -m venv "$venv"
        "$venv/bin/pip" install --quiet --disable-pip-version-check "$@"
        [ $fixed = no ] || patch --quiet --strip "${strip:-2}" --directory "$(sites "$venv")" <"$here/fixed.patch"
        touch "$venv/ready"
    fi
    version server redis-server --version
    version runtime "$python" --version
    local package
    for package in "$@"; do echo "library: ${package/==/ }"; done
    [ $fixed = no ] || echo "with fixed.patch"
}

# The directory of the installed packages.
sites() { "$1/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))'; }
