#!/bin/sh
# Installs the readers that are npm packages, exactly as locked, into a folder; --lock renews the lock.
# Without npm there is nothing to do: the tests that need them say so and are skipped.
set -eu
here=$(cd "$(dirname "$0")/readers" && pwd)

if ! command -v npm >/dev/null; then
    echo "gateproof: there is no npm, so the readers that come from it are left out" >&2
    exit 0
fi
# No package gets to run anything, and the lock names no host to download from.
npm_() {
    npm --ignore-scripts --no-audit --no-fund --no-update-notifier --loglevel=error "$@" </dev/null
}

if [ "${1:-}" = --lock ]; then
    rm -f "$here/package-lock.json"
    npm_ --prefix "$here" install --package-lock-only --omit-lockfile-registry-resolved >/dev/null
    exit 0
fi

folder=${1:?usage: npm-readers.sh FOLDER | --lock}
# Written last: what broke off in the middle has none, and is begun afresh.
stamp=$folder/installed.json
if cmp -s "$here/package-lock.json" "$stamp"; then
    exit 0
fi
echo "gateproof: installing the locked npm packages into $folder"
rm -rf "$folder"
mkdir -p "$folder"
cp "$here/package.json" "$here/package-lock.json" "$folder"
npm_ --prefix "$folder" ci >/dev/null
# All that this package's own script would do; a system for which there is none has no such file.
find "$folder/node_modules/@microsoft" -name Sarif.Multitool -exec chmod +x {} +
cp "$here/package-lock.json" "$stamp"
