/* SPDX-License-Identifier: Apache-2.0 */
#include "http/request.h"

#include <string.h>

static bool refuse(struct http_refusal *refusal, int status, const char *sentence)
{
    *refusal = (struct http_refusal){status, sentence};
    return false;
}

size_t http_request_head_length(const char *at, size_t len, size_t from)
{
    const char *end = at + len;
    const char *p = at + (from > 3 ? from - 3 : 0);
    while (p < end) {
        const char *lf = memchr(p, '\n', (size_t)(end - p));
        if (!lf || lf + 1 == end)
            return 0;
        if (lf[1] == '\n')
            return (size_t)(lf + 2 - at);
        if (lf[1] == '\r' && lf + 2 < end && lf[2] == '\n')
            return (size_t)(lf + 3 - at);
        p = lf + 1;
    }
    return 0;
}

/* The line at *at, which must end in CR LF and hold neither CR nor LF otherwise. */
static bool take_line(const char **at, const char *end, struct http_text *ret)
{
    const char *start = *at;
    const char *cr = start < end ? memchr(start, '\r', (size_t)(end - start)) : NULL;
    if (!cr || cr + 1 == end || cr[1] != '\n' || memchr(start, '\n', (size_t)(cr - start)))
        return false;
    *ret = (struct http_text){start, (size_t)(cr - start)};
    *at = cr + 2;
    return true;
}

static enum http_method method_of(struct http_text name)
{
    static const struct {
        const char *name;
        size_t len;
        enum http_method method;
    } KNOWN[] = {
        {"GET", 3, HTTP_GET},     {"POST", 4, HTTP_POST},     {"HEAD", 4, HTTP_HEAD_METHOD}, {"PUT", 3, HTTP_PUT},
        {"PATCH", 5, HTTP_PATCH}, {"DELETE", 6, HTTP_DELETE}, {"OPTIONS", 7, HTTP_OPTIONS},
    };
    for (size_t i = 0; i < sizeof KNOWN / sizeof KNOWN[0]; i++) {
        if (name.len == KNOWN[i].len && memcmp(name.at, KNOWN[i].name, name.len) == 0)
            return KNOWN[i].method;
    }
    return HTTP_OTHER_METHOD;
}

/* ---- request target ---- */

/* What RFC 3986 lets stand in a path or query, '%' apart: unreserved, sub-delims, ':' '@' '/' '?'. */
static bool is_target_char(unsigned char c)
{
    if ((c >= 'a' && c <= 'z') || (c >= '@' && c <= 'Z') || (c >= '&' && c <= ';'))
        return true;
    return c == '!' || c == '$' || c == '=' || c == '?' || c == '_' || c == '~';
}

static bool is_target(struct http_text text)
{
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.at[i];
        if (c == '%') {
            if (text.len - i < 3 || http_hex_value((unsigned char)text.at[i + 1]) < 0 ||
                http_hex_value((unsigned char)text.at[i + 2]) < 0)
                return false;
            i += 2;
        } else if (!is_target_char(c)) {
            return false;
        }
    }
    return true;
}

/* host [":" port] of RFC 3986, an IP literal in brackets; may be empty only when `may_be_empty`. */
static bool is_host(struct http_text host, bool may_be_empty)
{
    size_t i = 0;
    if (host.len && host.at[0] == '[') {
        for (i = 1; i < host.len && host.at[i] != ']'; i++) {
            unsigned char c = (unsigned char)host.at[i];
            if (http_hex_value(c) < 0 && c != ':' && c != '.')
                return false;
        }
        if (i++ >= host.len || i < 4)
            return false;
    } else {
        for (; i < host.len && host.at[i] != ':'; i++) {
            unsigned char c = (unsigned char)host.at[i];
            if (!is_target_char(c) || c == '/' || c == '?' || c == '@')
                return false;
        }
        if (i == 0)
            return may_be_empty && host.len == 0;
    }
    if (i == host.len)
        return true;
    if (host.at[i] != ':' || host.len - i > 6)
        return false;
    for (i++; i < host.len; i++) {
        if (host.at[i] < '0' || host.at[i] > '9')
            return false;
    }
    return true;
}

/* Cuts "http://host/path" into host and the rest; a target in another form is left alone. False: a bad host. */
static bool take_absolute(struct http_request *request, struct http_text *rest)
{
    size_t skip = 0;
    if (rest->len > 7 && http_text_equals((struct http_text){rest->at, 7}, "http://"))
        skip = 7;
    else if (rest->len > 8 && http_text_equals((struct http_text){rest->at, 8}, "https://"))
        skip = 8;
    if (!skip)
        return true;
    struct http_text host = {rest->at + skip, 0};
    while (host.len < rest->len - skip && host.at[host.len] != '/' && host.at[host.len] != '?')
        host.len++;
    request->host = host;
    *rest = (struct http_text){host.at + host.len, rest->len - skip - host.len};
    return is_host(host, false);
}

static bool take_target(struct http_request *request, struct http_refusal *refusal)
{
    struct http_text rest = request->target;
    if (!is_target(rest))
        return refuse(refusal, 400, "the request target holds bytes that must be percent-encoded");
    if (request->method_name.len == 7 && memcmp(request->method_name.at, "CONNECT", 7) == 0)
        return refuse(refusal, 501, "this server is no proxy");
    if (!take_absolute(request, &rest))
        return refuse(refusal, 400, "the host in the request target is malformed");
    const char *question = rest.len ? memchr(rest.at, '?', rest.len) : NULL;
    request->path = rest;
    request->query = (struct http_text){NULL, 0};
    if (question) {
        request->path.len = (size_t)(question - rest.at);
        request->query = (struct http_text){question + 1, rest.len - request->path.len - 1};
    }
    bool is_asterisk = rest.len == 1 && rest.at[0] == '*' && request->method == HTTP_OPTIONS;
    if (request->host.len && !request->path.len)
        request->path = (struct http_text){"/", 1};
    if (!is_asterisk && (!request->path.len || request->path.at[0] != '/'))
        return refuse(refusal, 400, "the request target is neither a path nor an http URL");
    return true;
}

/* "HTTP/1.1". */
static bool take_version(struct http_request *request, struct http_text version, struct http_refusal *refusal)
{
    const char *at = version.at;
    if (version.len != 8 || memcmp(at, "HTTP/", 5) != 0 || at[5] < '0' || at[5] > '9' || at[6] != '.' || at[7] < '0' ||
        at[7] > '9')
        return refuse(refusal, 400, "the request line does not end in an HTTP version");
    if (at[5] != '1')
        return refuse(refusal, 505, "only HTTP/1.0 and HTTP/1.1 are spoken here");
    request->minor = at[7] != '0';
    return true;
}

static bool take_request_line(struct http_request *request, struct http_text line, struct http_refusal *refusal)
{
    const char *end = line.at + line.len;
    const char *first = line.len ? memchr(line.at, ' ', line.len) : NULL;
    const char *second = first ? memchr(first + 1, ' ', (size_t)(end - first - 1)) : NULL;
    if (!second)
        return refuse(refusal, 400, "the request line is not a method, a target and a version");
    request->method_name = (struct http_text){line.at, (size_t)(first - line.at)};
    request->target = (struct http_text){first + 1, (size_t)(second - first - 1)};
    if (!http_is_token(request->method_name))
        return refuse(refusal, 400, "the method is no token");
    request->method = method_of(request->method_name);
    request->host = (struct http_text){NULL, 0};
    if (!take_version(request, (struct http_text){second + 1, (size_t)(end - second - 1)}, refusal))
        return false;
    return take_target(request, refusal);
}

/* ---- fields ---- */

/* What was seen of fields that must not come twice, and of Connection. */
struct seen {
    struct http_text host;
    bool has_host, has_length, has_coding, is_coding_unknown, has_close, has_keep_alive;
};

static bool take_host(struct seen *seen, struct http_text value, struct http_refusal *refusal)
{
    if (seen->has_host)
        return refuse(refusal, 400, "Host is given twice");
    if (!is_host(value, true))
        return refuse(refusal, 400, "Host is malformed");
    seen->has_host = true;
    seen->host = value;
    return true;
}

static bool take_length(struct http_request *request, struct seen *seen, struct http_text value,
                        struct http_refusal *refusal)
{
    if (seen->has_length)
        return refuse(refusal, 400, "Content-Length is given twice");
    if (!http_parse_decimal(value, &request->content_length))
        return refuse(refusal, 400, "Content-Length is no decimal number within 63 bits");
    seen->has_length = true;
    return true;
}

static bool take_coding(struct http_request *request, struct seen *seen, struct http_text value,
                        struct http_refusal *refusal)
{
    struct http_text item;
    seen->has_coding = true;
    while (http_list_next(&value, &item)) {
        if (request->chunked)
            return refuse(refusal, 400, "a transfer coding follows chunked");
        if (http_text_equals(item, "chunked"))
            request->chunked = true;
        else
            seen->is_coding_unknown = true;
    }
    return true;
}

static void take_connection(struct seen *seen, struct http_text value)
{
    struct http_text item;
    while (http_list_next(&value, &item)) {
        if (http_text_equals(item, "close"))
            seen->has_close = true;
        else if (http_text_equals(item, "keep-alive"))
            seen->has_keep_alive = true;
    }
}

static bool take_expect(struct http_request *request, struct http_text value, struct http_refusal *refusal)
{
    if (!http_text_equals(value, "100-continue"))
        return refuse(refusal, 417, "only Expect: 100-continue is known");
    request->expects_continue = request->minor >= 1;
    return true;
}

static bool take_field(struct http_request *request, struct seen *seen, const struct http_field *field,
                       struct http_refusal *refusal)
{
    switch (field->name.len) {
    case 4:
        if (http_text_equals(field->name, "host"))
            return take_host(seen, field->value, refusal);
        break;
    case 6:
        if (http_text_equals(field->name, "expect"))
            return take_expect(request, field->value, refusal);
        break;
    case 10:
        if (http_text_equals(field->name, "connection"))
            take_connection(seen, field->value);
        break;
    case 14:
        if (http_text_equals(field->name, "content-length"))
            return take_length(request, seen, field->value, refusal);
        break;
    case 17:
        if (http_text_equals(field->name, "transfer-encoding"))
            return take_coding(request, seen, field->value, refusal);
        break;
    default:
        break;
    }
    return true;
}

/* "name: value": a folded line begins with white space and fails as a name. */
static bool split_field(struct http_text line, struct http_field *ret, struct http_refusal *refusal)
{
    const char *error = http_field_split(line, &ret->name, &ret->value);
    if (error)
        return refuse(refusal, 400, error);
    unsigned char all = 1;
    for (size_t i = 0; i < ret->value.len; i++)
        all &= http_is_value_char((unsigned char)ret->value.at[i]);
    return all || refuse(refusal, 400, "a header value holds a control character");
}

/* What fields mean together (RFC 9112 3.2, 6.1, 6.3, 9.3). */
static bool finish(struct http_request *request, const struct seen *seen, struct http_refusal *refusal)
{
    request->keep_alive = !seen->has_close && (request->minor >= 1 || seen->has_keep_alive);
    if (request->minor >= 1 && !seen->has_host)
        return refuse(refusal, 400, "Host is missing");
    if (!request->host.len)
        request->host = seen->host;
    if (seen->has_coding && seen->has_length)
        return refuse(refusal, 400, "Transfer-Encoding and Content-Length are both given");
    if (seen->has_coding && request->minor == 0)
        return refuse(refusal, 400, "Transfer-Encoding is given in HTTP/1.0");
    if (seen->is_coding_unknown)
        return refuse(refusal, 501, "only the transfer coding chunked is known");
    if (seen->has_coding && !request->chunked)
        return refuse(refusal, 400, "Transfer-Encoding is empty");
    return true;
}

bool http_request_parse(const char *head, size_t len, struct http_request *ret, struct http_refusal *ret_refusal)
{
    const char *end = head + len;
    struct http_text line;
    struct seen seen = {0};
    ret->chunked = ret->expects_continue = false;
    ret->content_length = -1;
    ret->field_count = 0;
    if (!take_line(&head, end, &line))
        return refuse(ret_refusal, 400, "a line does not end in CR LF");
    if (!take_request_line(ret, line, ret_refusal))
        return false;
    for (;;) {
        if (!take_line(&head, end, &line))
            return refuse(ret_refusal, 400, "a line does not end in CR LF");
        if (!line.len)
            break;
        if (ret->field_count == HTTP_REQUEST_FIELDS_MAX)
            return refuse(ret_refusal, 431, "there are more than 100 header lines");
        struct http_field *field = &ret->fields[ret->field_count++];
        if (!split_field(line, field, ret_refusal) || !take_field(ret, &seen, field, ret_refusal))
            return false;
    }
    if (head != end)
        return refuse(ret_refusal, 400, "a line does not end in CR LF");
    return finish(ret, &seen, ret_refusal);
}

struct http_text http_request_field(const struct http_request *request, const char *name)
{
    for (uint32_t i = 0; i < request->field_count; i++) {
        if (http_text_equals(request->fields[i].name, name))
            return request->fields[i].value;
    }
    return (struct http_text){NULL, 0};
}

/* ---- percent-encoding ---- */

/* The byte at text.at[*i]; moves *i to its last byte. -1: malformed, or NUL. */
static int decode_byte(struct http_text text, bool is_query, size_t *i)
{
    unsigned char c = (unsigned char)text.at[*i];
    if (c == '+' && is_query)
        return ' ';
    if (c != '%')
        return c ? c : -1;
    if (text.len - *i < 3)
        return -1;
    int high = http_hex_value((unsigned char)text.at[*i + 1]);
    int low = http_hex_value((unsigned char)text.at[*i + 2]);
    *i += 2;
    return high < 0 || low < 0 || !(high | low) ? -1 : high << 4 | low;
}

as_status http_percent_decode(struct http_text text, bool is_query, char *ret, size_t size)
{
    size_t used = 0;
    for (size_t pass = 0; pass < 2; pass++) {
        used = 0;
        for (size_t i = 0; i < text.len; i++) {
            int byte = decode_byte(text, is_query, &i);
            if (byte < 0)
                return AS_E_INVALID;
            if (pass == 1)
                ret[used] = (char)byte;
            used++;
        }
        if (used >= size)
            return AS_E_LIMIT;
    }
    ret[used] = '\0';
    return AS_OK;
}

as_status http_query_get(const struct http_request *request, const char *name, char *ret, size_t size)
{
    struct http_text rest = request->query;
    char decoded[256];
    while (rest.len) {
        const char *ampersand = memchr(rest.at, '&', rest.len);
        struct http_text pair = {rest.at, ampersand ? (size_t)(ampersand - rest.at) : rest.len};
        size_t used = pair.len + (ampersand ? 1 : 0);
        rest.at += used;
        rest.len -= used;
        const char *equals = pair.len ? memchr(pair.at, '=', pair.len) : NULL;
        struct http_text key = {pair.at, equals ? (size_t)(equals - pair.at) : pair.len};
        if (http_percent_decode(key, true, decoded, sizeof decoded) != AS_OK || strcmp(decoded, name) != 0)
            continue;
        struct http_text value = {pair.at + pair.len, 0};
        if (equals)
            value = (struct http_text){equals + 1, pair.len - key.len - 1};
        return http_percent_decode(value, true, ret, size);
    }
    return AS_E_NOTFOUND;
}
