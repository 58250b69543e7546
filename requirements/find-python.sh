#!/bin/sh
# Prints the Python for this project: $PYTHON, else python3, else the newest of 3.11 to 3.13.
# --newest prints the newest installed one, even if python3 is usable; --all prints each of the three.
#
# Every candidate is run to check it: a name on the PATH may be a shim of a version manager that does not run, and
# some systems have Python without the modules for virtual environments.
set -u

suits() {
    "$1" -c 'import sys, venv, ensurepip; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' \
        >/dev/null 2>&1 </dev/null
}

# The interpreter for a shim that does not run: pyenv knows which of its versions have the command.
behind_the_shim() {
    command -v pyenv >/dev/null 2>&1 || return 1
    version=$(pyenv whence "$1" 2>/dev/null | tail -n 1)
    [ -n "$version" ] && PYENV_VERSION=$version pyenv which "$1" 2>/dev/null
}

# Ends the search, unless all are wanted.
answer_if_it_suits() {
    [ -n "$1" ] && suits "$1" || return 1
    command -v "$1"
    [ "$mode" = --all ] || exit 0
}

mode=${1-}
newest="python3.13 python3.12 python3.11"
case "$mode" in
    --newest) candidates="$newest python3" ;;
    --all) candidates=$newest ;;
    "")
        if [ -n "${PYTHON-}" ]; then
            answer_if_it_suits "$PYTHON"
            printf '%s\n' "gateproof: PYTHON=$PYTHON does not run, or is not Python 3.11 to 3.13 with venv and ensurepip" >&2
            exit 1
        fi
        candidates="python3 $newest"
        ;;
    *)
        printf '%s\n' "usage: find-python.sh [--newest|--all]" >&2
        exit 2
        ;;
esac

for candidate in $candidates; do
    answer_if_it_suits "$candidate" || answer_if_it_suits "$(behind_the_shim "$candidate")"
done
[ "$mode" = --all ] && exit 0
printf '%s\n' "gateproof: found no Python 3.11, 3.12 or 3.13 with venv and ensurepip; install one, or name it: make PYTHON=/path/to/python" >&2
exit 1
