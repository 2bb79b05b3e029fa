/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_TESTS_SUPPORT_CHECK_H
#define ASSAY_TESTS_SUPPORT_CHECK_H

/* cmocka with the headers that it needs included first. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define ARRAY_COUNT(array) (sizeof(array) / sizeof((array)[0]))

#endif
