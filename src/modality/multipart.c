/* SPDX-License-Identifier: Apache-2.0 */
#include "modality/multipart.h"

#include "base/rng.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void multipart_boundary(uint64_t seed, uint64_t number, char ret[MULTIPART_BOUNDARY_BYTES])
{
    uint64_t one = rng_mix(seed, number), other = rng_mix(one, number + 1);
    snprintf(ret, MULTIPART_BOUNDARY_BYTES, "assay-%016" PRIx64 "%016" PRIx64, one, other);
}

bool multipart_is_apart(const char *boundary, const void *data, size_t len)
{
    return !memmem(data, len, boundary, strlen(boundary));
}

static void add_quoted(struct strbuf *out, const char *text)
{
    strbuf_addc(out, '"');
    for (; *text; text++) {
        if (*text == '"')
            strbuf_adds(out, "%22");
        else if (*text == '\r')
            strbuf_adds(out, "%0D");
        else if (*text == '\n')
            strbuf_adds(out, "%0A");
        else
            strbuf_addc(out, *text);
    }
    strbuf_addc(out, '"');
}

static void add_start(struct strbuf *out, const char *boundary, const char *name)
{
    strbuf_adds(out, "--");
    strbuf_adds(out, boundary);
    strbuf_adds(out, "\r\nContent-Disposition: form-data; name=");
    add_quoted(out, name);
}

void multipart_add_field(struct strbuf *out, const char *boundary, const char *name, const char *value, size_t len)
{
    add_start(out, boundary, name);
    strbuf_adds(out, "\r\n\r\n");
    strbuf_add(out, value, len);
    strbuf_adds(out, "\r\n");
}

void multipart_add_file(struct strbuf *out, const char *boundary, const char *name, const char *file_name,
                        const char *mime)
{
    add_start(out, boundary, name);
    strbuf_adds(out, "; filename=");
    add_quoted(out, file_name);
    strbuf_adds(out, "\r\nContent-Type: ");
    strbuf_adds(out, mime);
    strbuf_adds(out, "\r\n\r\n");
}

void multipart_add_end(struct strbuf *out, const char *boundary)
{
    strbuf_addf(out, "\r\n--%s--\r\n", boundary);
}
