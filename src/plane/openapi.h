/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_PLANE_OPENAPI_H
#define ASSAY_PLANE_OPENAPI_H

/* The contract (OpenAPI 3.1), made of the route table and the shapes; and a page of it for people. */

#include "base/status.h"
#include "base/strbuf.h"

as_status openapi_json(struct strbuf *out) AS_NODISCARD;
as_status openapi_yaml(struct strbuf *out) AS_NODISCARD;
as_status openapi_page(struct strbuf *out) AS_NODISCARD;
const char *openapi_page_style(void);

#endif
