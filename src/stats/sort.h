/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_STATS_SORT_H
#define ASSAY_STATS_SORT_H

#include <stddef.h>
#include <stdint.h>

/*
 * Sorts ascending, in place, without further memory, in at most eight passes whatever the data: most-significant-byte
 * radix sort ("American flag sort", McIlroy, Bostic & McIlroy 1993). glibc's qsort would take a second array.
 */
void sort_int64(int64_t *values, size_t count);

#endif
