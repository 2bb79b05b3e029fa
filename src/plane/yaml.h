/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_PLANE_YAML_H
#define ASSAY_PLANE_YAML_H

/* A JSON tree as block-style YAML 1.2: strings are quoted unless they are plain words, so that every reader gives them
 * back. */

#include "base/json.h"
#include "base/strbuf.h"

void yaml_write(struct strbuf *out, const struct json_value *value);

#endif
