#!/bin/sh
# Installs npm packages into a folder, exactly as the lock in another one says; --lock renews that lock.
# Without npm there is nothing to do: the tests that need such packages say so and are skipped.
set -eu

if ! command -v npm >/dev/null; then
    echo "gateproof: there is no npm, so what comes from it is left out" >&2
    exit 0
fi
# No package gets to run anything, and the lock names no host to download from.
npm_() {
    npm --ignore-scripts --no-audit --no-fund --no-update-notifier --loglevel=error "$@" </dev/null
}

usage="usage: npm.sh LOCKED_FOLDER FOLDER | --lock LOCKED_FOLDER"
if [ "${1:-}" = --lock ]; then
    cd "${2:?$usage}"
    rm -f package-lock.json
    npm_ install --package-lock-only --omit-lockfile-registry-resolved >/dev/null
    exit 0
fi

locked=${1:?$usage}
folder=${2:?$usage}
# Written last: what broke off in the middle has none, and is begun afresh.
stamp=$folder/node_modules/.gateproof-installed.json
if cmp -s "$locked/package-lock.json" "$stamp"; then
    exit 0
fi
echo "gateproof: installing the locked npm packages of $locked into $folder"
rm -rf "$folder/node_modules"
mkdir -p "$folder"
for file in package.json package-lock.json; do
    cmp -s "$locked/$file" "$folder/$file" || cp "$locked/$file" "$folder"
done
npm_ --prefix "$folder" ci >/dev/null
# All that this package's own script would do; a system for which there is none has no such file.
find "$folder/node_modules" -path "*/@microsoft/*" -name Sarif.Multitool -exec chmod +x {} +
cp "$locked/package-lock.json" "$stamp"
