/* SPDX-License-Identifier: Apache-2.0 */
#include "plane/openapi.h"

#include "plane/route.h"
#include "plane/yaml.h"

#include <stdio.h>
#include <string.h>

#define SHAPES_MAX 128

/* Shapes seen so far; each becomes one or more schemas. */
struct shapes {
    struct {
        const struct shape *shape;
        bool is_answer, is_create, is_change;
    } items[SHAPES_MAX];
    size_t count;
};

enum use { USE_ANSWER, USE_CREATE, USE_CHANGE };

static const char *use_suffix(enum use use)
{
    static const char *const suffixes[] = {"", "Create", "Change"};
    return suffixes[use];
}

static void note(struct shapes *shapes, const struct shape *shape, enum use use)
{
    size_t at = 0;
    bool is_noted;
    while (at < shapes->count && shapes->items[at].shape != shape)
        at++;
    if (at == SHAPES_MAX)
        return;
    if (at == shapes->count)
        shapes->items[shapes->count++].shape = shape;
    bool *flag = use == USE_ANSWER   ? &shapes->items[at].is_answer
                 : use == USE_CREATE ? &shapes->items[at].is_create
                                     : &shapes->items[at].is_change;
    is_noted = *flag;
    *flag = true;
    /* Parts of a change are whole. */
    for (size_t i = 0; !is_noted && i < shape->count; i++)
        if (shape->fields[i].shape)
            note(shapes, shape->fields[i].shape, use == USE_ANSWER ? USE_ANSWER : USE_CREATE);
}

static void put_ref(struct json_writer *json, const struct shape *shape, enum use use)
{
    char ref[128];
    (void)snprintf(ref, sizeof ref, "#/components/schemas/%s%s", shape->name, use_suffix(use));
    json_open_object(json);
    json_member_string(json, "$ref", ref);
    json_close_object(json);
}

static void put_type(struct json_writer *json, const char *type, bool is_nullable)
{
    json_key(json, "type");
    if (!is_nullable) {
        json_put_string(json, type);
        return;
    }
    json_open_array(json);
    json_put_string(json, type);
    json_put_string(json, "null");
    json_close_array(json);
}

static void put_text_schema(struct json_writer *json, const struct field *field, enum use use)
{
    const char *pattern = field_pattern(field->type);
    if (field->type == FIELD_TIME)
        json_member_string(json, "format", "date-time");
    if (use == USE_ANSWER || field->type == FIELD_TIME)
        return;
    if (pattern)
        json_member_string(json, "pattern", pattern);
    if (field->min > 0 || (field->flags & FIELD_REQUIRED) || field_is_code(field->type))
        json_member_int(json, "minLength", field->min > 0 ? (int64_t)field->min : 1);
    json_member_int(json, "maxLength", (int64_t)field_text_max(field));
}

static void put_bounds(struct json_writer *json, const struct field *field, enum use use)
{
    if (use == USE_ANSWER || (field->min == 0 && field->max == 0))
        return;
    json_member_double(json, "minimum", field->min);
    if (field->max != 0)
        json_member_double(json, "maximum", field->max);
}

static void put_choices(struct json_writer *json, const struct field *field, bool is_nullable)
{
    json_key(json, "enum");
    json_open_array(json);
    for (const char *const *choice = field->choices; *choice; choice++)
        json_put_string(json, *choice);
    if (is_nullable)
        json_put_null(json);
    json_close_array(json);
}

static void put_schema(struct json_writer *json, const struct field *field, enum use use);

static void put_list(struct json_writer *json, const struct field *field, enum use use)
{
    const struct field item = {.name = field->name, .type = field->item, .max = 2000, .choices = field->choices};
    json_key(json, "items");
    if (field->shape)
        put_ref(json, field->shape, use == USE_ANSWER ? USE_ANSWER : USE_CREATE);
    else
        put_schema(json, &item, use);
    if (use != USE_ANSWER)
        json_member_int(json, "maxItems", field->max > 0 ? (int64_t)field->max : 1000);
}

static void put_schema(struct json_writer *json, const struct field *field, enum use use)
{
    const bool is_nullable = field->flags & FIELD_NULLABLE;
    json_open_object(json);
    if (field->about)
        json_member_string(json, "description", field->about);
    switch (field->type) {
    case FIELD_INT:
        put_type(json, "integer", is_nullable);
        put_bounds(json, field, use);
        break;
    case FIELD_NUMBER:
        put_type(json, "number", is_nullable);
        put_bounds(json, field, use);
        break;
    case FIELD_BOOL:
        put_type(json, "boolean", is_nullable);
        break;
    case FIELD_JSON:
        if (!(field->flags & FIELD_ANY) && use != USE_ANSWER)
            put_type(json, "object", is_nullable);
        break;
    case FIELD_OBJECT:
        json_key(json, "anyOf");
        json_open_array(json);
        if (field->shape)
            put_ref(json, field->shape, use == USE_ANSWER ? USE_ANSWER : USE_CREATE);
        json_open_object(json);
        json_member_string(json, "type", "null");
        json_close_object(json);
        json_close_array(json);
        break;
    case FIELD_LIST:
        put_type(json, "array", is_nullable);
        put_list(json, field, use);
        break;
    default:
        put_type(json, "string", is_nullable);
        if (field->choices && field->type == FIELD_ENUM)
            put_choices(json, field, is_nullable);
        else
            put_text_schema(json, field, use);
        break;
    }
    if (use == USE_CREATE && field->initial) {
        json_key(json, "default");
        json_put_raw(json, field->initial, strlen(field->initial));
    }
    if (field->type == FIELD_SECRET)
        json_member_bool(json, "writeOnly", true);
    json_close_object(json);
}

static bool is_in(const struct field *field, enum use use)
{
    if (use == USE_ANSWER)
        return field->type != FIELD_SECRET && !(field->flags & FIELD_ABSENT);
    if ((field->flags & FIELD_GIVEN) || field->sql)
        return false;
    return use == USE_CREATE || !(field->flags & FIELD_FIXED);
}

static bool is_required(const struct field *field, enum use use)
{
    if (use == USE_ANSWER)
        return !(field->flags & (FIELD_VIRTUAL | FIELD_DETAIL | FIELD_ONCE));
    return use == USE_CREATE && (field->flags & FIELD_REQUIRED);
}

static void put_shape(struct json_writer *json, const struct shape *shape, enum use use)
{
    char name[96];
    bool has_required = false;
    (void)snprintf(name, sizeof name, "%s%s", shape->name, use_suffix(use));
    json_key(json, name);
    json_open_object(json);
    json_member_string(json, "description", shape->about);
    json_member_string(json, "type", "object");
    json_member_bool(json, "additionalProperties", false);
    for (size_t i = 0; i < shape->count; i++)
        has_required = has_required || (is_in(&shape->fields[i], use) && is_required(&shape->fields[i], use));
    if (has_required) {
        json_key(json, "required");
        json_open_array(json);
        for (size_t i = 0; i < shape->count; i++)
            if (is_in(&shape->fields[i], use) && is_required(&shape->fields[i], use))
                json_put_string(json, shape->fields[i].name);
        json_close_array(json);
    }
    json_key(json, "properties");
    json_open_object(json);
    for (size_t i = 0; i < shape->count; i++) {
        if (!is_in(&shape->fields[i], use))
            continue;
        json_key(json, shape->fields[i].name);
        put_schema(json, &shape->fields[i], use);
    }
    json_close_object(json);
    json_close_object(json);
}

/* ---- paths ---- */

static void put_parameter(struct json_writer *json, const char *in, const char *name, const char *about)
{
    json_open_object(json);
    json_member_string(json, "name", name);
    json_member_string(json, "in", in);
    if (strcmp(in, "path") == 0)
        json_member_bool(json, "required", true);
    if (about)
        json_member_string(json, "description", about);
    json_key(json, "schema");
    json_open_object(json);
    json_member_string(json, "type", "string");
    json_close_object(json);
    json_close_object(json);
}

static void put_path_parameters(struct json_writer *json, const struct route *route)
{
    for (const char *at = strchr(route->path, '{'); at; at = strchr(at, '{')) {
        char name[64];
        const size_t len = strcspn(++at, "}");
        (void)snprintf(name, sizeof name, "%.*s", (int)len, at);
        const struct field *field = route->resource ? shape_field(&route->resource->shape, name) : NULL;
        put_parameter(json, "path", name, field ? field->about : NULL);
    }
}

static void put_list_parameters(struct json_writer *json, const struct resource *resource)
{
    put_parameter(json, "query", "limit", "Things of a page, 1 to 500; 50 when not given.");
    put_parameter(json, "query", "cursor", "`next` of the page before.");
    put_parameter(json, "query", "sort", "A member, with - before it for the reverse.");
    put_parameter(json, "query", "retired", "false (in use), true or all.");
    put_parameter(json, "query", "q", "Text that codes or names hold.");
    for (size_t i = 0; i < resource->shape.count; i++) {
        const struct field *field = &resource->shape.fields[i];
        char name[80];
        if (!(field->flags & FIELD_FILTER))
            continue;
        if (field->type != FIELD_TIME) {
            put_parameter(json, "query", field->name, field->about);
            continue;
        }
        (void)snprintf(name, sizeof name, "%s_from", field->name);
        put_parameter(json, "query", name, "From this time on.");
        (void)snprintf(name, sizeof name, "%s_to", field->name);
        put_parameter(json, "query", name, "Before this time.");
    }
}

static void put_parameters(struct json_writer *json, const struct route *route)
{
    json_key(json, "parameters");
    json_open_array(json);
    put_path_parameters(json, route);
    if (route->is_list && route->handle == resource_get_list)
        put_list_parameters(json, route->resource);
    for (size_t i = 0; i < route->param_count; i++)
        put_parameter(json, "query", route->params[i].name, route->params[i].about);
    if (route->kind == ROUTE_WRITE)
        put_parameter(json, "header", "Idempotency-Key", "A repeat with the same key gives the first answer.");
    if (route->method == HTTP_PATCH || route->method == HTTP_DELETE)
        put_parameter(json, "header", "If-Match", "ETag that the thing must still have.");
    if (route->kind == ROUTE_EVENTS)
        put_parameter(json, "header", "Last-Event-ID", "The last event that was seen.");
    json_close_array(json);
}

static void put_page_schema(struct json_writer *json, const struct shape *shape)
{
    json_open_object(json);
    json_member_string(json, "type", "object");
    json_member_bool(json, "additionalProperties", false);
    json_key(json, "required");
    json_open_array(json);
    json_put_string(json, "items");
    json_put_string(json, "next");
    json_close_array(json);
    json_key(json, "properties");
    json_open_object(json);
    json_key(json, "items");
    json_open_object(json);
    json_member_string(json, "type", "array");
    json_key(json, "items");
    put_ref(json, shape, USE_ANSWER);
    json_close_object(json);
    json_key(json, "next");
    json_open_object(json);
    json_member_string(json, "description", "Cursor of the next page; null: there is none.");
    put_type(json, "string", true);
    json_close_object(json);
    json_close_object(json);
    json_close_object(json);
}

static void put_content(struct json_writer *json, const char *media, const struct route *route)
{
    json_key(json, "content");
    json_open_object(json);
    json_key(json, media);
    json_open_object(json);
    json_key(json, "schema");
    if (route->output && route->is_list) {
        put_page_schema(json, route->output);
    } else if (route->output) {
        put_ref(json, route->output, USE_ANSWER);
    } else {
        json_open_object(json);
        if (strcmp(media, "application/json") != 0)
            json_member_string(json, "type", "string");
        json_close_object(json);
    }
    json_close_object(json);
    json_close_object(json);
}

static void put_answers(struct json_writer *json, const struct route *route)
{
    char status[8];
    (void)snprintf(status, sizeof status, "%d", route->status ? route->status : 200);
    json_key(json, "responses");
    json_open_object(json);
    json_key(json, status);
    json_open_object(json);
    json_member_string(json, "description", "Done.");
    if (route->status != 204)
        put_content(json, route->media ? route->media : "application/json", route);
    json_close_object(json);
    if (route->may_be_empty) {
        json_key(json, "204");
        json_open_object(json);
        json_member_string(json, "description", "Nothing.");
        json_close_object(json);
    }
    json_key(json, "default");
    json_open_object(json);
    json_member_string(json, "$ref", "#/components/responses/Problem");
    json_close_object(json);
    json_close_object(json);
}

static const char *right_name(enum right right)
{
    switch (right) {
    case RIGHT_READ:
        return "read";
    case RIGHT_WRITE:
        return "write";
    case RIGHT_ADMIN:
        return "admin";
    case RIGHT_OPERATOR:
        return "operator";
    case RIGHT_AGENT:
        return "agent";
    case RIGHT_JOB:
        return "job";
    default:
        return "none";
    }
}

static void put_operation(struct json_writer *json, const struct route *route)
{
    static const char *const methods[] = {
        [HTTP_GET] = "get", [HTTP_POST] = "post", [HTTP_PUT] = "put", [HTTP_PATCH] = "patch", [HTTP_DELETE] = "delete"};
    json_key(json, methods[route->method]);
    json_open_object(json);
    json_member_string(json, "operationId", route->id);
    json_member_string(json, "summary", route->summary);
    json_key(json, "tags");
    json_open_array(json);
    json_put_string(json, route->tag);
    json_close_array(json);
    json_member_string(json, "x-right", right_name(route->right));
    if (route->right == RIGHT_NONE) {
        json_key(json, "security");
        json_open_array(json);
        json_close_array(json);
    }
    put_parameters(json, route);
    if (route->input) {
        json_key(json, "requestBody");
        json_open_object(json);
        json_member_bool(json, "required", true);
        json_key(json, "content");
        json_open_object(json);
        json_key(json, "application/json");
        json_open_object(json);
        json_key(json, "schema");
        put_ref(json, route->input, route->input_mode == SHAPE_CHANGE ? USE_CHANGE : USE_CREATE);
        json_close_object(json);
        json_close_object(json);
        json_close_object(json);
    }
    if (route->input_media) {
        json_key(json, "requestBody");
        json_open_object(json);
        json_member_bool(json, "required", true);
        json_key(json, "content");
        json_open_object(json);
        json_key(json, route->input_media);
        json_open_object(json);
        json_key(json, "schema");
        json_open_object(json);
        json_member_string(json, "type", "string");
        json_close_object(json);
        json_close_object(json);
        json_close_object(json);
        json_close_object(json);
    }
    put_answers(json, route);
    json_close_object(json);
}

/* Routes of one path stand together, at the place of the first. */
static void put_paths(struct json_writer *json, const struct route_table *table)
{
    json_key(json, "paths");
    json_open_object(json);
    for (size_t i = 0; i < table->count; i++) {
        bool is_first = true;
        for (size_t k = 0; k < i && is_first; k++)
            is_first = strcmp(table->routes[k].path, table->routes[i].path) != 0;
        if (!is_first)
            continue;
        json_key(json, table->routes[i].path);
        json_open_object(json);
        for (size_t k = i; k < table->count; k++)
            if (strcmp(table->routes[k].path, table->routes[i].path) == 0)
                put_operation(json, &table->routes[k]);
        json_close_object(json);
    }
    json_close_object(json);
}

static const char PROBLEM_SCHEMA[] =
    "{\"description\":\"Why a call was refused (RFC 9457).\",\"type\":\"object\",\"required\":[\"type\",\"title\","
    "\"status\",\"detail\"],\"additionalProperties\":false,\"properties\":{\"type\":{\"type\":\"string\",\"pattern\":"
    "\"^urn:assay:problem:\"},\"title\":{\"type\":\"string\"},\"status\":{\"type\":\"integer\"},\"detail\":{\"type\":"
    "\"string\"},\"errors\":{\"type\":\"array\",\"items\":{\"type\":\"object\",\"required\":[\"pointer\",\"code\","
    "\"detail\"],\"additionalProperties\":false,\"properties\":{\"pointer\":{\"description\":\"JSON pointer of the "
    "member; of a query parameter ?name.\",\"type\":\"string\"},\"code\":{\"type\":\"string\"},\"detail\":{\"type\":"
    "\"string\"}}}}}}";
static const char PROBLEM_RESPONSE[] =
    "{\"Problem\":{\"description\":\"Refused, or failed.\",\"content\":{\"application/problem+json\":{\"schema\":{"
    "\"$ref\":\"#/components/schemas/Problem\"}}}}}";
static const char SECURITY_SCHEMES[] =
    "{\"token\":{\"type\":\"http\",\"scheme\":\"bearer\"},\"session\":{\"type\":\"apiKey\",\"in\":\"cookie\",\"name\":"
    "\"assay-session\"}}";

static void put_raw(struct json_writer *json, const char *key, const char *text)
{
    json_key(json, key);
    json_put_raw(json, text, strlen(text));
}

static void put_components(struct json_writer *json, const struct route_table *table)
{
    struct shapes shapes = {.count = 0};
    for (size_t i = 0; i < table->count; i++) {
        const struct route *route = &table->routes[i];
        if (route->output)
            note(&shapes, route->output, USE_ANSWER);
        if (route->input)
            note(&shapes, route->input, route->input_mode == SHAPE_CHANGE ? USE_CHANGE : USE_CREATE);
    }
    json_key(json, "components");
    json_open_object(json);
    put_raw(json, "securitySchemes", SECURITY_SCHEMES);
    put_raw(json, "responses", PROBLEM_RESPONSE);
    json_key(json, "schemas");
    json_open_object(json);
    put_raw(json, "Problem", PROBLEM_SCHEMA);
    for (size_t i = 0; i < shapes.count; i++) {
        if (shapes.items[i].is_answer)
            put_shape(json, shapes.items[i].shape, USE_ANSWER);
        if (shapes.items[i].is_create)
            put_shape(json, shapes.items[i].shape, USE_CREATE);
        if (shapes.items[i].is_change)
            put_shape(json, shapes.items[i].shape, USE_CHANGE);
    }
    json_close_object(json);
    json_close_object(json);
}

as_status openapi_json(struct strbuf *out)
{
    const struct route_table *table = route_table();
    struct json_writer json;
    if (!table)
        return AS_E_NOMEM;
    json_writer_init(&json, out, 0);
    json_open_object(&json);
    json_member_string(&json, "openapi", "3.1.0");
    put_raw(
        &json, "info",
        "{\"title\":\"Assay control plane\",\"version\":\"1\",\"description\":\"The system of record of benchmarks. "
        "Things are named by natural keys; lists are paged by cursors; refusals are problem documents that name the "
        "member. Repeats of writing calls with one Idempotency-Key give the first answer.\"}");
    put_raw(&json, "security", "[{\"token\":[]},{\"session\":[]}]");
    put_paths(&json, table);
    put_components(&json, table);
    json_close_object(&json);
    return json_writer_status(&json);
}

as_status openapi_yaml(struct strbuf *out)
{
    struct strbuf text AS_AUTO_STRBUF = {.len = 0};
    const struct json_value *tree = NULL;
    struct arena arena;
    strbuf_init(&text, 0);
    arena_init(&arena, 0, 0);
    as_status status = openapi_json(&text);
    if (status == AS_OK)
        status = json_parse(text.data, text.len, NULL, &arena, &tree, NULL);
    if (status == AS_OK) {
        strbuf_adds(out, "# Written by `assay serve openapi` from the route table.\n");
        yaml_write(out, tree);
        status = strbuf_status(out);
    }
    arena_done(&arena);
    return status;
}
