/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/table.h"

#include "base/json_write.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

#define GAP       2
#define WIDTH_MIN 6 /* no cell is cut below this */
#define ELLIPSIS  "\xE2\x80\xA6"

as_status table_columns_add(struct table_columns *columns, const char *names, struct arena *arena)
{
    while (*names) {
        size_t len = strcspn(names, " ,");
        if (len && columns->count < TABLE_COLUMNS_MAX) {
            const char *name = arena_strndup(arena, names, len);
            if (!name)
                return AS_E_NOMEM;
            columns->names[columns->count++] = name;
        }
        names += len;
        names += strspn(names, " ,");
    }
    return AS_OK;
}

/* Controls of Unicode's C1 block (U+0080 to U+009F) are the two bytes C2 80 to C2 9F. */
static bool is_c1(const char *at, size_t left)
{
    return left >= 2 && (unsigned char)at[0] == 0xC2 && (unsigned char)at[1] >= 0x80 && (unsigned char)at[1] < 0xA0;
}

void table_add_text(struct strbuf *out, const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c == '\n')
            strbuf_adds(out, "\\n");
        else if (c == '\t')
            strbuf_adds(out, "\\t");
        else if (c < 0x20 || c == 0x7F)
            strbuf_addf(out, "\\x%02x", (unsigned)c);
        else if (is_c1(text + i, len - i))
            strbuf_addf(out, "\\x%02x", (unsigned)(unsigned char)text[++i]);
        else
            strbuf_addc(out, text[i]);
    }
}

void table_add_value(struct strbuf *out, const struct json_value *value)
{
    struct strbuf text AS_AUTO_STRBUF;
    struct json_writer writer;
    strbuf_init(&text, 0);
    if (!value || value->type == JSON_NULL) {
        strbuf_addc(out, '-');
    } else if (value->type == JSON_STRING) {
        table_add_text(out, value->text, value->len);
    } else if (value->type == JSON_NUMBER) {
        strbuf_add(out, value->text, value->len);
    } else if (value->type == JSON_BOOL) {
        strbuf_adds(out, value->boolean ? "true" : "false");
    } else {
        json_writer_init(&writer, &text, 0);
        json_put_value(&writer, value);
        if (json_writer_status(&writer) == AS_OK)
            table_add_text(out, text.data, text.len);
    }
}

static size_t points(const char *text)
{
    size_t count = 0;
    for (; *text; text++)
        count += ((unsigned char)*text & 0xC0) != 0x80;
    return count;
}

/* The cells of a table, row by row, the heading first. */
struct grid {
    const char **cells;
    size_t row_count, column_count;
    size_t widths[TABLE_COLUMNS_MAX];
    bool is_number[TABLE_COLUMNS_MAX];
};

static const char *cell_text(const struct json_value *value, struct arena *arena)
{
    struct strbuf text AS_AUTO_STRBUF;
    strbuf_init(&text, 0);
    table_add_value(&text, value);
    return strbuf_status(&text) == AS_OK ? arena_strdup(arena, strbuf_text(&text)) : NULL;
}

static const char *heading(const char *name, struct arena *arena)
{
    char *text = arena_strdup(arena, name);
    for (char *at = text; at && *at; at++)
        *at = (char)toupper((unsigned char)*at);
    return text;
}

static as_status fill(struct grid *grid, const struct json_value *rows, const struct table_columns *columns,
                      struct arena *arena)
{
    size_t at = 0;
    for (size_t i = 0; i < columns->count; i++) {
        grid->cells[at++] = heading(columns->names[i], arena);
        grid->is_number[i] = true;
    }
    for (const struct json_value *row = rows->first; row; row = row->next) {
        for (size_t i = 0; i < columns->count; i++) {
            const struct json_value *value = json_get(row, columns->names[i]);
            grid->cells[at++] = cell_text(value, arena);
            grid->is_number[i] =
                grid->is_number[i] && (!value || value->type == JSON_NULL || value->type == JSON_NUMBER);
        }
    }
    for (size_t i = 0; i < at; i++) {
        if (!grid->cells[i])
            return AS_E_NOMEM;
        size_t width = points(grid->cells[i]);
        size_t *widest = &grid->widths[i % columns->count];
        *widest = width > *widest ? width : *widest;
    }
    return AS_OK;
}

static size_t total_width(const struct grid *grid)
{
    size_t total = (grid->column_count - 1) * GAP;
    for (size_t i = 0; i < grid->column_count; i++)
        total += grid->widths[i];
    return total;
}

/* Takes from the widest column until the lines fit or nothing is left to take; numbers are never cut. */
static void fit(struct grid *grid, size_t width)
{
    while (total_width(grid) > width) {
        size_t widest = SIZE_MAX;
        for (size_t i = 0; i < grid->column_count; i++)
            if (!grid->is_number[i] && grid->widths[i] > WIDTH_MIN &&
                (widest == SIZE_MAX || grid->widths[i] > grid->widths[widest]))
                widest = i;
        if (widest == SIZE_MAX)
            return;
        grid->widths[widest]--;
    }
}

static void add_spaces(struct strbuf *out, size_t count)
{
    for (size_t i = 0; i < count; i++)
        strbuf_addc(out, ' ');
}

static void add_cut(struct strbuf *out, const char *text, size_t width)
{
    for (size_t shown = 0; *text; text++) {
        shown += ((unsigned char)*text & 0xC0) != 0x80;
        if (shown == width)
            break;
        strbuf_addc(out, *text);
    }
    strbuf_adds(out, ELLIPSIS);
}

static void add_row(struct strbuf *out, const struct grid *grid, size_t row)
{
    for (size_t i = 0; i < grid->column_count; i++) {
        const char *text = grid->cells[row * grid->column_count + i];
        size_t width = points(text), space = grid->widths[i] > width ? grid->widths[i] - width : 0;
        add_spaces(out, i ? GAP : 0);
        add_spaces(out, grid->is_number[i] ? space : 0);
        if (width > grid->widths[i])
            add_cut(out, text, grid->widths[i]);
        else
            strbuf_adds(out, text);
        if (!grid->is_number[i] && i + 1 < grid->column_count)
            add_spaces(out, space);
    }
    strbuf_addc(out, '\n');
}

as_status table_write(struct strbuf *out, const struct json_value *rows, const struct table_columns *columns,
                      size_t width, struct arena *arena)
{
    struct grid grid = {.row_count = rows->len + 1, .column_count = columns->count};
    if (!columns->count)
        return AS_OK;
    grid.cells = arena_calloc(arena, grid.row_count * grid.column_count, sizeof *grid.cells);
    as_status status = grid.cells ? fill(&grid, rows, columns, arena) : AS_E_NOMEM;
    if (status != AS_OK)
        return status;
    if (width)
        fit(&grid, width);
    for (size_t i = 0; i < grid.row_count; i++)
        add_row(out, &grid, i);
    return strbuf_status(out);
}

void table_write_object(struct strbuf *out, const struct json_value *object)
{
    size_t widest = 0;
    for (const struct json_value *member = object->first; member; member = member->next)
        widest = points(member->key) > widest ? points(member->key) : widest;
    for (const struct json_value *member = object->first; member; member = member->next) {
        table_add_text(out, member->key, member->key_len);
        add_spaces(out, widest - points(member->key) + GAP);
        table_add_value(out, member);
        strbuf_addc(out, '\n');
    }
}
