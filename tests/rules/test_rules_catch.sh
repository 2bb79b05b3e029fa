#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Each rule finds what it is there for, in a small tree of mistakes.
set -eu
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
rules="$ASSAY_SOURCE_DIR/tests/rules/rules.py"
mkdir -p "$tree/src/base" "$tree/src/net" "$tree/src/stray" "$tree/tests/rules" "$tree/cmake" "$tree/bench"

cat >"$tree/src/LAYERS" <<'END'
base:
net: base
END
cat >"$tree/src/base/a.h" <<'END'
/* SPDX-License-Identifier: Apache-2.0 */
int narrow(int a, int b, int c, int d, int e);
int wide(int a, int b, int c, int d, int e, int f);
int listed(int a, int b, int c, int d, int e, int f);
int variadic(int a, int b, int c, int d, int e, ...);
size_t needs_an_include(void);
END
{
    printf '/* SPDX-License-Identifier: Apache-2.0 */\n#include "net/b.h"\n#include "base/a.h"\n#include "gone.h"\n'
    # strings and comments do not count
    printf 'static const char *text = "sprintf(";\n/* strcpy( */\nint deep(int a)\n{\n    if (a) {\n        for (;;) {\n            while (a) {\n'
    printf '                if (a) {\n                    a--;\n                }\n            }\n        }\n    }\n'
    printf '    printf(text);\n    return atoi(text); /* TODO: later */\n}\n'
    printf 'int long_one(void)\n{\n'
    i=0
    while [ $i -lt 100 ]; do echo '    ;'; i=$((i + 1)); done
    printf '    return 0;\n}\n'
} >"$tree/src/base/c.c"
printf 'int x;\n' >"$tree/src/stray/d.c"
printf '/* SPDX-License-Identifier: Apache-2.0 */\n' >"$tree/src/net/b.h"
printf 'sizes src/base/a.h:listed it is as it is\nsizes src/net/b.h:gone not needed\n' >"$tree/tests/rules/exceptions.txt"

# RULE EXPECTED-LINE: must be among the rule's output, which must fail.
expect() {
    rule=$1
    shift
    if python3 "$rules" "$rule" "$tree" >"$tree/out" 2>&1; then
        echo "$rule passed"
        exit 1
    fi
    for line in "$@"; do
        grep -qF -- "$line" "$tree/out" || {
            echo "$rule did not say: $line"
            cat "$tree/out"
            exit 1
        }
    done
}
expect layers "src/base/c.c:2: base may not include net" "src/stray/d.c:1: module stray is not in src/LAYERS" \
    'src/base/c.c:4: includes are written "module/header.h"' "3 violations"
expect banned "src/base/c.c:18: printf is banned here" "src/base/c.c:19: atoi is banned here" "2 violations"
expect sizes "src/base/a.h:3: wide takes 6 parameters" "src/base/c.c:7: deep is nested 4 deep" "long_one has 104 lines" \
    "the exception sizes src/net/b.h:gone is not needed" "4 violations"
expect headers "src/base/a.h:1: does not compile alone" "1 violations"
expect text "src/stray/d.c:1: the first line is no SPDX line" "src/base/c.c:19: an unfinished thing" "2 violations"

# Nothing to look at is a failure, not a pass.
rm -rf "$tree/src"
mkdir "$tree/src"
printf 'base:\n' >"$tree/src/LAYERS"
expect layers "layers: 0 looked at"
echo "all rules catch what they should"
