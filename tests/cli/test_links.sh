#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Which shared libraries each program is linked to: heavy ones belong to programs of their own, so that `assay` starts fast.
set -eu
build=$ASSAY_BUILD_DIR
command -v readelf >/dev/null || { echo "skipped: no readelf"; exit 77; }
failed=0

needs() { readelf -d "$build/$1" | sed -n 's/.*(NEEDED).*\[lib\([^.]*\).*/\1/p'; }

# links PROGRAM LIBRARY yes|no
links() {
    [ -f "$build/$1" ] || { echo "skipped: $1 is not built"; return 0; }
    if needs "$1" | grep -qx "$2"; then found=yes; else found=no; fi
    [ "$found" = "$3" ] || {
        failed=$((failed + 1))
        echo "FAIL: $1 linked to lib$2: $found"
    }
}

for library in curl sndfile mpg123; do links assay $library no; done
links libexec/assay/assay-fetch curl yes
links libexec/assay/assay-fetch ssl no
links libexec/assay/assay-ctl curl yes
for library in ssl sqlite3 pq png16; do links libexec/assay/assay-ctl $library no; done
links libexec/assay/assay-media sndfile yes
links libexec/assay/assay-media mpg123 yes
for library in curl ssl yaml-0 png16; do links libexec/assay/assay-media $library no; done
[ "$failed" = 0 ]
