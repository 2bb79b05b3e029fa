/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_PROMPTS_IMPORT_TEXT_H
#define ASSAY_PROMPTS_IMPORT_TEXT_H

/*
 * Plain text in pieces of any size, cut into lines, or into paragraphs: lines up to a blank one, joined by line ends.
 * White space at both ends of each is removed (a CR before a line end too); blank ones are not given. One thread.
 */

#include "base/status.h"
#include "base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>

/* Another status than AS_OK ends the reading. */
struct text_sink {
    void *context;
    as_status (*take)(void *context, const char *text, size_t len);
};

struct text_lines {
    struct text_sink sink;
    struct strbuf line, paragraph; /* at most PROMPTS_LINE_MAX_BYTES each */
    bool by_paragraph;
};

void text_lines_init(struct text_lines *lines, bool by_paragraph, const struct text_sink *sink);
/* AS_E_LIMIT: a line or paragraph that is too long; AS_E_NOMEM; what `take` returned. */
as_status text_lines_feed(struct text_lines *lines, const char *data, size_t len) AS_NODISCARD;
as_status text_lines_finish(struct text_lines *lines) AS_NODISCARD;
void text_lines_done(struct text_lines *lines);

#endif
