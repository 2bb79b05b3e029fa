#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The library as others see it: only assay_* exported, both forms usable from a program outside the tree, the soname.
set -eu
library="$ASSAY_BUILD_DIR/libassay-report.so.0.2.1"
static="$ASSAY_BUILD_DIR/libassay-report.a"
[ -e "$library" ] && [ -e "$static" ] || exit 77
grep -q '^ASSAY_SANITIZE:STRING=.' "$ASSAY_BUILD_DIR/CMakeCache.txt" && exit 77
command -v gcc >/dev/null || exit 77
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
foreign=$(nm -D --defined-only "$library" | awk '{ print $3 }' | grep -v '^assay_' || true)
[ -z "$foreign" ] || { echo "exported: $foreign"; exit 1; }
foreign=$(nm --defined-only --extern-only "$static" | awk 'NF == 3 { print $3 }' | grep -v '^assay_' || true)
[ -z "$foreign" ] || { echo "global in the static library: $foreign"; exit 1; }
declared=$(grep -o 'assay_[a-z_]*(' "$ASSAY_SOURCE_DIR/include/assay/report.h" | tr -d '(' | sort -u)
exported=$(nm -D --defined-only "$library" | awk '{ print $3 }' | sort -u)
for name in $exported; do
    echo "$declared" | grep -qx "$name" || { echo "$name is exported but not declared"; exit 1; }
done
readelf -d "$library" | grep -q 'SONAME.*libassay-report.so.0]' || { echo "soname"; exit 1; }
cat >"$work/use.c" <<'C'
#include <assay/report.h>
#include <stdio.h>
#include <string.h>

/* A name of ours that the library has inside too. */
int value_equal(void);
int value_equal(void)
{
    return 7;
}

int main(void)
{
    static const char text[] = "version: 0.2.1\nrun: {uid: u}\nresults: {}\n";
    struct assay_report *report;
    if (assay_report_read_text(text, strlen(text), &report, NULL) != ASSAY_OK)
        return 1;
    char *yaml = assay_report_yaml(report);
    printf("%s", yaml);
    assay_text_free(yaml);
    assay_report_free(report);
    return value_equal() == 7 ? 0 : 2;
}
C
gcc -std=c17 -Wall -Wextra -Werror -I"$ASSAY_SOURCE_DIR/include" "$work/use.c" -o "$work/shared" "$library" -Wl,-rpath,"$ASSAY_BUILD_DIR"
gcc -std=c17 -Wall -Wextra -Werror -I"$ASSAY_SOURCE_DIR/include" "$work/use.c" -o "$work/static" "$static" -lyaml -lm -pthread
for program in shared static; do
    [ "$("$work/$program" | head -n 1)" = "results: {}" ] || { echo "$program"; exit 1; }
done
