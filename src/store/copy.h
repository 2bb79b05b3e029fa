/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_STORE_COPY_H
#define ASSAY_STORE_COPY_H

/* Rows from one store to another of the same schema version, whatever database each lies in. */

#include "store/store.h"

/* Every row of every table, as one snapshot of `from`, in one transaction of `to`, which must hold no more than a new store. */
as_status copy_rows(struct store *from, struct store *to, struct as_error *err) AS_NODISCARD;
/* A new SQLite store at `path` with the rows of `from`. */
as_status copy_to_file(struct store *from, const char *path, struct as_error *err) AS_NODISCARD;

#endif
