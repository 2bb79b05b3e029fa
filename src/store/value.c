/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters and cells. */
#include "store/value.h"

#include "base/json_text.h"
#include "store/backend.h"
#include "store/store.h"

#include <math.h>
#include <string.h>

struct store_value store_null(void)
{
    return (struct store_value){.type = STORE_NULL};
}

struct store_value store_bool(bool value)
{
    return (struct store_value){.type = STORE_BOOL, .integer = value};
}

struct store_value store_int(int64_t value)
{
    return (struct store_value){.type = STORE_INT, .integer = value};
}

struct store_value store_real(double value)
{
    return isfinite(value) ? (struct store_value){.type = STORE_REAL, .real = value} : store_null();
}

struct store_value store_text(const char *text)
{
    return text ? store_text_n(text, strlen(text)) : store_null();
}

struct store_value store_text_n(const char *text, size_t len)
{
    return (struct store_value){.type = STORE_TEXT, .text = text, .len = len};
}

struct store_value store_blob(const void *data, size_t len)
{
    return (struct store_value){.type = STORE_BLOB, .text = data, .len = len};
}

bool text_is_sound(const char *text, size_t len)
{
    const char *at = text, *end = text + len;
    bool is_valid = memchr(text, '\0', len) == NULL;
    while (is_valid && at < end) {
        if ((unsigned char)*at < 0x80)
            at++;
        else
            at += utf8_take(at, end, &is_valid);
    }
    return is_valid;
}

static const struct store_cell *cell(const struct store_rows *rows, uint32_t column)
{
    static const struct store_cell none = {.type = STORE_NULL};
    return column < rows->columns ? &rows->cells[column] : &none;
}

bool store_is_null(const struct store_rows *rows, uint32_t column)
{
    return cell(rows, column)->type == STORE_NULL;
}

int64_t store_get_int(const struct store_rows *rows, uint32_t column)
{
    const struct store_cell *at = cell(rows, column);
    if (at->type == STORE_REAL)
        return at->real >= -0x1p63 && at->real < 0x1p63 ? (int64_t)at->real : 0;
    return at->type == STORE_INT || at->type == STORE_BOOL ? at->integer : 0;
}

bool store_get_bool(const struct store_rows *rows, uint32_t column)
{
    return store_get_int(rows, column) != 0;
}

double store_get_real(const struct store_rows *rows, uint32_t column)
{
    const struct store_cell *at = cell(rows, column);
    return at->type == STORE_REAL ? at->real : (double)store_get_int(rows, column);
}

const char *store_get_text(const struct store_rows *rows, uint32_t column, size_t *ret_len)
{
    const struct store_cell *at = cell(rows, column);
    const bool is_text = at->type == STORE_TEXT;
    if (ret_len)
        *ret_len = is_text ? at->len : 0;
    return is_text ? at->text : NULL;
}

const void *store_get_blob(const struct store_rows *rows, uint32_t column, size_t *ret_len)
{
    const struct store_cell *at = cell(rows, column);
    const bool is_blob = at->type == STORE_BLOB;
    if (ret_len)
        *ret_len = is_blob ? at->len : 0;
    return is_blob ? at->text : NULL;
}
