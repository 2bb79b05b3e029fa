/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_OPTIONS_YAML_TREE_H
#define ASSAY_OPTIONS_YAML_TREE_H

/*
 * YAML 1.2 files of people (job files, lists of endpoints) as a tree of struct json_value: one document; plain scalars
 * that are null, true, false or a JSON number get those types, all others are strings, and `text` holds every scalar as
 * written (null and booleans included). Refused with line and column: anchors and aliases, tags, duplicate keys, keys
 * that are not scalars, more than 32 levels, several documents. `offset` is the byte offset in the file.
 */

#include "base/arena.h"
#include "base/json.h"
#include "base/status.h"

#include <stddef.h>

#define YAML_DEPTH_MAX 32

/* Parses `len` bytes; *ret lives in `arena`. An empty document is a JSON null. */
as_status yaml_parse(const char *text, size_t len, struct arena *arena, const struct json_value **ret,
                     struct as_error *err) AS_NODISCARD;
/* Line of a value, from 1. */
size_t yaml_line(const char *text, size_t len, const struct json_value *value);

#endif
