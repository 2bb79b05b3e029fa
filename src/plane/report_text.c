/* SPDX-License-Identifier: Apache-2.0 */
#include "plane/report_text.h"

#include "brief/brief.h"
#include "brief/convert.h"

#include <string.h>

#define VERSION "0.2.1"

bool report_text_knows(const char *generator)
{
    return convert_is_generator(generator);
}

static as_status told(as_status status, const struct problems *problems, struct as_error *err)
{
    if (status != AS_E_INVALID || !problems->first)
        return status;
    return error_set(err, status, "%s: %s", problems->first->path, problems->first->message);
}

static void write_report(const struct brief_report *report, bool is_json, struct strbuf *out)
{
    if (is_json)
        brief_write_json(report, out);
    else
        brief_write_yaml(report, out);
}

static as_status make_of_report(const struct report_source *source, struct strbuf *out, struct as_error *err)
{
    struct brief_report report;
    brief_init(&report);
    as_status status = told(brief_read_text(&report, source->text, source->len, err), &report.problems, err);
    if (status == AS_OK && strcmp(report.model->version, VERSION) != 0)
        status = error_set(err, AS_E_INVALID, "the report is of version %s", report.model->version);
    if (status == AS_OK)
        write_report(&report, source->is_json, out);
    brief_done(&report);
    return status;
}

as_status report_text_make(const struct report_source *source, struct strbuf *out, struct as_error *err)
{
    struct conversion conversion;
    if (!source->generator)
        return make_of_report(source, out, err);
    const struct convert_request request = {.generator = source->generator, .version = VERSION};
    conversion_init(&conversion);
    as_status status =
        told(convert_text(&request, source->text, source->len, &conversion, err), &conversion.problems, err);
    if (status == AS_OK && conversion.count != 1)
        status = error_set(err, AS_E_INVALID, "the document holds %zu benchmarks, not one", conversion.count);
    if (status == AS_OK)
        write_report(&conversion.reports[0], source->is_json, out);
    conversion_done(&conversion);
    return status;
}
