/* SPDX-License-Identifier: Apache-2.0 */
#include "run/summarize_output.h"

#include "report/files.h"
#include "run/show.h"

#include <string.h>

static bool is_stdout(const char *path)
{
    return path && strcmp(path, "-") == 0;
}

as_status summarize_write_files(const struct summarize_config *config, const struct summary *summary, struct as_error *err)
{
    as_status status = AS_OK;
    if (config->output && !is_stdout(config->output))
        status = report_write_summary(config->output, summary, err);
    if (status == AS_OK && config->data_log && !is_stdout(config->data_log))
        status = report_append_data_log(config->data_log, summary, err);
    return status;
}

as_status summarize_check_outputs(const struct summarize_config *config, const struct opt_parsed *parsed, struct as_error *err)
{
    bool is_output = is_stdout(config->output), is_data_log = is_stdout(config->data_log);
    bool is_console = options_state(parsed, "console")->origin != OPT_FROM_DEFAULT && config->console != RUN_CONSOLE_NONE;
    if ((is_output && is_data_log) || ((is_output || is_data_log) && is_console))
        return error_set(err, AS_E_USAGE, "only one of --output -, --data-log - and --console can have standard output");
    return AS_OK;
}

as_status summarize_show(const struct summarize_config *config, const struct summary *summary, struct strbuf *text, struct as_error *err)
{
    struct show_options show = {.console = (enum run_console)config->console};
    if (is_stdout(config->output))
        return report_summary_text(summary, 2, text, err);
    if (!is_stdout(config->data_log))
        return show_summary(summary, &show, text, err);
    as_status status = report_summary_text(summary, 0, text, err);
    strbuf_addc(text, '\n');
    return status;
}
