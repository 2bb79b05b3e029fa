/* SPDX-License-Identifier: Apache-2.0 */
/* The contract as a page for people: one section a tag, one block a route. */
#include "plane/openapi.h"

#include "plane/route.h"

#include <string.h>

static void put_html(struct strbuf *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '<')
            strbuf_adds(out, "&lt;");
        else if (*text == '>')
            strbuf_adds(out, "&gt;");
        else if (*text == '&')
            strbuf_adds(out, "&amp;");
        else if (*text == '"')
            strbuf_adds(out, "&quot;");
        else
            strbuf_addc(out, *text);
    }
}

static const char *type_name(const struct field *field)
{
    switch (field->type) {
    case FIELD_INT:
        return "integer";
    case FIELD_NUMBER:
        return "number";
    case FIELD_BOOL:
        return "boolean";
    case FIELD_TIME:
        return "time";
    case FIELD_JSON:
    case FIELD_OBJECT:
        return "object";
    case FIELD_LIST:
        return "list";
    case FIELD_SECRET:
        return "secret";
    case FIELD_ENUM:
        return "choice";
    default:
        return field_is_code(field->type) ? "code" : "text";
    }
}

static void put_field(struct strbuf *out, const struct field *field)
{
    strbuf_adds(out, "<tr><td><code>");
    put_html(out, field->name);
    strbuf_addf(out, "</code></td><td>%s</td><td>%s%s%s</td><td>", type_name(field),
                field->flags & FIELD_GIVEN || field->sql ? "given"
                : field->flags & FIELD_REQUIRED          ? "required"
                                                         : "",
                field->flags & FIELD_FIXED ? " fixed" : "", field->flags & FIELD_NULLABLE ? " nullable" : "");
    put_html(out, field->about ? field->about : "");
    for (const char *const *choice = field->type == FIELD_ENUM ? field->choices : NULL; choice && *choice; choice++) {
        strbuf_adds(out, " <code>");
        put_html(out, *choice);
        strbuf_adds(out, "</code>");
    }
    strbuf_adds(out, "</td></tr>\n");
}

static void put_shape(struct strbuf *out, const struct shape *shape)
{
    strbuf_adds(out, "<h3>");
    put_html(out, shape->name);
    strbuf_adds(out, "</h3><p>");
    put_html(out, shape->about);
    strbuf_adds(out, "</p><table><tr><th>Member</th><th>Type</th><th></th><th>Meaning</th></tr>\n");
    for (size_t i = 0; i < shape->count; i++)
        put_field(out, &shape->fields[i]);
    strbuf_adds(out, "</table>\n");
    for (size_t i = 0; i < shape->count; i++)
        if (shape->fields[i].shape && shape->fields[i].shape != shape)
            put_shape(out, shape->fields[i].shape);
}

static void put_route(struct strbuf *out, const struct route *route)
{
    strbuf_addf(out, "<p id=\"%s\"><b>%s</b> <code>", route->id, route_method_name(route->method));
    put_html(out, route->path);
    strbuf_adds(out, "</code><br>");
    put_html(out, route->summary);
    strbuf_adds(out, ".</p>\n");
}

static bool is_first_of_tag(const struct route_table *table, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (strcmp(table->routes[i].tag, table->routes[at].tag) == 0)
            return false;
    return true;
}

static void put_section(struct strbuf *out, const struct route_table *table, size_t first)
{
    const char *tag = table->routes[first].tag;
    const struct shape *last = NULL;
    strbuf_addf(out, "<h2 id=\"tag-%s\">%s</h2>\n", tag, tag);
    for (size_t i = first; i < table->count; i++)
        if (strcmp(table->routes[i].tag, tag) == 0)
            put_route(out, &table->routes[i]);
    for (size_t i = first; i < table->count; i++) {
        const struct route *route = &table->routes[i];
        if (strcmp(route->tag, tag) != 0)
            continue;
        if (route->output && route->output != last)
            put_shape(out, route->output);
        if (route->input && route->input != route->output && route->input != last)
            put_shape(out, route->input);
        last = route->output ? route->output : last;
    }
}

as_status openapi_page(struct strbuf *out)
{
    const struct route_table *table = route_table();
    if (!table)
        return AS_E_NOMEM;
    strbuf_adds(out, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Assay API</title>"
                     "<meta name=\"viewport\" content=\"width=device-width\"><link rel=\"stylesheet\" "
                     "href=\"/api/v1/docs/style.css\"></head><body><main>\n<h1>Assay API</h1>\n<p>The contract itself: "
                     "<a href=\"/api/v1/openapi.yaml\">openapi.yaml</a>, "
                     "<a href=\"/api/v1/openapi.json\">openapi.json</a>.</p>\n<ul>");
    for (size_t i = 0; i < table->count; i++)
        if (is_first_of_tag(table, i))
            strbuf_addf(out, "<li><a href=\"#tag-%s\">%s</a></li>", table->routes[i].tag, table->routes[i].tag);
    strbuf_adds(out, "</ul>\n");
    for (size_t i = 0; i < table->count; i++)
        if (is_first_of_tag(table, i))
            put_section(out, table, i);
    strbuf_adds(out, "</main></body></html>\n");
    return strbuf_status(out);
}

const char *openapi_page_style(void)
{
    return ":root{color-scheme:light dark}body{font:15px/1.5 system-ui,sans-serif;margin:0}main{max-width:70em;"
           "margin:0 "
           "auto;padding:1em}code{font-family:ui-monospace,monospace}table{border-collapse:collapse;width:100%}"
           "td,th{border-bottom:1px solid #8884;padding:.2em .6em;text-align:left;vertical-align:top}"
           "ul{columns:3}h2{border-top:2px solid #8888;padding-top:.5em}\n";
}
