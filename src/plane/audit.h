/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_PLANE_AUDIT_H
#define ASSAY_PLANE_AUDIT_H

/* Who did what: rows of audit_log, written in the transaction of the act itself. Never holds what was sent, so no
 * secrets. */

#include "plane/call.h"

/* `action`: "create", "change", "retire", "login", "override", …; `object`: "project"; `code`: its natural key. */
as_status audit_add(struct plane_call *call, const char *action, const char *object, const char *code) AS_NODISCARD;

#endif
