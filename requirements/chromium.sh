#!/bin/sh
# Installs Debian's Chromium and its headless shell, if they are missing and the user is root. Otherwise the tests
# that need them are skipped, with a hint how to install them.
set -eu
lacking=
for name in chromium chromium-headless-shell; do
    command -v "$name" >/dev/null || lacking="$lacking $name"
done
if [ -z "$lacking" ] || [ -n "${CHROMIUM:-}" ]; then
    echo "found Chromium: ${CHROMIUM:-$(command -v chromium)}"
    exit 0
fi
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
    echo "gateproof: cannot install Chromium without root and apt-get; missing:$lacking"
    echo "gateproof: apt-get install chromium, or set CHROMIUM=/path/to/it"
    exit 0
fi
echo "gateproof: installing with apt-get:$lacking"
export DEBIAN_FRONTEND=noninteractive
# Not quoted: one word for each package.
# shellcheck disable=SC2086
if apt-get -qq update && apt-get -qq install --yes --no-install-recommends $lacking >/dev/null; then
    echo "installed:$lacking"
else
    echo "could not install:$lacking; tests that need them are skipped"
fi
