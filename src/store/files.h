/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_STORE_FILES_H
#define ASSAY_STORE_FILES_H

/* Whole files that must be there after a power cut, or not at all. */

#include "base/status.h"

/* Syncs the finished file `part` and gives it its name too; AS_E_EXISTS when that is taken, which then stays as it is. */
as_status file_publish(const char *part, const char *target, struct as_error *err) AS_NODISCARD;
/* Copies and syncs; what was at `to_path` is overwritten. */
as_status file_copy(const char *from_path, const char *to_path, struct as_error *err) AS_NODISCARD;

#endif
