/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_RUN_SUMMARIZE_OPTIONS_H
#define ASSAY_RUN_SUMMARIZE_OPTIONS_H

/* The command line of `assay summarize`. */

#include "options/options.h"

#include <stdbool.h>

struct summarize_config {
    const char *output, *data_log;
    int console; /* enum run_console */
    bool fail_on_error, require_valid;
};

extern const struct opt_command SUMMARIZE_LINE;

#endif
