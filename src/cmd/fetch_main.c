/* SPDX-License-Identifier: Apache-2.0 */
/* assay-fetch: makes one HTTP request with libcurl. How it is spoken to: fetch/wire.h. */
#include "base/arena.h"
#include "base/clock.h"
#include "base/file.h"
#include "fetch/wire.h"
#include "generated/version_data.h"

#include <curl/curl.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

/* One request on its way, redirects included. */
struct transfer {
    const struct fetch_request *request;
    struct fetch_result *result;
    CURL *curl;
    struct curl_slist *headers;
    char *url; /* of this hop */
    int64_t deadline_ns;
    bool is_first_origin; /* this hop goes to the first URL's scheme, host and port */
    bool is_too_large, is_write_failed;
    char error[CURL_ERROR_SIZE];
};

static as_status fail(struct transfer *transfer, as_status status, const char *reason)
{
    char shown[sizeof transfer->result->reply.url];
    size_t len = strcspn(transfer->url, "?#");
    const char *scheme_end = strstr(transfer->url, "://");
    const char *authority = scheme_end ? scheme_end + 3 : transfer->url;
    const char *user_end = memrchr(authority, '@', strcspn(authority, "/?#"));
    const char *host = user_end ? user_end + 1 : authority;
    snprintf(shown, sizeof shown, "%.*s%.*s", (int)(authority - transfer->url), transfer->url,
             (int)(transfer->url + len - host), host);
    snprintf(transfer->result->message, sizeof transfer->result->message, "%.256s: %.240s", shown, reason);
    transfer->result->status_code = status;
    return status;
}

static bool is_redirect(int status)
{
    return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

static bool is_followed(const struct transfer *transfer, int status)
{
    return is_redirect(status) && transfer->request->max_redirects >= 0;
}

static size_t write_body(char *data, size_t size, size_t count, void *context)
{
    struct transfer *transfer = context;
    size_t len = size * count;
    long status = 0;
    curl_easy_getinfo(transfer->curl, CURLINFO_RESPONSE_CODE, &status);
    if (is_followed(transfer, (int)status))
        return len;
    size_t limit = transfer->request->max_bytes ? transfer->request->max_bytes : FETCH_MAX_BYTES_DEFAULT;
    if (len > limit - transfer->result->reply.body_bytes) {
        transfer->is_too_large = true;
        return 0;
    }
    transfer->result->reply.body_bytes += len;
    if (file_write_all(STDOUT_FILENO, data, len) == AS_OK)
        return len;
    transfer->is_write_failed = true;
    return 0;
}

static bool add_header(struct transfer *transfer, const char *header)
{
    struct curl_slist *longer = curl_slist_append(transfer->headers, header);
    if (longer)
        transfer->headers = longer;
    return longer != NULL;
}

/* The request's headers go to the first origin only. */
static bool make_headers(struct transfer *transfer)
{
    const struct fetch_request *request = transfer->request;
    curl_slist_free_all(transfer->headers);
    transfer->headers = NULL;
    bool ok = add_header(transfer, "Expect:");
    for (size_t i = 0; ok && transfer->is_first_origin && i < request->header_count; i++)
        ok = add_header(transfer, request->headers[i]);
    if (ok && transfer->is_first_origin && request->bearer) {
        char *authorization = NULL;
        ok = asprintf(&authorization, "Authorization: Bearer %s", request->bearer) > 0 &&
             add_header(transfer, authorization);
        free(authorization);
    }
    curl_easy_setopt(transfer->curl, CURLOPT_HTTPHEADER, transfer->headers);
    return ok;
}

static void set_method(struct transfer *transfer)
{
    const struct fetch_request *request = transfer->request;
    if (request->body) {
        curl_easy_setopt(transfer->curl, CURLOPT_POST, 1L);
        curl_easy_setopt(transfer->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->body_len);
        curl_easy_setopt(transfer->curl, CURLOPT_POSTFIELDS, request->body);
    } else {
        curl_easy_setopt(transfer->curl, CURLOPT_HTTPGET, 1L);
    }
    if (request->method && strcmp(request->method, "HEAD") == 0)
        curl_easy_setopt(transfer->curl, CURLOPT_NOBODY, 1L);
    else if (request->method)
        curl_easy_setopt(transfer->curl, CURLOPT_CUSTOMREQUEST, request->method);
}

static void set_tls(struct transfer *transfer)
{
    const struct fetch_request *request = transfer->request;
    struct stat about;
    if (request->ca_cert && stat(request->ca_cert, &about) == 0 && S_ISDIR(about.st_mode))
        curl_easy_setopt(transfer->curl, CURLOPT_CAPATH, request->ca_cert);
    else if (request->ca_cert)
        curl_easy_setopt(transfer->curl, CURLOPT_CAINFO, request->ca_cert);
    curl_easy_setopt(transfer->curl, CURLOPT_SSL_VERIFYPEER, request->insecure ? 0L : 1L);
    curl_easy_setopt(transfer->curl, CURLOPT_SSL_VERIFYHOST, request->insecure ? 0L : 2L);
}

static void set_options(struct transfer *transfer)
{
    const struct fetch_request *request = transfer->request;
    CURL *curl = transfer->curl;
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, transfer->error);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, write_body);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, transfer);
    curl_easy_setopt(curl, CURLOPT_USERAGENT, "assay/" ASSAY_VERSION_TEXT);
    curl_easy_setopt(curl, CURLOPT_ACCEPT_ENCODING, "");
    curl_easy_setopt(curl, CURLOPT_PROXY, request->proxy ? request->proxy : "");
    if (request->unix_socket)
        curl_easy_setopt(curl, CURLOPT_UNIX_SOCKET_PATH, request->unix_socket);
    set_method(transfer);
    set_tls(transfer);
}

static bool is_https(const char *url)
{
    return strncasecmp(url, "https://", 8) == 0;
}

static as_status status_of(const struct transfer *transfer, CURLcode code)
{
    if (transfer->is_too_large)
        return AS_E_LIMIT;
    if (transfer->is_write_failed)
        return AS_E_IO;
    switch (code) {
    case CURLE_OPERATION_TIMEDOUT:
        return AS_E_TIMEOUT;
    case CURLE_OUT_OF_MEMORY:
        return AS_E_NOMEM;
    case CURLE_URL_MALFORMAT:
        return AS_E_INVALID;
    default:
        return AS_E_NETWORK;
    }
}

static const char *reason_of(const struct transfer *transfer, CURLcode code)
{
    if (transfer->is_too_large)
        return "the answer is larger than allowed";
    if (transfer->is_write_failed)
        return "the answer could not be written";
    return transfer->error[0] ? transfer->error : curl_easy_strerror(code);
}

/* What the user can do about a failed connection; "" = nothing that is known. */
static const char *remedy_of(const struct transfer *transfer, CURLcode code)
{
    if (code == CURLE_PEER_FAILED_VERIFICATION)
        return " (--ca-cert names its CA, --insecure does not ask)";
    if (code == CURLE_SSL_CONNECT_ERROR && strstr(transfer->error, "wrong version number"))
        return "; the server does not speak TLS on this port: is it http://?";
    bool is_cut = code == CURLE_RECV_ERROR || code == CURLE_GOT_NOTHING || code == CURLE_UNSUPPORTED_PROTOCOL;
    return is_cut && !is_https(transfer->url) ? "; if the server speaks TLS on this port, it is https://" : "";
}

static as_status fail_with(struct transfer *transfer, CURLcode code)
{
    char sentence[CURL_ERROR_SIZE + 160];
    if (code == CURLE_COULDNT_CONNECT && transfer->request->unix_socket)
        snprintf(sentence, sizeof sentence, "nothing answers on the socket %.120s", transfer->request->unix_socket);
    else
        snprintf(sentence, sizeof sentence, "%s%s", reason_of(transfer, code), remedy_of(transfer, code));
    return fail(transfer, status_of(transfer, code), sentence);
}

/* One request and its response. */
static as_status run_hop(struct transfer *transfer)
{
    int64_t left_ms = (transfer->deadline_ns - mono_now().ns) / NS_PER_MS;
    int64_t connect_ms =
        transfer->request->connect_timeout_ns > 0 ? transfer->request->connect_timeout_ns / NS_PER_MS : left_ms;
    if (left_ms <= 0)
        return fail(transfer, AS_E_TIMEOUT, "it took too long");
    transfer->error[0] = '\0';
    if (!make_headers(transfer) || curl_easy_setopt(transfer->curl, CURLOPT_URL, transfer->url) != CURLE_OK)
        return fail(transfer, AS_E_NOMEM, "out of memory");
    curl_easy_setopt(transfer->curl, CURLOPT_TIMEOUT_MS, (long)left_ms);
    curl_easy_setopt(transfer->curl, CURLOPT_CONNECTTIMEOUT_MS, (long)(connect_ms > 0 ? connect_ms : 1));
    CURLcode code = curl_easy_perform(transfer->curl);
    if (code != CURLE_OK)
        return fail_with(transfer, code);
    return AS_OK;
}

static char *url_part(const char *url, CURLUPart part)
{
    char *text = NULL;
    CURLU *parsed = curl_url();
    if (parsed && curl_url_set(parsed, CURLUPART_URL, url, 0) == CURLUE_OK)
        curl_url_get(parsed, part, &text, CURLU_DEFAULT_PORT);
    curl_url_cleanup(parsed);
    return text;
}

static bool same_part(const char *one, const char *other, CURLUPart part)
{
    char *a = url_part(one, part), *b = url_part(other, part);
    bool is_same = a && b && strcasecmp(a, b) == 0;
    curl_free(a);
    curl_free(b);
    return is_same;
}

/* The redirect's target without user-info; NULL when it is no URL. */
static char *clean_url(const char *url)
{
    char *text = NULL, *copy = NULL;
    CURLU *parsed = curl_url();
    if (parsed && curl_url_set(parsed, CURLUPART_URL, url, 0) == CURLUE_OK) {
        curl_url_set(parsed, CURLUPART_USER, NULL, 0);
        curl_url_set(parsed, CURLUPART_PASSWORD, NULL, 0);
        if (curl_url_get(parsed, CURLUPART_URL, &text, 0) == CURLUE_OK)
            copy = strdup(text);
        curl_free(text);
    }
    curl_url_cleanup(parsed);
    return copy;
}

/* Sets out for the redirect's target, or says why not. */
static as_status follow(struct transfer *transfer, int status)
{
    const struct fetch_request *request = transfer->request;
    char *location = NULL;
    int max = request->max_redirects > 0 ? request->max_redirects : FETCH_MAX_REDIRECTS_DEFAULT;
    curl_easy_getinfo(transfer->curl, CURLINFO_REDIRECT_URL, &location);
    if (!location)
        return fail(transfer, AS_E_NETWORK, "a redirect without a target");
    if (transfer->result->reply.redirects >= max)
        return fail(transfer, AS_E_NETWORK, "too many redirects");
    if (request->body && status != 307 && status != 308)
        return fail(transfer, AS_E_NETWORK, "a redirect that would turn the POST into a GET is not followed");
    if (!fetch_is_url(location) || (is_https(transfer->url) && !is_https(location)))
        return fail(transfer, AS_E_NETWORK,
                    "a redirect to something other than http or https, or from https to http, is not followed");
    char *next = clean_url(location);
    if (!next)
        return fail(transfer, AS_E_NETWORK, "the redirect's target is no URL");
    transfer->is_first_origin = same_part(request->url, next, CURLUPART_SCHEME) &&
                                same_part(request->url, next, CURLUPART_HOST) &&
                                same_part(request->url, next, CURLUPART_PORT);
    free(transfer->url);
    transfer->url = next;
    transfer->result->reply.redirects++;
    return AS_OK;
}

static void fill_reply(struct transfer *transfer, int status, int64_t started_ns)
{
    struct fetch_reply *reply = &transfer->result->reply;
    char *content_type = NULL;
    curl_easy_getinfo(transfer->curl, CURLINFO_CONTENT_TYPE, &content_type);
    reply->status = status;
    reply->duration_ns = mono_now().ns - started_ns;
    snprintf(reply->content_type, sizeof reply->content_type, "%s", content_type ? content_type : "");
    char *clean = clean_url(transfer->url);
    if (clean)
        snprintf(reply->url, sizeof reply->url, "%.*s", (int)strcspn(clean, "?#"), clean);
    free(clean);
}

static as_status run_transfer(struct transfer *transfer)
{
    int64_t started_ns = mono_now().ns, timeout_ns = transfer->request->timeout_ns;
    transfer->deadline_ns = started_ns + (timeout_ns > 0 ? timeout_ns : FETCH_TIMEOUT_DEFAULT_NS);
    for (;;) {
        long status = 0;
        as_status result = run_hop(transfer);
        if (result != AS_OK)
            return result;
        curl_easy_getinfo(transfer->curl, CURLINFO_RESPONSE_CODE, &status);
        if (!is_followed(transfer, (int)status)) {
            fill_reply(transfer, (int)status, started_ns);
            return AS_OK;
        }
        result = follow(transfer, (int)status);
        if (result != AS_OK)
            return result;
    }
}

static void run_request(const struct fetch_request *request, struct fetch_result *result)
{
    struct transfer transfer = {
        .request = request, .result = result, .is_first_origin = true, .url = strdup(request->url)};
    transfer.curl = transfer.url ? curl_easy_init() : NULL;
    if (transfer.curl) {
        set_options(&transfer);
        result->status_code = run_transfer(&transfer);
    } else {
        result->status_code = AS_E_NOMEM;
        snprintf(result->message, sizeof result->message, "out of memory");
    }
    curl_slist_free_all(transfer.headers);
    curl_easy_cleanup(transfer.curl);
    free(transfer.url);
}

/* Reads standard input to its end: the request's line, then its body. */
static as_status read_input(struct strbuf *input, struct as_error *err)
{
    as_status status = file_read("-", input, err);
    if (status != AS_OK)
        return status;
    return memchr(strbuf_text(input), '\n', input->len) ? AS_OK
                                                        : error_set(err, AS_E_INVALID, "the request's line has no end");
}

static as_status take_request(struct strbuf *input, struct arena *arena, struct fetch_request *ret,
                              struct as_error *err)
{
    as_status status = read_input(input, err);
    if (status != AS_OK)
        return status;
    size_t line_len = (size_t)((char *)memchr(input->data, '\n', input->len) - input->data);
    status = fetch_read_request(input->data, line_len, arena, ret, err);
    if (status != AS_OK)
        return status;
    if (ret->body_len != input->len - line_len - 1)
        return error_set(err, AS_E_INVALID, "the body has another length than was said");
    if (ret->body)
        ret->body = input->data + line_len + 1;
    return AS_OK;
}

int main(void)
{
    struct strbuf input, output;
    struct arena arena;
    struct fetch_request request = {0};
    struct fetch_result result = {0};
    struct as_error err = {0};
    signal(SIGPIPE, SIG_IGN);
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* nobody else wants the answer */
    strbuf_init(&input, FETCH_HEADER_MAX_BYTES + FETCH_BODY_MAX_BYTES);
    strbuf_init(&output, 0);
    arena_init(&arena, 0, 16 * FETCH_HEADER_MAX_BYTES);
    result.status_code = take_request(&input, &arena, &request, &err);
    snprintf(result.message, sizeof result.message, "%s", err.message);
    if (result.status_code == AS_OK && request.url) {
        curl_global_init(CURL_GLOBAL_DEFAULT);
        run_request(&request, &result);
        curl_global_cleanup();
    }
    as_status status = fetch_write_result(&result, &output);
    if (status == AS_OK)
        status = file_write_all(FETCH_RESULT_FD, output.data, output.len);
    arena_done(&arena);
    strbuf_done(&input);
    strbuf_done(&output);
    return status_exit_code(status);
}
