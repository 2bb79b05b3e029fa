/* SPDX-License-Identifier: Apache-2.0 */
#include "report/files.h"

#include "base/file.h"
#include "summary/summary_json.h"

as_status report_summary_text(const struct summary *summary, int indent, struct strbuf *ret, struct as_error *err)
{
    as_status status = summary_check(summary, err);
    if (status != AS_OK) {
        (void)error_prefix(err, "the summary contradicts itself");
        return status;
    }
    status = summary_write_json(summary, indent, ret);
    return status == AS_OK ? AS_OK
                           : error_set(err, status, "the summary could not be written: %s", status_sentence(status));
}

as_status report_write_summary(const char *path, const struct summary *summary, struct as_error *err)
{
    AS_AUTO_STRBUF struct strbuf text;
    strbuf_init(&text, 0);
    as_status status = report_summary_text(summary, 2, &text, err);
    return status == AS_OK ? file_write_atomic(path, strbuf_text(&text), text.len, err) : status;
}

as_status report_append_data_log(const char *path, const struct summary *summary, struct as_error *err)
{
    AS_AUTO_STRBUF struct strbuf text;
    strbuf_init(&text, 0);
    as_status status = report_summary_text(summary, 0, &text, err);
    return status == AS_OK ? file_append_line(path, strbuf_text(&text), text.len, err) : status;
}
