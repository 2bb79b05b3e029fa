#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` puts down is enough for others: pkg-config, both libraries, headers, the Python module, the program, its
# manual page. Skipped where not everything is built.
set -eu
grep -q '^ASSAY_SANITIZE:STRING=.' "$ASSAY_BUILD_DIR/CMakeCache.txt" && exit 77
[ -x "$ASSAY_BUILD_DIR/assay" ] && [ -x "$ASSAY_BUILD_DIR/benchmark-report" ] || exit 77
for tool in cmake gcc pkg-config; do command -v "$tool" >/dev/null || exit 77; done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix="$work/prefix"
cmake --install "$ASSAY_BUILD_DIR" --prefix "$prefix" >"$work/log" 2>&1 || { tail -n 5 "$work/log"; grep -q "cannot find" "$work/log" && exit 77; exit 1; }
pc=$(find "$prefix" -name assay-report.pc)
[ -n "$pc" ] || { echo "no assay-report.pc"; exit 1; }
PKG_CONFIG_PATH=$(dirname "$pc")
export PKG_CONFIG_PATH
[ "$(pkg-config --modversion assay-report)" = 0.2.1 ] || { echo "version"; exit 1; }
cat >"$work/use.c" <<'C'
#include <assay/report.h>
#include <stdio.h>
#include <string.h>

int main(void)
{
    static const char text[] = "run: {uid: u}\nresults: {}\n";
    struct assay_report *report;
    if (assay_report_build("0.2.1", text, strlen(text), &report, NULL) != ASSAY_OK)
        return 1;
    printf("%s %s\n", assay_report_version(), assay_report_get_version(report));
    assay_report_free(report);
    return strcmp(assay_report_version(), ASSAY_REPORT_VERSION);
}
C
# shellcheck disable=SC2046 # flags are words
gcc -std=c17 -Wall -Wextra -Wpedantic -Werror "$work/use.c" -o "$work/shared" $(pkg-config --define-prefix --cflags --libs assay-report)
library=$(find "$prefix" -name libassay-report.so.0)
[ "$(LD_LIBRARY_PATH=$(dirname "$library") "$work/shared")" = "0.2.1 0.2.1" ] || { echo "the shared library"; exit 1; }
static=$(find "$prefix" -name libassay-report.a)
# shellcheck disable=SC2046
gcc -std=c17 -Wall -Wextra -Wpedantic -Werror $(pkg-config --define-prefix --cflags assay-report) "$work/use.c" -o "$work/static" "$static" \
    $(pkg-config --define-prefix --static --libs assay-report | tr ' ' '\n' | grep -v '^-lassay-report$')
[ "$("$work/static")" = "0.2.1 0.2.1" ] || { echo "the static library"; exit 1; }
command -v g++ >/dev/null && printf '#include <assay/report.h>\nint main() { return assay_report_version() == nullptr; }\n' >"$work/use.cc" &&
    g++ -std=c++17 -Wall -Wextra -Wpedantic -Werror -c "$work/use.cc" -o "$work/use.o" -I"$prefix/include"
native="$ASSAY_SOURCE_DIR/tests/golden/brief/native"
LD_LIBRARY_PATH='' PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$prefix/share/assay/python" /usr/bin/python3 - "$native" <<'PYTHON' || { echo "the Python module"; exit 1; }
import sys
import llmd_benchmark_report as br
assert br.__version__ == "0.2.1"
assert br.import_guidellm(sys.argv[1] + "/guidellm.json", 0).version == "0.2.1"
PYTHON
PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$prefix/share/assay/python" /usr/bin/python3 -W ignore -m llmd_benchmark_report.cli -b 0.1 "$native/vllm.json" >"$work/report.yaml"
[ "$("$prefix/bin/assay" report validate "$work/report.yaml")" = "$work/report.yaml: valid, version 0.1" ] || { echo "the program"; exit 1; }
for page in benchmark-report assay-report; do
    [ -s "$prefix/share/man/man1/$page.1" ] || { echo "no manual page $page"; exit 1; }
done
