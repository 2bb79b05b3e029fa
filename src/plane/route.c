/* SPDX-License-Identifier: Apache-2.0 */
#include "plane/route.h"

#include <ctype.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PREFIX "/api/v1/"

static const struct route_list *const BY_HAND[] = {
    &routes_documents, &routes_account, &routes_runs,  &routes_catalogue,   &routes_results, &routes_compare,
    &routes_report,    &routes_prompts, &routes_agent, &routes_agent_lease, &routes_lease};

static struct arena memory;
static struct route_table table;
static pthread_once_t made = PTHREAD_ONCE_INIT;

const char *route_method_name(enum http_method method)
{
    static const char *const names[] = {
        [HTTP_GET] = "GET",     [HTTP_HEAD_METHOD] = "HEAD", [HTTP_POST] = "POST",       [HTTP_PUT] = "PUT",
        [HTTP_PATCH] = "PATCH", [HTTP_DELETE] = "DELETE",    [HTTP_OPTIONS] = "OPTIONS",
    };
    return method < HTTP_OTHER_METHOD ? names[method] : "?";
}

static const char *item_path(const struct resource *resource)
{
    const char *path = arena_printf(&memory, PREFIX "%s", resource->path);
    for (size_t i = 0; path && i < resource_key_count(resource); i++)
        path = arena_printf(&memory, "%s/{%s}", path, resource->key[i]);
    return path;
}

/* "get_engine_args_set" of "get" and "engine-argument set". */
static const char *operation(const char *verb, const char *name)
{
    char *text = arena_printf(&memory, "%s_%s", verb, name);
    for (char *at = text; at && *at; at++)
        *at = isalnum((unsigned char)*at) ? *at : '_';
    return text;
}

static bool add(struct route *routes, size_t *count, struct route route)
{
    if (!route.path || !route.id || !route.summary)
        return false;
    routes[(*count)++] = route;
    return true;
}

static bool add_resource(struct route *routes, size_t *count, const struct resource *resource)
{
    const char *list_path = arena_printf(&memory, PREFIX "%s", resource->path), *path = item_path(resource);
    const struct route base = {.tag = resource->path, .resource = resource, .output = &resource->shape};
    struct route list = base, get = base, create = base, change = base, retire = base;
    bool ok = true;
    list.path = create.path = list_path;
    get.path = change.path = retire.path = path;
    list.right = get.right = resource->read;
    create.right = resource->create;
    change.right = retire.right = resource->change;
    list.is_list = true;
    list.handle = resource_get_list;
    list.id = operation("list", resource->path);
    list.summary = arena_printf(&memory, "List %ss", resource->singular);
    get.handle = resource_get;
    get.id = operation("get", resource->singular);
    get.summary = arena_printf(&memory, "Read a %s", resource->singular);
    create.method = HTTP_POST;
    create.kind = change.kind = retire.kind = ROUTE_WRITE;
    create.input = change.input = &resource->shape;
    create.status = 201;
    create.hashes = change.hashes = resource->writes_password;
    create.handle = resource_create;
    create.id = operation("create", resource->singular);
    create.summary = arena_printf(&memory, "Make a %s", resource->singular);
    change.method = HTTP_PATCH;
    change.input_mode = SHAPE_CHANGE;
    change.handle = resource_change;
    change.id = operation("change", resource->singular);
    change.summary = arena_printf(&memory, "Change a %s", resource->singular);
    retire.method = HTTP_DELETE;
    retire.handle = resource_retire;
    retire.id = operation("retire", resource->singular);
    retire.summary =
        arena_printf(&memory, "Retire a %s: it stays readable and is left out of lists", resource->singular);
    ok = add(routes, count, list) && (!resource->key[0] || add(routes, count, get));
    if (ok && resource->create)
        ok = add(routes, count, create);
    if (ok && resource->change && !resource->is_fixed)
        ok = add(routes, count, change);
    if (ok && resource->change && (!resource->is_permanent || resource->is_bare))
        ok = add(routes, count, retire);
    return ok;
}

static void make(void)
{
    size_t resources, most, count = 0;
    const struct resource *const *list = resource_list(&resources);
    bool ok = true;
    arena_init(&memory, 0, 0);
    most = resources * 5;
    for (size_t i = 0; i < sizeof BY_HAND / sizeof BY_HAND[0]; i++)
        most += BY_HAND[i]->count;
    struct route *routes = arena_calloc(&memory, most, sizeof *routes);
    if (!routes)
        return;
    for (size_t i = 0; i < sizeof BY_HAND / sizeof BY_HAND[0]; i++)
        for (size_t k = 0; k < BY_HAND[i]->count; k++)
            routes[count++] = BY_HAND[i]->routes[k];
    for (size_t i = 0; ok && i < resources; i++)
        ok = add_resource(routes, &count, list[i]);
    table = (struct route_table){ok ? routes : NULL, count};
}

const struct route_table *route_table(void)
{
    (void)pthread_once(&made, make);
    return table.routes ? &table : NULL;
}

/* Holds a path against a template; parameters may not be empty. */
static bool fits(const char *template, struct http_text path, struct route_found *found)
{
    const char *at = path.at, *end = path.at + path.len;
    found->param_count = 0;
    while (*template) {
        if (*template != '{') {
            if (at == end || *at++ != *template ++)
                return false;
            continue;
        }
        const char *start = at;
        while (at < end && *at != '/')
            at++;
        if (at == start || found->param_count == CALL_PATH_PARAMS_MAX)
            return false;
        found->params[found->param_count++] = (struct http_text){start, (size_t)(at - start)};
        template += strcspn(template, "}") + 1;
    }
    return at == end;
}

enum route_match route_find(enum http_method method, struct http_text path, struct route_found *ret)
{
    const struct route_table *all = route_table();
    const enum http_method wanted = method == HTTP_HEAD_METHOD ? HTTP_GET : method;
    size_t len = 0;
    ret->route = NULL;
    ret->allowed[0] = '\0';
    for (size_t i = 0; all && i < all->count; i++) {
        const struct route *route = &all->routes[i];
        if (!fits(route->path, path, ret))
            continue;
        if (route->method == wanted) {
            ret->route = route;
            return ROUTE_FOUND;
        }
        if (len < sizeof ret->allowed)
            len += (size_t)snprintf(ret->allowed + len, sizeof ret->allowed - len, "%s%s", len ? ", " : "",
                                    route_method_name(route->method));
    }
    return len ? ROUTE_OTHER_METHOD : ROUTE_NONE;
}
