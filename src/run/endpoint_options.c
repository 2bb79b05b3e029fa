/* SPDX-License-Identifier: Apache-2.0 */
#include "net/net.h"
#include "run/config.h"

#include <ctype.h>
#include <strings.h>

/* Headers the transport and the engine write themselves. */
static as_status check_header(const char *text, struct as_error *err)
{
    static const char *const ours[] = {"host", "content-length", "transfer-encoding", "connection", "te", "trailer", "upgrade", "expect",
                                       "content-type", "accept", "accept-encoding", "x-assay-id"};
    size_t len = 0;
    while (text[len] && text[len] != ':' && text[len] != '=')
        len++;
    for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++)
        if (strlen(ours[i]) == len && strncasecmp(ours[i], text, len) == 0)
            return error_set(err, AS_E_USAGE, "names a header that assay sets itself");
    return AS_OK;
}

static as_status check_key(const char *text, struct as_error *err)
{
    for (const char *at = text; *at; at++)
        if ((unsigned char)*at <= 0x20 || *at == 0x7f)
            return error_set(err, AS_E_USAGE, "holds white space or a control character");
    return *text ? AS_OK : error_set(err, AS_E_USAGE, "is empty");
}

/* Of "host:port/…"; without one, programs do not agree on what is meant. */
static bool has_port(const char *authority)
{
    size_t len = strcspn(authority, "/?#");
    const char *user_end = memrchr(authority, '@', len), *host = user_end ? user_end + 1 : authority;
    size_t host_len = len - (size_t)(host - authority);
    const char *colon = memrchr(host, ':', host_len), *bracket = memrchr(host, ']', host_len);
    return colon && (!bracket || colon > bracket) && colon + 1 < host + host_len;
}

static as_status check_proxy(const char *text, struct as_error *err)
{
    struct net_endpoint proxy = {0};
    if (strncmp(text, "http://", 7) != 0 || !text[7])
        return error_set(err, AS_E_USAGE, "is no http:// URL");
    as_status status = net_endpoint_parse(text, &proxy, err);
    net_endpoint_done(&proxy);
    if (status == AS_E_INVALID)
        return error_set(err, AS_E_USAGE, "is no URL of a proxy");
    if (status != AS_OK)
        return status;
    return has_port(text + 7) ? AS_OK : error_set(err, AS_E_USAGE, "has no port");
}

static as_status check_url(const char *text, struct as_error *err)
{
    for (const char *at = text; *at; at++)
        if (isspace((unsigned char)*at) || iscntrl((unsigned char)*at))
            return error_set(err, AS_E_USAGE, "holds white space or a control character");
    return *text ? AS_OK : error_set(err, AS_E_USAGE, "is empty");
}

static const char *const BALANCES[] = {"weighted-round-robin", "round-robin", "least-inflight", "random", NULL};

#define GROUP .group = "Endpoints"
#define AT(field) .at = offsetof(struct endpoint_config, field)
#define URL_ALLOWED "http://HOST[:PORT][/PATH][?QUERY], https://…, unix:/PATH/OF/SOCKET or HOST:PORT"

static const struct opt OPTIONS[] = {
    {.name = "url", .aliases = "base-url", .type = OPT_STRING, AT(urls), GROUP, .value = "URL", .is_list = true, .secrecy = OPT_URL,
     .check = check_url, .allowed = URL_ALLOWED, .example = "http://127.0.0.1:8000",
     .sentence = "Server to measure: a base URL, a base ending in /v1 or the full path of the API. A query stays behind the path; keys in it are never shown."},
    {.name = "endpoint", .type = OPT_STRING, AT(values), GROUP, .value = "PATH|URL", .is_list = true, .secrecy = OPT_URL, .check = check_url,
     .allowed = "a path that begins with / or a URL", .example = "/v1/chat/completions",
     .sentence = "A path on every server when it begins with /, else one more server."},
    {.name = "host", .type = OPT_STRING, AT(host), GROUP, .value = "HOST", .check = check_url, .allowed = "a host name or an address",
     .example = "127.0.0.1", .conflicts = "url", .sentence = "Host of the server, as other tools name it; --port says where.",
     .is_hidden = true},
    {.name = "port", .type = OPT_INT, AT(port), GROUP, .min = 1, .max = 65535, .example = "8000", .conflicts = "url",
     .sentence = "Port on --host (none: 8000 on 127.0.0.1).", .is_hidden = true},
    {.name = "endpoints-file", .type = OPT_FILE, AT(file), GROUP, .example = "endpoints.yaml",
     .sentence = "List of servers in YAML, JSON or JSONL: url, name, weight, api_key or api_key_env (the name of a variable)."},
    {.name = "eject-after", .type = OPT_INT, AT(eject_after), GROUP, .initial = "0", .max = 1000000, .example = "3", .modes = RUN_MANY_SERVERS,
     .sentence = "Take a server out for 5 s after N failures in a row; 0 never does."},
    {.name = "api-key", .type = OPT_STRING, AT(api_key), GROUP, .value = "KEY", .secrecy = OPT_SECRET, .check = check_key,
     .environment = "OPENAI_API_KEY", .allowed = "a key without white space", .example = "KEY",
     .sentence = "Sent as a bearer token. On the command line the process list shows it; a file or the environment do not."},
    {.name = "api-key-file", .type = OPT_FILE, AT(api_key_file), GROUP, .example = "key.txt", .sentence = "File whose first line is the key."},
    {.name = "header", .type = OPT_KEYVALUE, AT(headers), GROUP, .is_list = true, .takes_many = true, .secrecy = OPT_SECRET_VALUE,
     .check = check_header, .example = "X-Route=a", .sentence = "One more header of every request, K=V or \"K: V\". The result shows only its name."},
    {.name = "ca-cert", .type = OPT_FILE, AT(ca_cert), GROUP, .value = "PEM", .example = "ca.pem", .modes = RUN_TLS,
     .sentence = "File or folder of certificates to trust instead of the system's."},
    {.name = "insecure", .type = OPT_FLAG, AT(insecure), GROUP, .modes = RUN_TLS, .conflicts = "ca-cert",
     .sentence = "Do not verify certificates; the result says so."},
    {.name = "proxy", .type = OPT_STRING, AT(proxy), GROUP, .value = "URL", .secrecy = OPT_URL, .check = check_proxy,
     .allowed = "http://HOST:PORT", .example = "http://127.0.0.1:3128",
     .sentence = "Send through this proxy. Those of the environment (HTTP_PROXY, …) are never used."},
};
const struct opt_table ENDPOINT_TABLE = OPT_TABLE(OPTIONS, offsetof(struct run_config, endpoint));

#define LOAD_BALANCER(default_way) \
    {.name = "load-balancer", .type = OPT_ENUM, AT(balance), GROUP, .value = "HOW", .choices = BALANCES, .initial = (default_way), \
     .modes = RUN_MANY_SERVERS, .sentence = "Who gets the next request. Order and weights are kept whatever fails."}

static const struct opt BALANCE_OPTIONS[] = {LOAD_BALANCER("weighted-round-robin")};
const struct opt_table BALANCE_TABLE = OPT_TABLE(BALANCE_OPTIONS, offsetof(struct run_config, endpoint));
static const struct opt EVEN_BALANCE_OPTIONS[] = {LOAD_BALANCER("round-robin")};
const struct opt_table EVEN_BALANCE_TABLE = OPT_TABLE(EVEN_BALANCE_OPTIONS, offsetof(struct run_config, endpoint));
