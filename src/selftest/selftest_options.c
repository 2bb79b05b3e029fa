/* SPDX-License-Identifier: Apache-2.0 */
#include "selftest/selftest.h"

#define AT(field) offsetof(struct selftest_settings, field)

static const struct opt options[] = {
    {.name = "seconds",
     .type = OPT_INT,
     .at = AT(seconds),
     .group = "Load",
     .initial = "3",
     .unit = "s",
     .min = 1,
     .max = 60,
     .sentence = "Length of each load."},
    {.name = "max-streams",
     .type = OPT_INT,
     .at = AT(max_streams),
     .group = "Load",
     .initial = "8000",
     .min = 250,
     .max = 16000,
     .sentence = "Where the search for the rate that is too much ends, in streams of 20 chunks/s."},
    {.name = "json",
     .type = OPT_FLAG,
     .at = AT(json),
     .group = "Output",
     .sentence = "Print one JSON object instead of the table."},
    {.name = "keep",
     .type = OPT_FILE,
     .at = AT(keep),
     .group = "Output",
     .value = "FOLDER",
     .example = "selftest",
     .sentence = "Keep the results and truth logs of the loads in this folder."},
};
const struct opt_table selftest_option_table = OPT_TABLE(options, 0);
