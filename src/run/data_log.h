/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_RUN_DATA_LOG_H
#define ASSAY_RUN_DATA_LOG_H

#include "base/status.h"

/* Appends the whole lines of one file to another, which is made where it is not there and locked meanwhile. AS_E_IO and
 * the like. */
as_status data_log_append(const char *to, const char *from, struct as_error *err) AS_NODISCARD;

#endif
