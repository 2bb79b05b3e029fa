#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# `assay ctl` against the control plane, on SQLite and, where a server is installed, on PostgreSQL.
set -eu
for program in serve ctl; do
    [ -x "$ASSAY_BUILD_DIR/libexec/assay/assay-$program" ] || { echo "assay-$program is not built"; exit 77; }
done
python3 -c "import jsonschema, yaml" 2>/dev/null || { echo "python3-jsonschema or python3-yaml is missing"; exit 77; }
export PYTHONDONTWRITEBYTECODE=1
test="$ASSAY_SOURCE_DIR/tests/e2e/ctl/ctl_test.py"
# What depends on the store; filling the catalogue of an empty PostgreSQL takes ten times as long.
stored="Lifecycle.test_define_and_reproduce Lifecycle.test_changes_and_what_is_refused Lifecycle.test_a_run_from_its_start_to_its_end"
# A server that the caller has started would make both passes the same one.
given=${ASSAY_TEST_POSTGRES:-}
unset ASSAY_TEST_POSTGRES
python3 "$test"
python3 "$ASSAY_SOURCE_DIR/tests/e2e/ctl/prompts_test.py"
for folder in /usr/lib/postgresql/*/bin; do
    [ -x "$folder/initdb" ] && installed=yes
done
if [ -n "$given" ]; then
    # shellcheck disable=SC2086
    ASSAY_TEST_POSTGRES=$given python3 "$test" $stored
elif [ "${installed:-}" = yes ]; then
    # shellcheck disable=SC2086
    "$ASSAY_SOURCE_DIR/script/with-postgres" python3 "$test" $stored
else
    echo "no PostgreSQL server is installed: on SQLite only"
fi
