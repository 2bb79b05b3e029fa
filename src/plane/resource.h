/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_PLANE_RESOURCE_H
#define ASSAY_PLANE_RESOURCE_H

/*
 * The things of the API: one constant table a kind, from which its routes (list, read, create, change, retire), their
 * SQL, checks and documents are derived. A thing is addressed by its natural key; references to others are made of
 * their natural keys, too. Internal ids stay inside this module and the store.
 */

#include "plane/call.h"
#include "plane/shape.h"

#define RESOURCE_KEY_MAX    4
#define RESOURCE_FIELDS_MAX 64

/* A column that holds the row of another resource, given by members that hold that one's natural key in its order. */
struct reference {
    const char *column;                    /* "project_id" */
    const char *resource;                  /* its path: "projects" */
    const char *members[RESOURCE_KEY_MAX]; /* names of fields of this resource; one whose field has an `initial` may be
                                              left out */
};

enum resource_scope {
    RESOURCE_OWN,     /* tenant_id: rows of the caller's tenant */
    RESOURCE_VISIBLE, /* tenant_id: also those of the shared catalogue, which nobody changes here */
    RESOURCE_PART,    /* no tenant_id: hangs on its first reference, which decides */
    RESOURCE_TENANT   /* the tenants themselves */
};

/* Columns and values of a row being written. */
struct row_values {
    const char *columns[RESOURCE_FIELDS_MAX];
    struct store_value values[RESOURCE_FIELDS_MAX];
    uint32_t count;
};
as_status row_values_set(struct row_values *row, const char *column, struct store_value value) AS_NODISCARD;
/* NULL when the column is not written. */
const struct store_value *row_values_get(const struct row_values *row, const char *column);

/* What the table cannot say. All may be NULL; they run inside the call's transaction and tell refusals in its problem.
 */
struct resource_hooks {
    /* Before the row is written: further checks and columns. `id` 0 = it is being made. */
    as_status (*prepare)(struct plane_call *call, int64_t id, struct row_values *row);
    /* After it was written: its parts. */
    as_status (*finish)(struct plane_call *call, int64_t id, const struct row_values *row);
    /* Adds the FIELD_VIRTUAL members to the open object of one thing (not in lists). */
    as_status (*put)(struct plane_call *call, int64_t id);
    /* Before it is retired. */
    as_status (*retire)(struct plane_call *call, int64_t id);
};

struct resource {
    struct shape shape;   /* name "Project", members of an answer and of what is sent */
    const char *path;     /* "projects" */
    const char *singular; /* "project", in sentences */
    const char *table;
    const char *key[RESOURCE_KEY_MAX]; /* members of the natural key, in the order of the address; none: only a list */
    const struct reference *references;
    size_t reference_count;
    enum resource_scope scope;
    enum right read, create, change; /* change: also retire; RIGHT_NONE = there is no such route */
    bool is_permanent;               /* cannot be retired: has no retired_ns */
    bool is_bare;     /* a part without created_ns, updated_ns and row_version; retiring removes the row */
    bool is_fixed;    /* cannot be changed, only made and retired */
    const char *sort; /* default order: "-created_at" */
    const struct resource_hooks *hooks;
    bool writes_password; /* made or changed in the pool that hashes passwords */
};

/* Members that nearly every thing has. */
#define FIELDS_OF_LIFE                                                                                                 \
    {.name = "created_at",                                                                                             \
     .type = FIELD_TIME,                                                                                               \
     .column = "created_ns",                                                                                           \
     .flags = FIELD_GIVEN | FIELD_SORT | FIELD_FILTER,                                                                 \
     .about = "When it was made."},                                                                                    \
        {.name = "updated_at",                                                                                         \
         .type = FIELD_TIME,                                                                                           \
         .column = "updated_ns",                                                                                       \
         .flags = FIELD_GIVEN | FIELD_SORT,                                                                            \
         .about = "When it was last changed."},                                                                        \
        {.name = "retired_at",                                                                                         \
         .type = FIELD_TIME,                                                                                           \
         .column = "retired_ns",                                                                                       \
         .flags = FIELD_GIVEN | FIELD_NULLABLE,                                                                        \
         .about = "When it was retired; null while it is in use."},                                                    \
    {                                                                                                                  \
        .name = "revision", .type = FIELD_INT, .column = "row_version", .flags = FIELD_GIVEN,                          \
        .about = "Counts changes; its ETag, for If-Match."                                                             \
    }
/* Of what the shared catalogue may hold. */
#define FIELD_SHIPPED                                                                                                  \
    {                                                                                                                  \
        .name = "is_shipped", .type = FIELD_BOOL, .flags = FIELD_GIVEN,                                                \
        .sql = "((SELECT x.tenant_code FROM tenants x WHERE x.id = $.tenant_id) = 'shared')",                          \
        .about = "Whether it came with the program and cannot be changed."                                             \
    }

const struct resource *const *resource_list(size_t *ret_count);
const struct resource *resource_find(const char *path);
size_t resource_key_count(const struct resource *resource);
/* The reference whose members hold this field, NULL when it is a column of its own; ret_at: which member. */
const struct reference *resource_reference(const struct resource *resource, const char *member, size_t *ret_at);
const char *field_column(const struct field *field);

/* ---- SQL made of the table ---- */

/*
 * Adds "(SELECT id …)", the row with this natural key (texts in the order of the key; NULL = the member's initial
 * value) that the caller sees; its own before the shared one.
 */
void sql_row_by_key(struct sql *sql, const struct resource *resource, const char *const *key);
/* Adds the condition that the row `alias` is one the caller sees. */
void sql_scope(struct sql *sql, const struct resource *resource, const char *alias);
/* Adds the expression of a member read from the row `alias`; its joins must have been added by sql_joins. */
void sql_member(struct sql *sql, const struct resource *resource, const struct field *field, const char *alias);
void sql_joins(struct sql *sql, const struct resource *resource, const char *alias);

/* ---- rows ---- */

/* The id of the row with this natural key; not found is told in the problem. */
as_status resource_row(struct plane_call *call, const struct resource *resource, const char *const *key,
                       int64_t *ret) AS_NODISCARD;
/* One value of a column as JSON. */
void resource_put_value(struct json_writer *writer, const struct field *field, const struct store_rows *rows,
                        uint32_t column);
/* The object of one row to the call's answer, with the virtual members. */
as_status resource_put(struct plane_call *call, const struct resource *resource, int64_t id) AS_NODISCARD;

/* ---- handlers of the derived routes ---- */

as_status resource_get_list(struct plane_call *call) AS_NODISCARD;
as_status resource_get(struct plane_call *call) AS_NODISCARD;
as_status resource_create(struct plane_call *call) AS_NODISCARD;
as_status resource_change(struct plane_call *call) AS_NODISCARD;
as_status resource_retire(struct plane_call *call) AS_NODISCARD;
/* Makes a row of checked input and puts it; for handlers that do so under another route. */
as_status resource_insert(struct plane_call *call, const struct resource *resource, const struct json_value *input,
                          int64_t *ret_id) AS_NODISCARD;

#endif
