/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_STORE_VALUE_H
#define ASSAY_STORE_VALUE_H

#include <stdbool.h>
#include <stddef.h>

/* What both databases take as text: well-formed UTF-8 without NUL. */
bool text_is_sound(const char *text, size_t len);

#endif
