/* SPDX-License-Identifier: Apache-2.0 */
#include "fetch/fetch.h"

#include "base/clock.h"
#include "fetch/child.h"
#include "fetch/wire.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

/* assay-fetch keeps the deadline itself; this long after it, it is taken for stuck. */
#define GRACE_NS (5 * NS_PER_S)

/* The file a body goes to: written beside its place, renamed at the end. */
struct target {
    char temporary[PATH_MAX];
    int fd; /* -1 = none */
};

bool fetch_is_url(const char *source)
{
    return strncasecmp(source, "http://", 7) == 0 || strncasecmp(source, "https://", 8) == 0;
}

void fetch_reply_done(struct fetch_reply *reply)
{
    if (reply)
        strbuf_done(&reply->body);
}

static bool has_line_break(const char *text)
{
    return text && strpbrk(text, "\r\n") != NULL;
}

static as_status check(const struct fetch_request *request, struct as_error *err)
{
    if (!request->url || !fetch_is_url(request->url) || has_line_break(request->url))
        return error_set(err, AS_E_INVALID, "only http:// and https:// URLs can be fetched");
    if (strlen(request->url) > FETCH_URL_MAX_BYTES)
        return error_set(err, AS_E_INVALID, "the URL is longer than %zu bytes", FETCH_URL_MAX_BYTES);
    if (request->body && request->body_len > FETCH_BODY_MAX_BYTES)
        return error_set(err, AS_E_LIMIT, "the body is larger than %zu bytes", FETCH_BODY_MAX_BYTES);
    if (has_line_break(request->method) || has_line_break(request->bearer))
        return error_set(err, AS_E_INVALID, "a method or key holds a line break");
    for (size_t i = 0; i < request->header_count; i++)
        if (has_line_break(request->headers[i]) || !strchr(request->headers[i], ':'))
            return error_set(err, AS_E_INVALID, "a header is not of the form \"Name: value\"");
    return AS_OK;
}

static as_status target_open(const char *path, struct target *target, struct as_error *err)
{
    target->fd = -1;
    if (!path)
        return AS_OK;
    if (snprintf(target->temporary, sizeof target->temporary, "%s.XXXXXX", path) >= (int)sizeof target->temporary)
        return error_set(err, AS_E_LIMIT, "the path of the output is too long");
    target->fd = mkostemp(target->temporary, O_CLOEXEC);
    if (target->fd < 0)
        return error_set_errno(err, errno, "%s", target->temporary);
    return AS_OK;
}

/* Puts the file in its place, or away. */
static as_status target_close(struct target *target, const char *path, bool is_kept, struct as_error *err)
{
    if (target->fd < 0)
        return AS_OK;
    mode_t mask = umask(0);
    umask(mask);
    bool is_written = is_kept && fchmod(target->fd, 0666 & ~mask) == 0 && fsync(target->fd) == 0;
    close(target->fd);
    target->fd = -1;
    if (is_written && rename(target->temporary, path) == 0)
        return AS_OK;
    int error = errno;
    unlink(target->temporary);
    return is_kept ? error_set_errno(err, error, "%s", path) : AS_OK;
}

static int64_t timeout_of(const struct fetch_request *request)
{
    return request->timeout_ns > 0 ? request->timeout_ns : FETCH_TIMEOUT_DEFAULT_NS;
}

static size_t limit_of(const struct fetch_request *request)
{
    return request->max_bytes ? request->max_bytes : FETCH_MAX_BYTES_DEFAULT;
}

/* Runs the program with the request line; *ret's body may hold something on failure too. */
static as_status run(const struct fetch_request *request, const struct strbuf *line, int stdout_fd,
                     struct fetch_result *ret, struct as_error *err)
{
    char program[PATH_MAX];
    struct fetch_child child;
    AS_AUTO_STRBUF struct strbuf result;
    strbuf_init(&result, FETCH_RESULT_MAX_BYTES);
    struct strbuf body;
    strbuf_init(&body, limit_of(request));
    as_status status = fetch_program_find("assay-fetch", program, sizeof program, err);
    if (status == AS_OK)
        status = fetch_child_start(program, stdout_fd, &child, err);
    if (status != AS_OK)
        return status;
    struct fetch_exchange exchange = {
        .parts = {line->data, request->body},
        .part_bytes = {line->len, request->body ? request->body_len : 0},
        .output = &body,
        .result = &result,
    };
    status = fetch_child_talk(&child, &exchange, mono_now().ns + timeout_of(request) + GRACE_NS);
    fetch_child_end(&child, status == AS_OK);
    if (status != AS_OK)
        error_set(err, status, "assay-fetch: %s", status_sentence(status));
    else if (fetch_read_result(strbuf_text(&result), result.len, ret) != AS_OK)
        status = error_set(err, AS_E_INTERNAL, "assay-fetch ended without a result");
    else
        ret->reply.body = body;
    if (status != AS_OK)
        strbuf_done(&body);
    return status;
}

as_status fetch_run(const struct fetch_request *request, struct fetch_reply *ret, struct as_error *err)
{
    struct target target;
    struct fetch_result result;
    AS_AUTO_STRBUF struct strbuf line;
    strbuf_init(&line, FETCH_HEADER_MAX_BYTES);
    as_status status = check(request, err);
    if (status != AS_OK)
        return status;
    status = fetch_write_request(request, &line);
    if (status != AS_OK)
        return error_set(err, status, "the request is too large: %s", status_sentence(status));
    status = target_open(request->output_path, &target, err);
    if (status != AS_OK)
        return status;
    status = run(request, &line, target.fd, &result, err);
    bool is_reply = status == AS_OK && result.status_code == AS_OK;
    bool is_kept = is_reply && result.reply.status / 100 == 2;
    as_status file_status = target_close(&target, request->output_path, is_kept, is_kept ? err : NULL);
    if (status != AS_OK)
        return status;
    if (is_reply && file_status == AS_OK) {
        *ret = result.reply;
        return AS_OK;
    }
    fetch_reply_done(&result.reply);
    return is_reply ? file_status : error_set(err, result.status_code, "%s", result.message);
}
