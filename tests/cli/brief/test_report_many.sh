#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Results files of many benchmarks, read one at a time: what stands where in the file makes no difference, and when one
# of them makes no report nothing is written.
set -eu
program="$ASSAY_BUILD_DIR/benchmark-report"
[ -x "$program" ] || exit 77
native="$ASSAY_SOURCE_DIR/tests/golden/brief/native/guidellm.json"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
# shellcheck disable=SC2046 # names without blanks
unset $(env | sed -n 's/^\(LLMDBENCH_[A-Z_]*\)=.*/\1/p') || true
export TZ=UTC
failures=0

bad() {
    echo "FAILED: $*"
    sed 's/^/    /' err | head -5
    failures=$((failures + 1))
}

# convert FILE [OPTION]…: out without what differs from one conversion to the next, err, status.
convert() {
    file=$1
    shift
    status=0
    "$program" -w guidellm "$file" "$@" >all 2>err || status=$?
    sed '/^  *uid: /d' all >out
}

# same WHAT FILE [OPTION]…: like the file as it is.
same() {
    what=$1
    shift
    convert "$@"
    [ "$status" = 0 ] || bad "$what: exit $status"
    cmp -s out plain || bad "$what: other reports"
}

/usr/bin/env python3 - "$native" <<'EOF'
import json, sys

native = json.load(open(sys.argv[1], encoding="utf-8"))
many = native["benchmarks"]
rest = {name: value for name, value in native.items() if name != "benchmarks"}
dump = json.dumps


def write(name, text):
    open(name, "w", encoding="utf-8").write(text)


def joined(*pairs):
    return "{" + ",".join(f"{dump(name)}:{value if isinstance(value, str) else dump(value)}" for name, value in pairs) + "}"


write("plain.json", joined(*rest.items(), ("benchmarks", many)))
write("behind.json", joined(("benchmarks", many), *rest.items()))
write("twice.json", joined(("benchmarks", many[:1]), *rest.items(), ("benchmarks", many)))
write("scalar-first.json", joined(("benchmarks", "5"), *rest.items(), ("benchmarks", many)))
write("scalar-last.json", joined(("benchmarks", many), *rest.items(), ("benchmarks", "5")))
write("spaced.json", "\ufeff" + json.dumps(native, indent=4))
write("words.json", joined(*rest.items(), ("benchmarks", dump(many)[:-2] + ',"extra":NaN}]')))
write("numbers.json", joined(*rest.items(), ("benchmarks", [1, 2])))
write("empty.json", joined(*rest.items(), ("benchmarks", [])))
write("cut.json", joined(*rest.items(), ("benchmarks", many))[:-40])
broken = json.loads(dump(many))
broken[-1]["metrics"]["request_totals"]["total"] = "many"
broken[-1]["start_time"] = {"a": 1}
del broken[-1]["metrics"]["request_totals"]["total"]
broken[-1]["metrics"]["request_totals"]["total"] = [1]
write("broken.json", joined(*rest.items(), ("benchmarks", broken)))
EOF

convert plain.json
[ "$status" = 0 ] || bad "exit $status"
mv out plain
grep -q '^# Benchmark 2 of 2$' plain || bad "no banner"
same "what belongs to all stands behind" behind.json
same "the list stands twice, the last one counts" twice.json
same "the list stands twice, first as a number" scalar-first.json
same "byte order mark and blanks" spaced.json
same "NaN in the last benchmark" words.json
convert scalar-last.json
[ "$status" = 1 ] || bad "a number for the list: exit $status"
grep -q 'benchmarks: must be a list' err || bad "a number for the list: message"
convert empty.json
[ "$status" = 1 ] || bad "an empty list: exit $status"
convert cut.json written.yaml
[ "$status" = 1 ] || bad "a file that was cut: exit $status"
grep -q 'cut.json' err || bad "a file that was cut: its name"
convert numbers.json written.yaml
[ "$status" = 1 ] || bad "benchmarks that are numbers: exit $status"
for version in 0.1 0.2; do
    convert broken.json written.yaml -b $version
    [ "$status" = 1 ] || echo "note: version $version takes it: $status"
done
convert plain.json -i 7
[ "$status" = 1 ] || bad "an index beyond: exit $status"
grep -q 'there is no index 7 of 2' err || bad "an index beyond: message"
convert plain.json -b 0.1 -i 1
mv out one
convert plain.json -b 0.1 -i -1
sed 's/stage: -1/stage: 1/' out >counted
cmp -s one counted || bad "the last one, counted from the end, is another"
[ -z "$(find . -name 'written*')" ] || bad "something was written: $(find . -name 'written*')"
[ "$failures" = 0 ]
