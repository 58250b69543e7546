#!/bin/sh
# Installs Debian's Chromium where there is none and this user may; where it stays away, the tests that need one
# are skipped and say how to get it.
set -eu
for name in "${CHROMIUM:-}" chromium chromium-browser; do
    if [ -n "$name" ] && command -v "$name" >/dev/null; then
        echo "Chromium is here: $(command -v "$name")"
        exit 0
    fi
done
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
    echo "no Chromium here, and no way to install it: apt-get install chromium, as root on Debian"
    exit 0
fi
export DEBIAN_FRONTEND=noninteractive
if apt-get -qq update && apt-get -qq install --yes --no-install-recommends chromium >/dev/null; then
    echo "installed Chromium: $(command -v chromium)"
else
    echo "Chromium cannot be installed now: its tests are skipped"
fi
