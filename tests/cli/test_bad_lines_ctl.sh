#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every line of bad_lines_ctl.txt gives its exit status and its message and prints nothing on stdout; every option of `assay ctl` is in the
# table; a token never shows.
set -eu
assay="$ASSAY_BUILD_DIR/assay"
table="$ASSAY_SOURCE_DIR/tests/cli/bad_lines_ctl.txt"
[ -x "$ASSAY_BUILD_DIR/libexec/assay/assay-ctl" ] || { echo "assay-ctl is not built"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
echo '- 1' >list.yaml
printf 'project: {project_code: p}\n---\nprojects:\n- name: q\n' >second.yaml
printf 'projects:\n- project_code: p\n- project_code: p\n' >twice.yaml
printf 'a: 1\nb: [\n' >broken.yaml
printf 'project: {project_code: p, name: P}\n' >good.yaml
echo 'two words' >two
unset ASSAY_TOKEN
export ASSAY_SERVER=http://127.0.0.1:9
failed=0
checked=0
while IFS='|' read -r status arguments message; do
    case $status in '' | '#'*) continue ;; esac
    message=$(printf '%s' "$message" | sed 's/^ *//')
    eval "set -- $arguments"
    code=0
    "$assay" "$@" >out 2>err </dev/null || code=$?
    checked=$((checked + 1))
    if [ "$code" != "$((status))" ] || ! grep -qF -- "$message" err || [ -s out ]; then
        failed=$((failed + 1))
        echo "FAIL: assay$arguments"
        echo "  wanted $status: $message"
        echo "  got $code: $(cat err)"
    fi
done <"$table"
for option in $("$assay" help ctl | sed -n 's/^  --\(\[no-\]\)\{0,1\}\([a-z-]*\).*/\2/p'); do
    case $option in help | job) continue ;; esac
    grep -q -- "--${option}[ =|]" "$table" || {
        failed=$((failed + 1))
        echo "FAIL: ctl --$option has no bad value in bad_lines_ctl.txt"
    }
done
"$assay" ctl whoami --token sEcReT >out 2>err && { echo "FAIL: there is a server on port 9"; exit 1; }
grep -q 'visible in the process list' err || { echo "FAIL: no warning of --token"; failed=$((failed + 1)); }
! grep -q sEcReT out err || { echo "FAIL: the token shows"; failed=$((failed + 1)); }
[ "$checked" -ge 50 ] || { echo "only $checked lines were looked at"; exit 1; }
echo "$checked lines, $failed failed"
[ "$failed" = 0 ]
