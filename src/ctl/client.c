/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/client.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/url.h"
#include "ctl/problem.h"
#include "http/sse.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <sys/stat.h>

#define TRIES       4
#define PAUSE_NS    (NS_PER_S / 4) /* before the first repeat; doubles */
#define PAUSE_MAX_S 10             /* longest Retry-After that is waited for */
#define BODY_MAX    ((size_t)64 * 1024 * 1024)
#define TOKEN_MAX   4096
#define ETAG_MAX    128
#define KEY_BYTES   16
#define SHOWN_BYTES 300
#define CONNECT_MS  10000L
#define EVENT_MAX   ((size_t)1024 * 1024)

/* One try of a call. */
struct attempt {
    struct strbuf body;
    CURL *curl;
    const struct client_sink *sink; /* of good answers; NULL = body */
    bool has_written;
    as_status status; /* of the sink */
    char etag[ETAG_MAX];
    long retry_after_s; /* -1 = not said */
    char error[CURL_ERROR_SIZE];
};

static as_status read_token(struct client *client, struct as_error *err)
{
    struct strbuf text AS_AUTO_STRBUF;
    const char *token = client->settings->token;
    strbuf_init(&text, TOKEN_MAX);
    if (client->settings->token_file) {
        as_status status = file_read(client->settings->token_file, &text, err);
        if (status != AS_OK)
            return error_prefix(err, "--token-file");
        token = strbuf_text(&text);
    }
    if (!token)
        return AS_OK;
    size_t len = strcspn(token, " \t\r\n");
    if (len == 0 || token[len + strspn(token + len, " \t\r\n")] != '\0')
        return error_set(err, AS_E_USAGE, "the token is empty or more than one word");
    client->token = arena_strndup(client->arena, token, len);
    return client->token ? AS_OK : error_set(err, AS_E_NOMEM, "out of memory");
}

as_status client_open(struct client *client, const struct ctl_settings *settings, struct arena *arena,
                      struct as_error *err)
{
    size_t len = strlen(settings->server);
    *client = (struct client){.settings = settings, .arena = arena};
    while (len && settings->server[len - 1] == '/')
        len--;
    if (strncasecmp(settings->server, "http://", 7) != 0 && strncasecmp(settings->server, "https://", 8) != 0)
        return error_set(err, AS_E_USAGE, "--server is no URL that begins with http:// or https://");
    client->server = arena_strndup(arena, settings->server, len);
    as_status status = read_token(client, err);
    if (status != AS_OK)
        return status;
    client->curl = curl_easy_init();
    return client->curl && client->server ? AS_OK : error_set(err, AS_E_NOMEM, "out of memory");
}

void client_close(struct client *client)
{
    if (client->curl)
        curl_easy_cleanup(client->curl);
    client->curl = NULL;
}

static size_t on_body(char *data, size_t size, size_t count, void *context)
{
    struct attempt *attempt = context;
    long http_status = 0;
    if (attempt->sink)
        curl_easy_getinfo(attempt->curl, CURLINFO_RESPONSE_CODE, &http_status);
    if (http_status >= 200 && http_status <= 299) {
        attempt->has_written = true;
        attempt->status = attempt->sink->write(attempt->sink->context, data, size * count);
        return attempt->status == AS_OK ? size * count : 0;
    }
    strbuf_add(&attempt->body, data, size * count);
    return strbuf_status(&attempt->body) == AS_OK ? size * count : 0;
}

/* The value of a header line when its name is `name`; NULL else. */
static const char *header_value(const char *line, size_t len, const char *name)
{
    size_t name_len = strlen(name);
    if (len <= name_len || strncasecmp(line, name, name_len) != 0 || line[name_len] != ':')
        return NULL;
    const char *value = line + name_len + 1;
    return value + strspn(value, " \t");
}

static size_t on_header(char *line, size_t size, size_t count, void *context)
{
    struct attempt *attempt = context;
    size_t len = size * count;
    char copy[512];
    snprintf(copy, sizeof copy, "%.*s", (int)len, line);
    copy[strcspn(copy, "\r\n")] = '\0';
    const char *etag = header_value(copy, strlen(copy), "ETag");
    const char *wait = header_value(copy, strlen(copy), "Retry-After");
    if (etag)
        snprintf(attempt->etag, sizeof attempt->etag, "%.*s", ETAG_MAX - 1, etag);
    if (wait && *wait >= '0' && *wait <= '9')
        attempt->retry_after_s = strtol(wait, NULL, 10);
    return len;
}

static bool add_header(struct curl_slist **list, const char *name, const char *value)
{
    struct strbuf line AS_AUTO_STRBUF;
    strbuf_init(&line, 0);
    strbuf_addf(&line, "%s: %s", name, value);
    struct curl_slist *longer = strbuf_status(&line) == AS_OK ? curl_slist_append(*list, line.data) : NULL;
    if (longer)
        *list = longer;
    return longer != NULL;
}

static void set_connection(const struct client *client, CURL *curl)
{
    const struct ctl_settings *settings = client->settings;
    struct stat about;
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_USERAGENT, "assay-ctl");
    curl_easy_setopt(curl, CURLOPT_PROXY, "");
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_MS);
    if (settings->unix_socket)
        curl_easy_setopt(curl, CURLOPT_UNIX_SOCKET_PATH, settings->unix_socket);
    if (settings->ca_cert && stat(settings->ca_cert, &about) == 0 && S_ISDIR(about.st_mode))
        curl_easy_setopt(curl, CURLOPT_CAPATH, settings->ca_cert);
    else if (settings->ca_cert)
        curl_easy_setopt(curl, CURLOPT_CAINFO, settings->ca_cert);
}

static as_status make_headers(const struct client *client, const struct client_call *call, const char *repeat_key,
                              struct curl_slist **ret)
{
    struct strbuf bearer AS_AUTO_STRBUF;
    strbuf_init(&bearer, 0);
    strbuf_addf(&bearer, "Bearer %s", client->token ? client->token : "");
    bool ok = strbuf_status(&bearer) == AS_OK;
    ok = ok && (!client->token || add_header(ret, "Authorization", bearer.data));
    ok = ok && (!call->body || add_header(ret, "Content-Type", call->media ? call->media : "application/json"));
    ok = ok && (!call->if_match || add_header(ret, "If-Match", call->if_match));
    ok = ok && (!repeat_key || add_header(ret, "Idempotency-Key", repeat_key));
    return ok ? AS_OK : AS_E_NOMEM;
}

/* Waits before a repeat: what the server said, else longer each time. */
static void pause_before(int number, const struct attempt *attempt)
{
    int64_t wait_ns = (int64_t)PAUSE_NS << number;
    if (attempt->retry_after_s >= 0)
        wait_ns = attempt->retry_after_s * NS_PER_S;
    mono_sleep_until((struct mono){mono_now().ns + wait_ns});
}

static as_status network_error(const struct client *client, CURLcode code, const char *reason, struct as_error *err)
{
    struct strbuf shown AS_AUTO_STRBUF;
    strbuf_init(&shown, 0);
    url_add_shown(&shown, client->server);
    as_status status = code == CURLE_OPERATION_TIMEDOUT ? AS_E_TIMEOUT : AS_E_NETWORK;
    if (code == CURLE_URL_MALFORMAT)
        status = AS_E_USAGE;
    return error_set(err, status, "%.*s: %s", SHOWN_BYTES, strbuf_text(&shown),
                     reason[0] ? reason : curl_easy_strerror(code));
}

static bool is_worth_repeating(CURLcode code, long status, const struct attempt *attempt)
{
    if (attempt->has_written)
        return false;
    if (code == CURLE_OK)
        return (status == 429 || status == 503) && attempt->retry_after_s <= PAUSE_MAX_S;
    return code == CURLE_COULDNT_CONNECT || code == CURLE_RECV_ERROR || code == CURLE_SEND_ERROR ||
           code == CURLE_GOT_NOTHING || code == CURLE_PARTIAL_FILE;
}

/* Tries until there is an answer or no more hope; the last try's outcome is in *attempt. */
static CURLcode try_all(struct client *client, struct attempt *attempt, long *ret_status)
{
    CURLcode code = CURLE_OK;
    for (int number = 0; number < TRIES; number++) {
        strbuf_reset(&attempt->body);
        attempt->etag[0] = attempt->error[0] = '\0';
        attempt->retry_after_s = -1;
        code = curl_easy_perform(client->curl);
        curl_easy_getinfo(client->curl, CURLINFO_RESPONSE_CODE, ret_status);
        if (number + 1 == TRIES || !is_worth_repeating(code, *ret_status, attempt))
            break;
        pause_before(number, attempt);
    }
    return code;
}

static as_status take_answer(struct client *client, struct attempt *attempt, long status, struct client_answer *ret)
{
    struct as_error ignored;
    *ret = (struct client_answer){.status = status, .len = attempt->body.len};
    ret->etag = arena_strdup(client->arena, attempt->etag);
    ret->text = arena_strndup(client->arena, strbuf_text(&attempt->body), attempt->body.len);
    if (!ret->etag || !ret->text)
        return AS_E_NOMEM;
    const char first = ret->text[strspn(ret->text, " \t\r\n")];
    if (first == '{' || first == '[')
        if (json_parse(ret->text, ret->len, NULL, client->arena, &ret->json, &ignored) != AS_OK)
            ret->json = NULL;
    return AS_OK;
}

/* A fresh key of 128 random bits, or NULL for calls that write nothing. */
static const char *make_key(const struct client_call *call, char ret[KEY_BYTES * 2 + 1])
{
    unsigned char bytes[KEY_BYTES];
    if (!call->method || strcmp(call->method, "GET") == 0 || getrandom(bytes, sizeof bytes, 0) != KEY_BYTES)
        return NULL;
    for (size_t i = 0; i < KEY_BYTES; i++)
        snprintf(ret + 2 * i, 3, "%02x", (unsigned)bytes[i]);
    return ret;
}

static void set_call(struct client *client, const struct client_call *call, struct attempt *attempt)
{
    CURL *curl = client->curl;
    curl_easy_reset(curl);
    set_connection(client, curl);
    if (call->sink || call->media) {
        curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
        curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, (long)(client->settings->timeout_ns / NS_PER_S) + 1);
    } else {
        curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)(client->settings->timeout_ns / NS_PER_MS));
    }
    curl_easy_setopt(curl, CURLOPT_ACCEPT_ENCODING, "");
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, attempt->error);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, attempt);
    curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt(curl, CURLOPT_HEADERDATA, attempt);
    if (call->body) {
        curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)call->body_len);
        curl_easy_setopt(curl, CURLOPT_POSTFIELDS, call->body);
    }
    if (call->method)
        curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, call->method);
}

static as_status run(struct client *client, const struct client_call *call, bool allows_none, struct client_answer *ret,
                     struct as_error *err)
{
    struct attempt attempt = {.retry_after_s = -1, .curl = client->curl, .sink = call->sink};
    struct strbuf url AS_AUTO_STRBUF;
    struct curl_slist *headers = NULL;
    char key[KEY_BYTES * 2 + 1];
    long http_status = 0;
    strbuf_init(&attempt.body, BODY_MAX);
    strbuf_init(&url, 0);
    strbuf_addf(&url, "%s%s", client->server, call->path);
    as_status status = strbuf_status(&url);
    if (status == AS_OK)
        status = make_headers(client, call, make_key(call, key), &headers);
    if (status == AS_OK) {
        set_call(client, call, &attempt);
        curl_easy_setopt(client->curl, CURLOPT_URL, url.data);
        curl_easy_setopt(client->curl, CURLOPT_HTTPHEADER, headers);
        CURLcode code = try_all(client, &attempt, &http_status);
        status = code == CURLE_OK ? take_answer(client, &attempt, http_status, ret)
                 : attempt.status != AS_OK
                     ? error_set(err, attempt.status, "what arrives: %s", status_sentence(attempt.status))
                     : network_error(client, code, attempt.error, err);
    } else {
        (void)error_set(err, status, "out of memory");
    }
    if (status == AS_OK && (http_status < 200 || http_status > 299) && !(allows_none && http_status == 404))
        status = problem_status(http_status, ret->json, err);
    curl_slist_free_all(headers);
    strbuf_done(&attempt.body);
    return status;
}

as_status client_run(struct client *client, const struct client_call *call, struct client_answer *ret,
                     struct as_error *err)
{
    return run(client, call, false, ret, err);
}

as_status client_look(struct client *client, const struct client_call *call, struct client_answer *ret,
                      struct as_error *err)
{
    return run(client, call, true, ret, err);
}

/* ---- streams ---- */

struct stream {
    CURL *curl;
    const struct client_listener *listener;
    struct sse_reader reader;
    struct strbuf refusal; /* body of an answer that is no stream */
    struct as_error *err;
    as_status status;
    bool is_done, is_refused;
    char error[CURL_ERROR_SIZE];
};

/* Called for each header line; a blank one ends them. */
static size_t on_stream_header(char *line, size_t size, size_t count, void *context)
{
    struct stream *stream = context;
    long http_status = 0;
    size_t len = size * count;
    if (len > 2 || (line[0] != '\r' && line[0] != '\n'))
        return len;
    curl_easy_getinfo(stream->curl, CURLINFO_RESPONSE_CODE, &http_status);
    stream->is_refused = http_status != 200;
    if (!stream->is_refused && stream->listener->opened)
        stream->status = stream->listener->opened(stream->listener->context, &stream->is_done, stream->err);
    return stream->status == AS_OK && !stream->is_done ? len : 0;
}

static size_t on_stream_body(char *data, size_t size, size_t count, void *context)
{
    struct stream *stream = context;
    struct sse_event event;
    const char *at = data, *end = data + size * count;
    enum sse_result result = SSE_MORE;
    if (stream->is_refused) {
        strbuf_add(&stream->refusal, data, size * count);
        return size * count;
    }
    while (stream->status == AS_OK && !stream->is_done &&
           (result = sse_next(&stream->reader, &at, end, &event)) == SSE_EVENT)
        stream->status = stream->listener->event(stream->listener->context,
                                                 &(struct client_event){event.name, event.data, event.len},
                                                 &stream->is_done, stream->err);
    if (result == SSE_BAD)
        stream->status = error_set(stream->err, AS_E_LIMIT, "an event of the stream is too large");
    return stream->status == AS_OK && !stream->is_done ? size * count : 0;
}

static as_status refused(const struct client *client, const struct stream *stream, long http_status,
                         struct as_error *err)
{
    const struct json_value *body = NULL;
    struct as_error ignored;
    if (json_parse(strbuf_text(&stream->refusal), stream->refusal.len, NULL, client->arena, &body, &ignored) != AS_OK)
        body = NULL;
    return problem_status(http_status, body, err);
}

static void set_stream(const struct client *client, struct stream *stream, struct curl_slist *headers, const char *url)
{
    set_connection(client, stream->curl);
    curl_easy_setopt(stream->curl, CURLOPT_URL, url);
    curl_easy_setopt(stream->curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(stream->curl, CURLOPT_ERRORBUFFER, stream->error);
    curl_easy_setopt(stream->curl, CURLOPT_HEADERFUNCTION, on_stream_header);
    curl_easy_setopt(stream->curl, CURLOPT_HEADERDATA, stream);
    curl_easy_setopt(stream->curl, CURLOPT_WRITEFUNCTION, on_stream_body);
    curl_easy_setopt(stream->curl, CURLOPT_WRITEDATA, stream);
}

as_status client_listen(struct client *client, const struct client_listener *listener, struct as_error *err)
{
    struct stream stream = {.curl = curl_easy_init(), .listener = listener, .err = err};
    const struct client_call call = {.path = "/api/v1/events"};
    struct strbuf url AS_AUTO_STRBUF;
    struct curl_slist *headers = NULL;
    long http_status = 0;
    strbuf_init(&url, 0);
    strbuf_init(&stream.refusal, BODY_MAX);
    sse_reader_init(&stream.reader, EVENT_MAX);
    strbuf_addf(&url, "%s%s", client->server, call.path);
    as_status status = stream.curl ? strbuf_status(&url) : AS_E_NOMEM;
    if (status == AS_OK)
        status = make_headers(client, &call, NULL, &headers);
    if (status == AS_OK) {
        set_stream(client, &stream, headers, url.data);
        CURLcode code = curl_easy_perform(stream.curl);
        curl_easy_getinfo(stream.curl, CURLINFO_RESPONSE_CODE, &http_status);
        if (stream.status != AS_OK)
            status = stream.status;
        else if (stream.is_refused)
            status = refused(client, &stream, http_status, err);
        else if (!stream.is_done)
            status = network_error(client, code, code == CURLE_OK ? "the server ended the stream" : stream.error, err);
    } else {
        (void)error_set(err, status, "out of memory");
    }
    sse_reader_done(&stream.reader);
    strbuf_done(&stream.refusal);
    curl_slist_free_all(headers);
    if (stream.curl)
        curl_easy_cleanup(stream.curl);
    return status;
}
