#!/bin/sh
# Installs Debian's Chromium, and its shell without a window, where they are not there and this user may; where
# they stay away, the tests that need them are skipped and say how to get them.
set -eu
lacking=
for name in chromium chromium-headless-shell; do
    command -v "$name" >/dev/null || lacking="$lacking $name"
done
if [ -z "$lacking" ] || [ -n "${CHROMIUM:-}" ]; then
    echo "Chromium is here: ${CHROMIUM:-$(command -v chromium)}"
    exit 0
fi
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
    echo "gateproof: cannot install Chromium here, which needs root and apt-get; missing:$lacking"
    echo "gateproof: apt-get install chromium, or set CHROMIUM=/path/to/it"
    exit 0
fi
echo "gateproof: installing with apt-get:$lacking"
export DEBIAN_FRONTEND=noninteractive
# One word a package.
# shellcheck disable=SC2086
if apt-get -qq update && apt-get -qq install --yes --no-install-recommends $lacking >/dev/null; then
    echo "installed:$lacking"
else
    echo "cannot be installed now:$lacking; what needs them is skipped"
fi
