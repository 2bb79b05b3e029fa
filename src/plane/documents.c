/* SPDX-License-Identifier: Apache-2.0 */
/* What is answered without the store: the contract, its page, health. */
#include "plane/openapi.h"
#include "plane/route.h"

#include <string.h>

static as_status get_yaml(struct plane_call *call)
{
    call->content_type = "application/yaml";
    as_status status = openapi_yaml(&call->out);
    return status == AS_OK ? status : call_store_failed(call, status);
}

static as_status get_json(struct plane_call *call)
{
    as_status status = openapi_json(&call->out);
    return status == AS_OK ? status : call_store_failed(call, status);
}

static as_status get_page(struct plane_call *call)
{
    call->content_type = "text/html; charset=utf-8";
    call_add_field(call, "Content-Security-Policy",
                   "default-src 'none'; style-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'");
    as_status status = openapi_page(&call->out);
    return status == AS_OK ? status : call_store_failed(call, status);
}

static as_status get_style(struct plane_call *call)
{
    call->content_type = "text/css; charset=utf-8";
    call_add_field(call, "Cache-Control", "max-age=3600");
    strbuf_adds(&call->out, openapi_page_style());
    return AS_OK;
}

static const struct field HEALTH_FIELDS[] = {
    {.name = "status", .type = FIELD_TEXT, .flags = FIELD_GIVEN, .about = "ok."}};
static const struct shape HEALTH = {.name = "Health", .about = "The server answers.", SHAPE_FIELDS(HEALTH_FIELDS)};

static as_status get_health(struct plane_call *call)
{
    json_open_object(&call->json);
    json_member_string(&call->json, "status", "ok");
    json_close_object(&call->json);
    return AS_OK;
}

static const struct route ROUTES[] = {
    {.method = HTTP_GET,
     .kind = ROUTE_FIXED,
     .path = "/api/v1/health",
     .id = "get_health",
     .tag = "documents",
     .output = &HEALTH,
     .summary = "Say that the server answers",
     .handle = get_health},
    {.method = HTTP_GET,
     .kind = ROUTE_FIXED,
     .path = "/api/v1/openapi.yaml",
     .id = "get_openapi_yaml",
     .tag = "documents",
     .media = "application/yaml",
     .summary = "The contract, as YAML",
     .handle = get_yaml},
    {.method = HTTP_GET,
     .kind = ROUTE_FIXED,
     .path = "/api/v1/openapi.json",
     .id = "get_openapi_json",
     .tag = "documents",
     .summary = "The contract, as JSON",
     .handle = get_json},
    {.method = HTTP_GET,
     .kind = ROUTE_FIXED,
     .path = "/api/v1/docs",
     .id = "get_docs",
     .tag = "documents",
     .media = "text/html",
     .summary = "The contract, as a page",
     .handle = get_page},
    {.method = HTTP_GET,
     .kind = ROUTE_FIXED,
     .path = "/api/v1/docs/style.css",
     .id = "get_docs_style",
     .tag = "documents",
     .media = "text/css",
     .summary = "Style of that page",
     .handle = get_style},
};

const struct route_list routes_documents = {ROUTES, sizeof ROUTES / sizeof ROUTES[0]};
