/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_CTL_DEFINITION_H
#define ASSAY_CTL_DEFINITION_H

/*
 * A definition file: YAML or JSON, documents separated by "---". Each is a mapping: kinds by their plural (a list) or
 * singular (one thing), "-" or "_"; `schema` may say assay.definition.v1; `run` (or `runs`) is what POST /runs takes. A
 * project may hold `workloads`, a workload `scenarios`: they take their parent's key. Errors name file, document and
 * line; a key given twice is one. Pure; everything lives in the arena.
 */

#include "base/arena.h"
#include "base/json_write.h"
#include "ctl/kinds.h"

#define DEFINITION_SCHEMA "assay.definition.v1"

struct definition_object {
    const struct ctl_kind *kind;     /* NULL: a run */
    const struct json_value *value;  /* an object */
    const struct definition_object *parent; /* whose keys it takes; NULL = none */
    const char *keys[KIND_KEYS_MAX]; /* all of them, for kinds */
    size_t document, line;           /* from 1 */
};

struct definition {
    const char *name;                 /* of the file, for sentences */
    struct definition_object **items; /* in the order in which one needs another, runs last */
    size_t count, capacity;
    struct arena *arena;
};

/* AS_E_INVALID with the place; AS_E_LIMIT beyond DEFINITION_OBJECTS_MAX objects. */
#define DEFINITION_OBJECTS_MAX 10000
/* `definition` comes with name and arena, the rest zeroed. `text` must live as long. */
as_status definition_read(struct definition *definition, const char *text, size_t len,
                          struct as_error *err) AS_NODISCARD;
/* Writes the object as the API takes it: its members and inherited keys, without what is nested in it. */
void definition_write(struct json_writer *writer, const struct definition_object *object);
/* True when the member is another object's place, not the object's own. */
bool definition_is_nested(const struct definition_object *object, const char *member);
/* Puts "FILE, document 2, line 14: " before the message. */
as_status definition_error(const struct definition *definition, const struct definition_object *object,
                           struct as_error *err) AS_NODISCARD;
/* Keys joined with "/". */
void definition_add_key(struct strbuf *out, const struct definition_object *object);

#endif
