#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The command `assay sim`: its first line, https, unix socket, key file, a certificate that changes, pinning, its end, its refusals.
set -eu

assay=$ASSAY_BUILD_DIR/assay
dir=$(mktemp -d)
pid=
finish() {
    [ -z "$pid" ] || kill "$pid" 2>/dev/null || true
    rm -rf "$dir"
}
trap finish EXIT
die() { echo "$*"; [ ! -s "$dir/err" ] || cat "$dir/err"; exit 1; }

# start WORDS…: the simulator in the background, its first line in $url.
start() {
    rm -f "$dir/line"
    mkfifo "$dir/line"
    "$assay" sim "$@" >"$dir/line" 2>"$dir/err" &
    pid=$!
    read -r url <"$dir/line" || die "no first line: $*"
}
stop() {
    kill -TERM "$pid"
    status=0
    wait "$pid" || status=$?
    pid=
    [ "$status" -eq 0 ] || die "ended with $status"
}
chat='{"messages":[{"role":"user","content":"hello"}],"max_tokens":3,"stream":true}'
ask() { curl -sS --max-time 20 -d "$chat" "$@"; }

start --port 0 --ttft 1ms --itl 1ms --truth-log "$dir/truth.jsonl" --seed 3
echo "$url" | grep -Eq '^http://127\.0\.0\.1:[0-9]+$' || die "first line: $url"
ask "$url/v1/chat/completions" | grep -q '^data: \[DONE\]' || die "no stream"
refused=0
"$assay" sim --port "${url##*:}" >/dev/null 2>"$dir/second" || refused=$?
[ "$refused" -eq 74 ] || die "a port in use: exit $refused"
grep -q "${url##*:}" "$dir/second" || die "a port in use is not named"
stop
[ "$(wc -l <"$dir/truth.jsonl")" -eq 1 ] || die "truth log"

start --port 0 --ttft 1ms --tls-self-signed
ask -k "$url/v1/chat/completions" | grep -q '^data: \[DONE\]' || die "no stream over TLS"
case $url in https://127.0.0.1:*) ;; *) die "first line: $url" ;; esac
stop

start --unix "$dir/sim.sock" --ttft 1ms
[ "$url" = "unix:$dir/sim.sock" ] || die "first line: $url"
ask --unix-socket "$dir/sim.sock" http://sim/v1/chat/completions | grep -q '^data: \[DONE\]' || die "no stream over a unix socket"
stop

printf 'secret-1\n' >"$dir/key"
start --port 0 --ttft 1ms --api-key-file "$dir/key"
[ "$(ask -o /dev/null -w '%{http_code}' "$url/v1/chat/completions")" = 401 ] || die "no key was asked for"
[ "$(ask -o /dev/null -w '%{http_code}' -H 'Authorization: Bearer secret-1' "$url/v1/chat/completions")" = 200 ] || die "the key was refused"
! tr '\0' ' ' <"/proc/$pid/cmdline" | grep -q secret-1 || die "the key is in the process list"
stop

certificate() {
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj "/CN=$1" -keyout "$dir/new.key" -out "$dir/new.pem" 2>/dev/null
    mv "$dir/new.key" "$dir/tls.key"
    mv "$dir/new.pem" "$dir/tls.pem"
}
served_name() { openssl s_client -connect "${url#https://}" </dev/null 2>/dev/null | sed -n 's/^subject=CN = //p'; }
certificate first
start --port 0 --tls-cert "$dir/tls.pem" --tls-key "$dir/tls.key"
[ "$(served_name)" = first ] || die "certificate: $(served_name)"
certificate second
tries=0
until [ "$(served_name)" = second ]; do
    tries=$((tries + 1))
    [ "$tries" -lt 100 ] || die "a changed certificate is not read"
    sleep 0.1
done
stop

cpu=$(awk '/^Cpus_allowed_list/ { split($2, part, /[-,]/); print part[1] }' /proc/self/status)
start --port 0 --cpu "$cpu"
curl -sS --max-time 20 "$url/health" # the thread has begun, so it is pinned
[ "$(awk '/^Cpus_allowed_list/ { print $2 }' "/proc/$pid/status")" = "$cpu" ] || die "not pinned to CPU $cpu"
stop

refusal() {
    code=$1
    word=$2
    shift 2
    status=0
    "$assay" sim "$@" >"$dir/out" 2>"$dir/err" || status=$?
    [ "$status" -eq "$code" ] || die "$*: exit $status"
    grep -q -e "$word" "$dir/err" || die "$*: does not say $word"
    [ ! -s "$dir/out" ] || die "$*: writes to stdout"
}
refusal 2 --cpu --port 0 --cpu 1023
refusal 2 --threads --port 0 --slots 2 --threads 2
refusal 2 --fault --port 0 --fault 429
refusal 2 overlap --port 0 --freeze 1s+5s --freeze 2s+1s
refusal 66 nonexistent --port 0 --truth-log /nonexistent/truth.jsonl
: >"$dir/empty"
refusal 65 empty --port 0 --api-key-file "$dir/empty"
