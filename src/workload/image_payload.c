/* SPDX-License-Identifier: Apache-2.0 */
#include "workload/images.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/json_write.h"
#include "base/strbuf.h"
#include "base/url.h"
#include "fetch/fetch.h"
#include "media/base64.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#define DOWNLOAD_TIMEOUT_NS (INT64_C(60) * NS_PER_S)

/* One reference being read. */
struct making {
    const struct images_options *options;
    struct strbuf bytes; /* of the image */
    struct image_payload payload;
    struct as_error err;
};

static size_t max_bytes(const struct images_options *options)
{
    return options->max_bytes ? options->max_bytes : IMAGE_BYTES_MAX_DEFAULT;
}

static bool begins_with(const char *text, const char *start)
{
    return strncasecmp(text, start, strlen(start)) == 0;
}

/* Bytes of the scheme of "scheme:…" (RFC 3986 section 3.1), 0 = none. A one-letter scheme is no scheme. */
static size_t scheme_bytes(const char *text)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    size_t len = strspn(text, letters);
    if (len > 0)
        len += strspn(text + len, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-.");
    return len > 1 && text[len] == ':' ? len : 0;
}

/* ---- reading ---- */

static as_status read_file(struct making *making, const char *path)
{
    char joined[PATH_MAX];
    const char *folder = making->options->folder;
    if (path[0] != '/' && !folder)
        return error_set(&making->err, AS_E_INVALID, "a relative path needs prompts that are a file");
    if (!path_join(joined, sizeof joined, path[0] == '/' ? "" : folder, path))
        return error_set(&making->err, AS_E_LIMIT, "the path is too long");
    struct stat st;
    if (stat(joined, &st) != 0)
        return error_set_errno(&making->err, errno, "the file cannot be read");
    if (!S_ISREG(st.st_mode))
        return error_set(&making->err, AS_E_INVALID, "it is no ordinary file");
    as_status status = file_read(joined, &making->bytes, &making->err);
    if (status == AS_E_LIMIT)
        error_set(&making->err, status, "the file is larger than %zu bytes", max_bytes(making->options));
    return status;
}

/* file:///path or file://localhost/path, percent-encoded (RFC 8089). */
static as_status read_file_url(struct making *making, const char *url)
{
    char path[PATH_MAX];
    const char *at = url + strlen("file:");
    if (at[0] == '/' && at[1] == '/') {
        at += 2;
        if (begins_with(at, "localhost/"))
            at += strlen("localhost");
    }
    if (at[0] != '/')
        return error_set(&making->err, AS_E_INVALID, "a file URL needs an absolute path on this machine: file:///PATH");
    size_t len = strlen(at);
    if (len >= sizeof path)
        return error_set(&making->err, AS_E_LIMIT, "the path is too long");
    memcpy(path, at, len + 1);
    url_decode(path);
    return read_file(making, path);
}

static as_status read_data_url(struct making *making, const char *url)
{
    const char *comma = strchr(url, ',');
    size_t head = comma ? (size_t)(comma - url) : 0, mark = strlen(";base64");
    if (head < mark || strncasecmp(comma - mark, ";base64", mark) != 0)
        return error_set(&making->err, AS_E_INVALID, "a data URL must be base64: data:image/png;base64,…");
    size_t len = strlen(comma + 1), room = base64_decoded_max(len), bytes = 0;
    if (room > max_bytes(making->options) + 3)
        return error_set(&making->err, AS_E_LIMIT, "the image is larger than %zu bytes", max_bytes(making->options));
    if (!strbuf_reserve(&making->bytes, room))
        return AS_E_NOMEM;
    as_status status = base64_decode(comma + 1, len, making->bytes.data, &bytes, &making->err);
    making->bytes.len = status == AS_OK ? bytes : 0;
    return status;
}

static as_status download(struct making *making, const char *url)
{
    const struct images_options *options = making->options;
    struct fetch_reply reply;
    struct fetch_request request = {
        .url = url,
        .timeout_ns = options->timeout_ns ? options->timeout_ns : DOWNLOAD_TIMEOUT_NS,
        .max_bytes = max_bytes(options),
        .ca_cert = options->ca_cert,
        .proxy = options->proxy,
        .insecure = options->insecure,
    };
    as_status status = fetch_run(&request, &reply, &making->err);
    if (status != AS_OK)
        return status;
    if (reply.status == 200)
        strbuf_add(&making->bytes, reply.body.data, reply.body.len);
    else
        status = error_set(&making->err, AS_E_NETWORK, "the server answered with status %d", reply.status);
    fetch_reply_done(&reply);
    return status == AS_OK ? strbuf_status(&making->bytes) : status;
}

static as_status read_reference(struct making *making, const char *reference)
{
    if (begins_with(reference, "data:"))
        return read_data_url(making, reference);
    if (begins_with(reference, "file:"))
        return read_file_url(making, reference);
    if (fetch_is_url(reference))
        return download(making, reference);
    size_t scheme = scheme_bytes(reference);
    if (scheme)
        return error_set(&making->err, AS_E_UNSUPPORTED,
                         "\"%.*s\" is no scheme images are read from: file, http, https, data", (int)scheme, reference);
    return reference[0] ? read_file(making, reference)
                        : error_set(&making->err, AS_E_INVALID, "the reference is empty");
}

/* ---- pixels ---- */

static bool has_to_shrink(const struct making *making)
{
    const struct image_payload *payload = &making->payload;
    uint32_t longest = payload->source_width > payload->source_height ? payload->source_width : payload->source_height;
    return making->options->max_dimension && longest > making->options->max_dimension;
}

/* Decodes, shrinks where needed and encodes: making->bytes is then what is sent. */
static as_status encode_anew(struct making *making, enum image_format format)
{
    const struct images_options *options = making->options;
    struct image_pixels pixels, small = {0};
    as_status status = image_decode(making->bytes.data, making->bytes.len, options->max_pixels, &pixels, &making->err);
    if (status != AS_OK)
        return status;
    making->payload.is_resized = has_to_shrink(making);
    if (making->payload.is_resized) {
        status = image_resize(&pixels, options->max_dimension, &small, &making->err);
        image_pixels_done(&pixels);
        if (status != AS_OK)
            return status;
        pixels = small;
    }
    strbuf_reset(&making->bytes);
    status = image_encode(&pixels, format, options->quality ? options->quality : 90, &making->bytes, &making->err);
    making->payload.format = format;
    making->payload.width = pixels.width;
    making->payload.height = pixels.height;
    making->payload.is_encoded = true;
    image_pixels_done(&pixels);
    return status;
}

static as_status process(struct making *making)
{
    const struct images_options *options = making->options;
    struct image_payload *payload = &making->payload;
    struct image_info info;
    payload->source_bytes = (int64_t)making->bytes.len;
    as_status status = image_probe(strbuf_text(&making->bytes), making->bytes.len, &info, &making->err);
    if (status != AS_OK)
        return status;
    payload->format = info.format;
    payload->source_width = payload->width = info.width;
    payload->source_height = payload->height = info.height;
    enum image_format wanted = options->format == IMAGE_UNKNOWN ? info.format : options->format;
    if (has_to_shrink(making) || wanted != info.format)
        return encode_anew(making, wanted);
    if (!options->skip_decoding)
        return image_verify(making->bytes.data, making->bytes.len, options->max_pixels, &info, &making->err);
    uint64_t pixels = (uint64_t)info.width * info.height,
             limit = options->max_pixels ? options->max_pixels : IMAGE_PIXELS_MAX_DEFAULT;
    return pixels <= limit ? AS_OK
                           : error_set(&making->err, AS_E_LIMIT, "%u × %u pixels are more than the limit of %llu",
                                       info.width, info.height, (unsigned long long)limit);
}

/* ---- text ---- */

static as_status make_data_url(struct making *making)
{
    struct image_payload *payload = &making->payload;
    char head[64];
    size_t head_len = (size_t)snprintf(head, sizeof head, "data:%s;base64,", image_mime(payload->format));
    size_t text_len = base64_encoded_bytes(making->bytes.len);
    payload->text = malloc(head_len + text_len + 1);
    if (!payload->text)
        return AS_E_NOMEM;
    memcpy(payload->text, head, head_len);
    base64_encode(making->bytes.data, making->bytes.len, payload->text + head_len);
    payload->len = head_len + text_len;
    payload->text[payload->len] = '\0';
    payload->bytes = (int64_t)making->bytes.len;
    return digest_bytes(making->bytes.data, making->bytes.len, payload->sha256);
}

static as_status make_url(struct making *making, const char *url)
{
    struct strbuf text;
    strbuf_init(&text, 0);
    json_escape(&text, url, strlen(url));
    if (strbuf_status(&text) != AS_OK) {
        strbuf_done(&text);
        return AS_E_NOMEM;
    }
    making->payload.is_by_url = true;
    making->payload.text = text.data;
    making->payload.len = text.len;
    return AS_OK;
}

static as_status make_encoded(struct making *making, const char *reference)
{
    struct image_payload *payload = &making->payload;
    struct mono start = mono_now();
    as_status status = read_reference(making, reference);
    struct mono loaded = mono_now();
    payload->load_ns = mono_diff_ns(loaded, start);
    if (status != AS_OK)
        return status;
    status = process(making);
    if (status == AS_OK)
        status = make_data_url(making);
    payload->processing_ns = mono_diff_ns(mono_now(), loaded);
    return status;
}

as_status image_payload_make(const char *reference, const struct images_options *options, struct image_payload *ret)
{
    struct making making = {
        .options = options,
        .payload = {.source_bytes = -1, .bytes = -1, .load_ns = -1, .processing_ns = -1},
        .err = {.message = ""},
    };
    strbuf_init(&making.bytes, max_bytes(options) + 1);
    bool is_by_url = options->by_url && fetch_is_url(reference);
    as_status status = is_by_url ? make_url(&making, reference) : make_encoded(&making, reference);
    strbuf_done(&making.bytes);
    if (status != AS_OK && status != AS_E_NOMEM) {
        free(making.payload.text);
        making.payload.text = NULL;
        making.payload.error = strdup(making.err.message[0] ? making.err.message : status_sentence(status));
        status = making.payload.error ? AS_OK : AS_E_NOMEM;
    }
    if (status != AS_OK) {
        image_payload_done(&making.payload);
        return status;
    }
    *ret = making.payload;
    return AS_OK;
}

void image_payload_done(struct image_payload *payload)
{
    free(payload->text);
    free(payload->error);
    *payload = (struct image_payload){0};
}
