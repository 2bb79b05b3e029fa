#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every command has help, a manual page without warnings and a section in the options page; programs of libexec answer --help.
set -eu
assay="$ASSAY_BUILD_DIR/assay"
commands=$("$assay" help | awk '/^Commands:/ { on = 1; next } on && NF { print $1 }')
checked=0
for command in $commands; do
    case $command in fetch | media) continue ;; esac
    "$assay" help "$command" | grep -q "^usage: assay $command" || { echo "$command: no help"; exit 1; }
    "$assay" "$command" --help | grep -q "^usage: assay $command" || { echo "$command --help: no help"; exit 1; }
    grep -q "^## assay $command\$" "$ASSAY_SOURCE_DIR/docs/options.md" || { echo "$command: not in docs/options.md"; exit 1; }
    page=$("$assay" help "$command" --format man)
    for section in NAME SYNOPSIS; do
        printf '%s\n' "$page" | grep -q "^\\.SH $section" || { echo "$command: no $section in its manual page"; exit 1; }
    done
    glued=$(printf '%s\n' "$page" | grep '.\.fi$' || true)
    [ -z "$glued" ] || { echo "$command: its manual page never ends the examples: $glued"; exit 1; }
    if command -v man >/dev/null; then
        warnings=$(printf '%s\n' "$page" | MANWIDTH=100 man --warnings -l - 2>&1 >/dev/null)
        [ -z "$warnings" ] || { echo "$command: $warnings"; exit 1; }
    fi
    checked=$((checked + 1))
done
[ "$checked" -ge 3 ] || { echo "only $checked commands were looked at"; exit 1; }
echo "$checked commands"
