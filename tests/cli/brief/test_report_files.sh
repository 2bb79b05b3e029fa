#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Where reports are written to and results are read from: full disks, folders without rights, links, the results
# themselves, odd names, processes that die while writing. Results stay as they are, and no output is written by half.
# shellcheck disable=SC2016 # the inner shells' own $0
set -eu
program="$ASSAY_BUILD_DIR/benchmark-report"
[ -x "$program" ] || exit 77
native="$ASSAY_SOURCE_DIR/tests/golden/brief/native"
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
cd "$work"
mkdir run
cd run
cp "$native/vllm.json" "$native/guidellm.json" .
cp vllm.json kept.json
# shellcheck disable=SC2046 # names without blanks
unset $(env | sed -n 's/^\(LLMDBENCH_[A-Z_]*\)=.*/\1/p') || true
export TZ=UTC
failures=0

# check STATUS COMMAND…: out and err hold what it wrote.
check() {
    wanted=$1
    shift
    status=0
    "$@" >../out 2>../err || status=$?
    [ "$status" = "$wanted" ] || bad "exit $status, not $wanted: $*"
    cmp -s vllm.json kept.json || bad "the results were changed by: $*"
}
bad() {
    echo "FAILED: $*"
    sed 's/^/    /' ../err | head -5
    failures=$((failures + 1))
}
err() { grep -q -- "$1" ../err || bad "stderr has no '$1'"; }
nothing_left() { [ -z "$(find . -name "*.tmp*")" ] || bad "left behind: $(find . -name "*.tmp*")"; }

# The results are never the output, under no name.
ln -s vllm.json link.json
ln vllm.json twin.json
for name in vllm.json ./vllm.json link.json twin.json; do
    check 1 "$program" -f vllm.json "$name"
    err "is the results file; name another output file"
done

# Links: what they lead to is replaced, the link stays.
echo old >target.yaml
ln -s target.yaml link.yaml
check 1 "$program" vllm.json link.yaml
err "^Output file already exists: link.yaml$"
check 0 "$program" -f vllm.json link.yaml
[ -L link.yaml ] || bad "the link was replaced"
grep -q '^version:' target.yaml || bad "nothing behind the link"
ln -s none/target.yaml dangling.yaml
check 1 "$program" vllm.json dangling.yaml
err "dangling.yaml: No such file or directory"
ln -s circle.yaml circle.yaml
check 1 "$program" vllm.json circle.yaml
check 2 "$program" circle.yaml

# What cannot be written or read is said by its own name.
mkdir folder
check 1 "$program" -f vllm.json folder
err "folder: Is a directory"
check 1 "$program" vllm.json none/report.yaml
err "none/report.yaml: No such file or directory"
check 1 "$program" vllm.json vllm.json/report.yaml
check 1 "$program" vllm.json ""
long=$(printf 'a%.0s' $(seq 300))
check 1 "$program" vllm.json "$long"
check 2 "$program" "$long/$long"
check 2 "$program" ""
check 1 sh -c '"$0" vllm.json >/dev/full' "$program"
err "No space left on device"
mkfifo pipe
check 2 "$program" pipe
err "^Not a regular file: pipe$"
if [ "$(id -u)" = 0 ] && setpriv --reuid=65534 --regid=65534 --clear-groups "$program" -j >/dev/null 2>&1; then
    chmod 755 .. .
    cp vllm.json secret.json
    chmod 600 secret.json
    check 1 setpriv --reuid=65534 --regid=65534 --clear-groups "$program" vllm.json report.yaml
    err "report.yaml: Permission denied"
    check 1 setpriv --reuid=65534 --regid=65534 --clear-groups "$program" secret.json
    err "secret.json: Permission denied"
fi
nothing_left

# Names are bytes.
newline='a
b.yaml'
check 0 "$program" vllm.json "$newline"
[ -s "$newline" ] || bad "no file with a newline in its name"
latin=$(printf '\344\377.yaml')
check 0 "$program" vllm.json "$latin"
[ -s "$latin" ] || bad "no file with a name that is no UTF-8"
check 0 "$program" -w guidellm guidellm.json -- -o.yaml
[ -s ./-o_1.yaml ] || bad "no file whose name begins with a dash"
check 0 "$program" -w guidellm guidellm.json .hidden
[ -s .hidden_1 ] || bad "no .hidden_1"

# Standard input and output by their names; what was printed before stays.
check 0 sh -c '"$0" /dev/stdin <vllm.json' "$program"
check 0 sh -c '"$0" -w guidellm /dev/stdin <guidellm.json' "$program"
check 0 sh -c '{ echo first; "$0" -f vllm.json /dev/stdout; echo last; } | cat >all.txt' "$program"
[ "$(head -n 1 all.txt),$(tail -n 1 all.txt)" = first,last ] || bad "what was printed before or after is gone"

# A full disk: nothing of the file, and the next try works once there is room.
cat >full.sh <<'END'
mkdir disk && mount -t tmpfs -o size=8k tmpfs disk || exit 77
head -c 8192 /dev/zero >disk/fill 2>/dev/null
"$1" vllm.json disk/report.yaml && exit 10
[ ! -e disk/report.yaml ] || exit 11
"$1" -w guidellm guidellm.json disk/many.yaml && exit 12
[ "$(ls disk)" = fill ] || exit 13
rm disk/fill
"$1" vllm.json disk/report.yaml || exit 14
END
if unshare -m true 2>/dev/null; then
    status=0
    unshare -m sh full.sh "$program" >../out 2>../err || status=$?
    case $status in
        0) err "disk/report.yaml: No space left on device" ;;
        77) ;;
        *) bad "a full disk: $status" ;;
    esac
fi

# A process that dies while it works: the old report stays whole, or the new one is there.
echo old >killed.yaml
python3 - "$program" <<'END' || bad "killed while writing"
import signal, subprocess, sys, time

seen = {"old": 0, "new": 0}
for attempt in range(400):
    process = subprocess.Popen([sys.argv[1], "-f", "vllm.json", "killed.yaml"], stderr=subprocess.DEVNULL)
    time.sleep(attempt * 0.0003)
    process.send_signal(signal.SIGKILL)
    process.wait()
    text = open("killed.yaml", encoding="utf-8").read()
    if text == "old\n":
        seen["old"] += 1
    elif text.startswith("metrics:") and text.endswith("version: '0.1'\n"):
        seen["new"] += 1
        if seen["new"] == 5:
            break
        open("killed.yaml", "w", encoding="utf-8").write("old\n")
    else:
        sys.exit(f"by half: {text[-100:]!r}")
sys.exit(0 if min(seen.values()) > 0 else f"not killed at both times: {seen}")
END

[ "$failures" = 0 ]
