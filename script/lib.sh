# SPDX-License-Identifier: Apache-2.0
# Shared by the scripts of this folder, which source it: sets `root`, changes into it.
# shellcheck shell=sh

root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root" || exit 1

say() { printf '==> %s\n' "$*"; }
fail() { printf '%s: %s\n' "${0##*/}" "$*" >&2; exit 1; }

# Prints a command, then runs it.
run() {
    printf '+ %s\n' "$*"
    "$@"
}

# "1.4" for a number of seconds.
minutes() { awk -v s="$1" 'BEGIN { printf "%.1f", s / 60 }'; }

# shellcheck disable=SC2034 # for the scripts that source this
jobs=$(nproc)
