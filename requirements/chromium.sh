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
    echo "no way to install it here:$lacking; apt-get install does, as root on Debian"
    exit 0
fi
export DEBIAN_FRONTEND=noninteractive
# One word a package.
# shellcheck disable=SC2086
if apt-get -qq update && apt-get -qq install --yes --no-install-recommends $lacking >/dev/null; then
    echo "installed:$lacking"
else
    echo "cannot be installed now:$lacking; what needs them is skipped"
fi
