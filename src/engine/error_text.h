/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_ENGINE_ERROR_TEXT_H
#define ASSAY_ENGINE_ERROR_TEXT_H

/*
 * One sentence out of whatever a server sent with an error: OpenAI's error object, flat JSON, `detail` as text or list,
 * an error that is a string, HTML, an event stream, plain text. The sentence is one line of valid UTF-8 of at most
 * ERROR_TEXT_MAX bytes without any of the secrets. Pure functions; any thread.
 */

#include "engine/record.h"

#include <stdbool.h>
#include <stddef.h>

#define ERROR_TEXT_MAX 1024

struct error_text {
    char text[ERROR_TEXT_MAX + 1]; /* NUL-terminated */
    size_t len;
    bool is_oom; /* the whole sentence, before it was cut, tells of exhausted memory */
};

/*
 * Makes *ret from a body; empty when it holds nothing to read. `secrets` ends with NULL (it may be NULL itself): texts
 * of at least 4 bytes, each replaced by "***".
 */
void error_text_from_body(const char *body, size_t len, const char *const *secrets, struct error_text *ret);
/* The same from a sentence that is plain text. `text` may lie in *ret. */
void error_text_from_plain(const char *text, size_t len, const char *const *secrets, struct error_text *ret);

/*
 * True when a text says that memory ran out: known phrases, any case, at word limits, so that "bloom", "zoom" and
 * "room" are not among them. Meant for error texts, never for generated text.
 */
bool error_text_is_oom(const char *text, size_t len);

/* The class of a final status that is not 2xx (the spec's table; other 4xx are http_other, 3xx redirect). */
enum error_type error_type_of_status(int status);

#endif
