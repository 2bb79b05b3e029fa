/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_CMD_VERSION_H
#define ASSAY_CMD_VERSION_H

/* What this program was built from and with; fixed when it was built. */

#include <stdbool.h>

struct version {
    const char *version;  /* "0.1.0" */
    const char *commit;   /* 12 hex digits, "unknown" outside a repository */
    bool is_modified;     /* built from files that differ from the commit */
    const char *full;     /* "0.1.0+06896ea7c2d1" or "0.1.0+06896ea7c2d1.modified" */
    const char *compiler; /* "gcc 12.2.0" */
    const char *build;    /* "RelWithDebInfo", and the sanitizers if any */
    const char *flags;    /* compiler flags */
};

const struct version *version_info(void);

#endif
