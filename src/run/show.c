/* SPDX-License-Identifier: Apache-2.0 */
#include "run/show.h"

#include "report/console.h"
#include "report/vllm_block.h"
#include "summary/summary_json.h"

#include <unistd.h>

as_status show_summary(const struct summary *summary, const struct show_options *options, struct strbuf *out, struct as_error *err)
{
    struct vllm_choice choice;
    as_status status = AS_OK;
    switch (options->console) {
    case RUN_CONSOLE_TABLE:
        status = console_table(summary, console_wants_colour(isatty(STDOUT_FILENO) == 1), out);
        break;
    case RUN_CONSOLE_VLLM:
        status = vllm_choice_read(options->metrics, options->percentiles, &choice, err);
        if (status != AS_OK)
            return status;
        status = vllm_block(summary, &choice, out);
        break;
    case RUN_CONSOLE_JSON:
        status = summary_write_json(summary, 2, out);
        break;
    case RUN_CONSOLE_NONE:
        break;
    }
    return status == AS_OK ? AS_OK : error_set(err, status, "the summary cannot be shown");
}
