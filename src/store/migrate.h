/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_STORE_MIGRATE_H
#define ASSAY_STORE_MIGRATE_H

/* Brings the schema forward. `count` migrations, of those the program has; fewer than all is what an older program did. */

#include "store/store.h"

as_status store_migrate(struct store *store, uint32_t count, struct as_error *err) AS_NODISCARD;
/* store_open of a program that knows only the first `migrations`, but does not mind newer ones; for tests. */
as_status store_open_at(const struct store_options *options, uint32_t migrations, struct store **ret, struct as_error *err) AS_NODISCARD;

#endif
