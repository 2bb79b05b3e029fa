/* SPDX-License-Identifier: Apache-2.0 */
#include "run/target.h"

#include "base/file.h"
#include "base/url.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define KEY_FILE_MAX_BYTES ((size_t)16 * 1024)
#define PORT_DEFAULT 8000
#define SECRET_MIN_BYTES 8

static as_status no_memory(struct as_error *err)
{
    return error_set(err, AS_E_NOMEM, "out of memory");
}

void targets_init(struct targets *targets)
{
    *targets = (struct targets){0};
    arena_init(&targets->arena, 0, 0);
    endpoints_init(&targets->list);
}

void targets_done(struct targets *targets)
{
    for (size_t i = 0; i < targets->open_count; i++)
        net_endpoint_done(&targets->nets[i]);
    for (size_t i = 0; i < targets->count && targets->engines; i++)
        if (targets->engines[i].headers)
            explicit_bzero((void *)(uintptr_t)targets->engines[i].headers, strlen(targets->engines[i].headers));
    endpoints_done(&targets->list);
    arena_done(&targets->arena);
    targets_init(targets);
}

static as_status add_host(struct targets *targets, const struct endpoint_config *config, struct as_error *err)
{
    if (!config->host && config->port == OPT_ABSENT)
        return AS_OK;
    char url[512];
    const char *host = config->host ? config->host : "127.0.0.1";
    bool is_ipv6 = strchr(host, ':') && host[0] != '[';
    int len = snprintf(url, sizeof url, "http://%s%s%s:%d", is_ipv6 ? "[" : "", host, is_ipv6 ? "]" : "",
                       config->port == OPT_ABSENT ? PORT_DEFAULT : (int)config->port);
    if (len < 0 || (size_t)len >= sizeof url)
        return error_set(err, AS_E_USAGE, "--host is too long");
    return endpoints_add_url(&targets->list, url, err);
}

/* Credentials in a URL would be dropped without a word, or end up in logs. */
static as_status refuse_user_info(const char *url, struct as_error *err)
{
    struct strbuf shown AS_AUTO_STRBUF;
    strbuf_init(&shown, 0);
    const char *scheme = strstr(url, "://"), *authority = scheme ? scheme + 3 : url;
    if (!memchr(authority, '@', strcspn(authority, "/?#")))
        return AS_OK;
    url_add_shown(&shown, url);
    return error_set(err, AS_E_USAGE, "%.200s: a URL with a user name is not used; send it as --header \"Authorization: Basic …\"",
                     strbuf_text(&shown));
}

as_status targets_list(struct targets *targets, const struct endpoint_config *config, struct as_error *err)
{
    as_status status = AS_OK;
    for (size_t i = 0; i < config->urls.count && status == AS_OK; i++)
        status = endpoints_add_url(&targets->list, config->urls.items[i], err);
    for (size_t i = 0; i < config->values.count && status == AS_OK; i++)
        status = endpoints_add_value(&targets->list, config->values.items[i], err);
    if (status == AS_OK)
        status = add_host(targets, config, err);
    targets->given_count = targets->list.count;
    if (status == AS_OK && config->file)
        status = endpoints_load(&targets->list, config->file, err);
    if (config->file && (status == AS_E_NOTFOUND || status == AS_E_IO))
        error_prefix(err, "--endpoints-file");
    if (status == AS_OK)
        status = endpoints_finish(&targets->list, err);
    for (size_t i = 0; i < targets->list.count && status == AS_OK; i++)
        status = refuse_user_info(targets->list.items[i].url, err);
    return status;
}

/* The first line of the file, without white space around it. */
static as_status read_key_file(struct targets *targets, const char *path, const char **ret, struct as_error *err)
{
    struct strbuf text AS_AUTO_STRBUF;
    strbuf_init(&text, KEY_FILE_MAX_BYTES);
    as_status status = file_read(path, &text, err);
    if (status != AS_OK)
        return error_prefix(err, "--api-key-file");
    const char *at = strbuf_text(&text) + strspn(strbuf_text(&text), " \t");
    size_t len = strcspn(at, " \t\r\n");
    if (len == 0)
        return error_set(err, AS_E_INVALID, "--api-key-file: %s: the first line holds no key", path);
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)at[i] < 0x20 || at[i] == 0x7f)
            return error_set(err, AS_E_INVALID, "--api-key-file: %s: the key holds a control character", path);
    char *key = arena_strndup(&targets->arena, at, len);
    if (text.data)
        explicit_bzero(text.data, text.len);
    if (!key)
        return no_memory(err);
    *ret = key;
    return AS_OK;
}

/* The key of servers that have none of their own: the source that goes before the others wins (a file named on the command line before a
   key in the environment). NULL = none. */
static as_status common_key(struct targets *targets, const struct endpoint_config *config, const struct opt_parsed *parsed, const char **ret,
                            struct as_error *err)
{
    enum opt_origin key = options_state(parsed, "api-key")->origin, file = options_state(parsed, "api-key-file")->origin;
    *ret = config->api_key;
    if (config->api_key && config->api_key_file && key == file)
        return error_set(err, AS_E_USAGE, "--api-key and --api-key-file exclude each other; give one of them");
    if (!config->api_key_file || (config->api_key && key > file))
        return AS_OK;
    return read_key_file(targets, config->api_key_file, ret, err);
}

static bool has_header(const struct opt_list *headers, const char *name)
{
    size_t len = strlen(name);
    for (size_t i = 0; i < headers->count; i++)
        if (strncasecmp(headers->items[i], name, len) == 0 && headers->items[i][len] == ':')
            return true;
    return false;
}

/* "Authorization: Bearer KEY\r\n" and the lines of --header. */
static const char *header_lines(struct targets *targets, const struct endpoint_config *config, const char *key)
{
    struct strbuf lines AS_AUTO_STRBUF;
    strbuf_init(&lines, 0);
    if (key && !has_header(&config->headers, "Authorization"))
        strbuf_addf(&lines, "Authorization: Bearer %s\r\n", key);
    for (size_t i = 0; i < config->headers.count; i++)
        strbuf_addf(&lines, "%s\r\n", config->headers.items[i]);
    char *copy = strbuf_status(&lines) == AS_OK ? arena_strdup(&targets->arena, strbuf_text(&lines)) : NULL;
    if (lines.data)
        explicit_bzero(lines.data, lines.len);
    return copy;
}

/* The message gets the URL before it, and the endpoints file (NULL: the command line gave it). */
static as_status refuse_url(const char *url, const char *file, as_status status, struct as_error *err)
{
    struct strbuf shown AS_AUTO_STRBUF;
    strbuf_init(&shown, 0);
    url_add_shown(&shown, url);
    if (status != AS_E_INVALID || strbuf_status(&shown) != AS_OK)
        return status;
    if (file)
        return error_prefix(err, "%s: %.200s", file, strbuf_text(&shown));
    error_prefix(err, "%.200s", strbuf_text(&shown));
    return err->status = AS_E_USAGE;
}

static as_status open_one(struct targets *targets, size_t i, const struct endpoint_config *config, const char *common,
                          struct as_error *err)
{
    struct endpoint_spec *spec = &targets->list.items[i];
    as_status status = net_endpoint_parse(spec->url, &targets->nets[i], err);
    if (status != AS_OK)
        return refuse_url(spec->url, i < targets->given_count ? NULL : config->file, status, err);
    targets->open_count = i + 1;
    const char *key = spec->api_key ? spec->api_key : common;
    char *name = strdup(spec->name);
    const char *lines = header_lines(targets, config, key);
    if (!lines || !name) {
        free(name);
        return no_memory(err);
    }
    free(targets->nets[i].name);
    targets->nets[i].name = name;
    targets->engines[i] = (struct engine_endpoint){.net = &targets->nets[i], .weight = spec->weight, .headers = lines};
    targets->facts[i] = (struct run_endpoint){.name = spec->name, .url = targets->nets[i].url, .weight = spec->weight};
    if (key)
        targets->secrets[targets->secret_count++] = key;
    return AS_OK;
}

/* The value of a header and, for "Bearer KEY", its last word. Short ones are no secrets and would blank out words of messages. */
static void add_header_secrets(struct targets *targets, const char *value)
{
    const char *last = strrchr(value, ' ');
    if (strlen(value) >= SECRET_MIN_BYTES)
        targets->secrets[targets->secret_count++] = value;
    if (last && strlen(last + 1) >= SECRET_MIN_BYTES)
        targets->secrets[targets->secret_count++] = last + 1;
}

static size_t count_query_keys(const struct targets *targets)
{
    size_t count = 0, len;
    const char *key;
    for (size_t i = 0; i < targets->list.count; i++) {
        const char *url = targets->list.items[i].url, *at = url + strcspn(url, "?#");
        while (url_next_key(&at, &key, &len))
            count++;
    }
    return count;
}

/* Keys of the queries as they are sent and as a server reads them. */
static as_status add_query_secrets(struct targets *targets)
{
    const char *key;
    size_t len;
    for (size_t i = 0; i < targets->list.count; i++) {
        const char *url = targets->list.items[i].url, *at = url + strcspn(url, "?#");
        while (url_next_key(&at, &key, &len)) {
            char *sent = arena_strndup(&targets->arena, key, len), *read = arena_strndup(&targets->arena, key, len);
            if (!sent || !read)
                return AS_E_NOMEM;
            if (len >= SECRET_MIN_BYTES)
                targets->secrets[targets->secret_count++] = sent;
            if (memchr(key, '%', len) && url_decode(read) >= SECRET_MIN_BYTES)
                targets->secrets[targets->secret_count++] = read;
        }
    }
    return AS_OK;
}

as_status targets_open(struct targets *targets, const struct endpoint_config *config, const struct opt_parsed *parsed, struct as_error *err)
{
    size_t count = targets->list.count;
    struct arena *arena = &targets->arena;
    const char *common = NULL;
    targets->nets = arena_calloc(arena, count, sizeof *targets->nets);
    targets->engines = arena_calloc(arena, count, sizeof *targets->engines);
    targets->facts = arena_calloc(arena, count, sizeof *targets->facts);
    targets->secrets = arena_calloc(arena, count + 2 * (config->headers.count + count_query_keys(targets)) + 1, sizeof *targets->secrets);
    if (!targets->nets || !targets->engines || !targets->facts || !targets->secrets)
        return no_memory(err);
    targets->count = count;
    as_status status = common_key(targets, config, parsed, &common, err);
    for (size_t i = 0; i < count && status == AS_OK; i++)
        status = open_one(targets, i, config, common, err);
    for (size_t i = 0; i < config->headers.count && status == AS_OK; i++)
        add_header_secrets(targets, strchr(config->headers.items[i], ' ') + 1);
    if (status == AS_OK && add_query_secrets(targets) != AS_OK)
        status = no_memory(err);
    return status;
}

as_status targets_resolve(struct targets *targets, int64_t timeout_ns, struct as_error *err)
{
    as_status status = AS_OK;
    for (size_t i = 0; i < targets->count && status == AS_OK; i++)
        status = net_endpoint_resolve(&targets->nets[i], timeout_ns, err);
    return status;
}

/* The header lines of a server as a list, for fetch. */
static as_status split_lines(struct arena *arena, const char *lines, struct fetch_request *request)
{
    size_t count = 0;
    for (const char *at = lines; *at; at++)
        count += *at == '\n';
    const char **list = arena_calloc(arena, count + 1, sizeof *list);
    if (!list)
        return AS_E_NOMEM;
    for (size_t i = 0; i < count; i++) {
        size_t len = strcspn(lines, "\r\n");
        list[i] = arena_strndup(arena, lines, len);
        if (!list[i])
            return AS_E_NOMEM;
        lines += len + 2;
    }
    request->headers = list;
    request->header_count = count;
    return AS_OK;
}

as_status targets_fetch(struct targets *targets, size_t index, const char *path, const struct endpoint_config *config,
                        struct fetch_request *ret)
{
    const struct net_endpoint *net = &targets->nets[index];
    struct fetch_request request = {.ca_cert = config->ca_cert, .insecure = config->insecure, .proxy = config->proxy,
                                    .unix_socket = net->unix_path};
    request.url = arena_printf(&targets->arena, "%s://%s%s%s%s", net->is_tls ? "https" : "http",
                               net->unix_path ? "localhost" : net->host_header, net->path_prefix, path, net->query);
    if (!request.url)
        return AS_E_NOMEM;
    as_status status = split_lines(&targets->arena, targets->engines[index].headers, &request);
    if (status == AS_OK)
        *ret = request;
    return status;
}
