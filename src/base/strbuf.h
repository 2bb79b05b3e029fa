/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_BASE_STRBUF_H
#define ASSAY_BASE_STRBUF_H

/*
 * A growing byte buffer with a maximum. The first failure (memory, maximum) sticks: later adds
 * do nothing and strbuf_status tells it, so that a long series of adds needs one check.
 * `data` is always NUL-terminated once it is not NULL; the NUL is not counted in `len`.
 */

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>

struct strbuf {
    char *data;
    size_t len;
    size_t capacity;  /* bytes allocated */
    size_t max_bytes; /* 0 = no limit */
    as_status status; /* AS_OK, AS_E_NOMEM or AS_E_LIMIT */
};

/* Cleanup attribute for locals. */
#define AS_AUTO_STRBUF __attribute__((cleanup(strbuf_done)))

void strbuf_init(struct strbuf *buf, size_t max_bytes);
/* Frees the memory; the buffer may be initialised again. */
void strbuf_done(struct strbuf *buf);
/* Empties it and forgets a failure, keeps the memory. */
void strbuf_reset(struct strbuf *buf);

/* Makes room for `bytes` more (and the NUL); false on failure. */
bool strbuf_reserve(struct strbuf *buf, size_t bytes);
void strbuf_add(struct strbuf *buf, const void *data, size_t len);
void strbuf_adds(struct strbuf *buf, const char *text);
void strbuf_addc(struct strbuf *buf, char c);
void strbuf_addf(struct strbuf *buf, const char *fmt, ...) AS_PRINTF(2, 3);

static inline as_status strbuf_status(const struct strbuf *buf)
{
    return buf->status;
}

/* The text, "" while empty. */
static inline const char *strbuf_text(const struct strbuf *buf)
{
    return buf->data ? buf->data : "";
}

#endif
