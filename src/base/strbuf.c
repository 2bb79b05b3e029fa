/* SPDX-License-Identifier: Apache-2.0 */
#include "base/strbuf.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void strbuf_init(struct strbuf *buf, size_t max_bytes)
{
    *buf = (struct strbuf){.max_bytes = max_bytes, .status = AS_OK};
}

void strbuf_done(struct strbuf *buf)
{
    free(buf->data);
    *buf = (struct strbuf){.max_bytes = buf->max_bytes, .status = AS_OK};
}

void strbuf_reset(struct strbuf *buf)
{
    buf->len = 0;
    buf->status = AS_OK;
    if (buf->data)
        buf->data[0] = '\0';
}

bool strbuf_reserve(struct strbuf *buf, size_t bytes)
{
    if (buf->status != AS_OK)
        return false;
    size_t limit = buf->max_bytes ? buf->max_bytes : SIZE_MAX / 2;
    if (bytes > limit || buf->len > limit - bytes) {
        buf->status = AS_E_LIMIT;
        return false;
    }
    size_t need = buf->len + bytes + 1;
    if (need <= buf->capacity)
        return true;
    size_t capacity = buf->capacity < 64 ? 64 : buf->capacity;
    while (capacity < need)
        capacity += capacity / 2;
    char *data = realloc(buf->data, capacity);
    if (!data) {
        buf->status = AS_E_NOMEM;
        return false;
    }
    buf->data = data;
    buf->capacity = capacity;
    buf->data[buf->len] = '\0';
    return true;
}

void strbuf_add(struct strbuf *buf, const void *data, size_t len)
{
    if (!strbuf_reserve(buf, len))
        return;
    if (len)
        memcpy(buf->data + buf->len, data, len);
    buf->len += len;
    buf->data[buf->len] = '\0';
}

void strbuf_adds(struct strbuf *buf, const char *text)
{
    strbuf_add(buf, text, strlen(text));
}

void strbuf_addc(struct strbuf *buf, char c)
{
    strbuf_add(buf, &c, 1);
}

void strbuf_addf(struct strbuf *buf, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    va_list again;
    va_copy(again, args);
    int len = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    if (len >= 0 && strbuf_reserve(buf, (size_t)len)) {
        vsnprintf(buf->data + buf->len, (size_t)len + 1, fmt, again);
        buf->len += (size_t)len;
    }
    va_end(again);
}
