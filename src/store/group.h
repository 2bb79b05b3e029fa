/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_STORE_GROUP_H
#define ASSAY_STORE_GROUP_H

/* The line of works that wait for a common commit; see store_group in store.h. */

struct group;

/* NULL without memory. */
struct group *group_new(void);
void group_free(struct group *group);

#endif
