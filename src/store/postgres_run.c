/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Statements and rows of a PostgreSQL server. Values go as text, bytes as they are. A statement's parameter types are those of
 * the first values it is run with, where they are not NULL; the server tells the rest. Values of other types later get a
 * statement of their own.
 */
#include "store/postgres.h"

#include "base/strbuf.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_BYTES   24
#define NUMBER_BYTES 32
#define PARAMS_MAX   2000

struct prepared {
    char name[NAME_BYTES];
    uint32_t count;
    Oid types[];
};

/* What PQexecPrepared wants, for one call. */
struct bound {
    const char **values;
    int *lens;
    int *formats;
    char (*numbers)[NUMBER_BYTES];
};

static as_status fail(struct store_tx *tx, PGresult *take_result)
{
    struct postgres_connection *connection = tx->connection;
    char message[400];
    const as_status status = postgres_status(connection->conn, take_result);
    postgres_message(connection->conn, take_result, message, sizeof message);
    PQclear(take_result);
    return tx_fail(tx, status, "%s", message);
}

void postgres_drop_prepared(void *context, void *prepared)
{
    struct postgres_connection *connection = context;
    struct prepared *dropped = prepared;
    if (connection->conn && PQstatus(connection->conn) == CONNECTION_OK && PQtransactionStatus(connection->conn) != PQTRANS_INERROR) {
        char sql[NAME_BYTES + 16];
        snprintf(sql, sizeof sql, "DEALLOCATE %s", dropped->name);
        PQclear(PQexec(connection->conn, sql));
    }
    free(dropped);
}

static Oid type_of(const struct store_value *value)
{
    switch (value->type) {
    case STORE_BOOL: return PG_BOOL;
    case STORE_INT: return PG_INT8;
    case STORE_REAL: return PG_FLOAT8;
    case STORE_TEXT: return PG_TEXT;
    case STORE_BLOB: return PG_BYTEA;
    case STORE_NULL:
    default: return 0;
    }
}

/* May the value go where the server expects this type? */
static bool fits(const struct store_value *value, Oid type)
{
    switch (value->type) {
    case STORE_INT: return type == PG_INT8 || type == PG_FLOAT8 || type == PG_INT4 || type == PG_NUMERIC;
    case STORE_REAL: return type == PG_FLOAT8 || type == PG_NUMERIC;
    case STORE_NULL: return true;
    case STORE_BOOL:
    case STORE_TEXT:
    case STORE_BLOB:
    default: return type == type_of(value);
    }
}

static bool all_fit(const struct prepared *prepared, const struct store_value *params, uint32_t count)
{
    if (prepared->count != count)
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (!fits(&params[i], prepared->types[i]))
            return false;
    return true;
}

/* ?1 becomes $1 outside quotes. */
static void dollar_parameters(const char *sql, struct strbuf *ret)
{
    char quote = '\0';
    for (; *sql; sql++) {
        if (quote)
            quote = *sql == quote ? '\0' : quote;
        else if (*sql == '\'' || *sql == '"')
            quote = *sql;
        const bool is_parameter = !quote && *sql == '?' && isdigit((unsigned char)sql[1]);
        strbuf_addc(ret, is_parameter ? '$' : *sql);
    }
}

/* Asks the server for the types that it found. */
static as_status describe(struct store_tx *tx, struct prepared *prepared)
{
    struct postgres_connection *connection = tx->connection;
    PGresult *result = PQdescribePrepared(connection->conn, prepared->name);
    if (PQresultStatus(result) != PGRES_COMMAND_OK)
        return fail(tx, result);
    const bool is_count_right = PQnparams(result) == (int)prepared->count;
    for (uint32_t i = 0; i < prepared->count && is_count_right; i++)
        prepared->types[i] = PQparamtype(result, (int)i);
    const int expected = PQnparams(result);
    PQclear(result);
    return is_count_right ? AS_OK
                          : tx_fail(tx, AS_E_INVALID, "the statement takes %d parameters, not %u", expected, prepared->count);
}

static as_status prepare_on_server(struct store_tx *tx, const char *sql, const struct store_value *params, struct prepared *prepared)
{
    struct postgres_connection *connection = tx->connection;
    AS_AUTO_STRBUF struct strbuf text;
    strbuf_init(&text, 0);
    dollar_parameters(sql, &text);
    if (strbuf_status(&text) != AS_OK)
        return tx_fail(tx, AS_E_NOMEM, "out of memory for a statement");
    for (uint32_t i = 0; i < prepared->count; i++)
        prepared->types[i] = type_of(&params[i]);
    snprintf(prepared->name, sizeof prepared->name, "s%" PRIu64, connection->next_name++);
    PGresult *result = PQprepare(connection->conn, prepared->name, strbuf_text(&text), (int)prepared->count, prepared->types);
    if (PQresultStatus(result) != PGRES_COMMAND_OK)
        return fail(tx, result);
    PQclear(result);
    return describe(tx, prepared);
}

/* NULL: the transaction has failed. */
static struct statement *prepare(struct store_tx *tx, const char *sql, const struct store_value *params, uint32_t count)
{
    struct postgres_connection *connection = tx->connection;
    struct statement *found = NULL;
    while ((found = statements_find(&connection->statements, sql, found)))
        if (all_fit(found->prepared, params, count))
            break;
    if (found) {
        statements_use(&connection->statements, found);
        return found;
    }
    struct prepared *prepared = calloc(1, sizeof *prepared + count * sizeof prepared->types[0]);
    as_status status;
    if (!prepared) {
        status = tx_fail(tx, AS_E_NOMEM, "out of memory for a statement");
        (void)status; /* it stands in the transaction */
        return NULL;
    }
    prepared->count = count;
    status = prepare_on_server(tx, sql, params, prepared);
    if (status != AS_OK) {
        free(prepared);
        return NULL;
    }
    struct statement *added = statements_add(&connection->statements, sql, prepared);
    if (!added)
        status = tx_fail(tx, AS_E_NOMEM, "out of memory for a statement");
    (void)status;
    return added;
}

static void free_bound(struct bound *bound)
{
    free(bound->values);
    free(bound->lens);
    free(bound->formats);
    free(bound->numbers);
}

static void bind_one(struct bound *bound, uint32_t at, const struct store_value *value)
{
    char *number = bound->numbers[at];
    switch (value->type) {
    case STORE_NULL: bound->values[at] = NULL; return;
    case STORE_BOOL: snprintf(number, NUMBER_BYTES, "%s", value->integer ? "t" : "f"); break;
    case STORE_INT: snprintf(number, NUMBER_BYTES, "%" PRId64, value->integer); break;
    case STORE_REAL: snprintf(number, NUMBER_BYTES, "%.17g", value->real); break;
    case STORE_TEXT:
    case STORE_BLOB:
    default:
        bound->values[at] = value->text ? value->text : "";
        bound->lens[at] = (int)value->len;
        bound->formats[at] = 1; /* the binary form of a text is the text, with a length instead of a NUL */
        return;
    }
    bound->values[at] = number;
}

static bool bind_all(struct bound *ret, const struct store_value *params, uint32_t count)
{
    const size_t n = count ? count : 1;
    *ret = (struct bound){calloc(n, sizeof *ret->values), calloc(n, sizeof *ret->lens), calloc(n, sizeof *ret->formats),
                          calloc(n, sizeof *ret->numbers)};
    if (!ret->values || !ret->lens || !ret->formats || !ret->numbers)
        return false;
    for (uint32_t i = 0; i < count; i++)
        bind_one(ret, i, &params[i]);
    return true;
}

static as_status check_lengths(struct store_tx *tx, const struct store_value *params, uint32_t count)
{
    if (count > PARAMS_MAX)
        return tx_fail(tx, AS_E_LIMIT, "a statement takes at most %d parameters", PARAMS_MAX);
    for (uint32_t i = 0; i < count; i++)
        if ((params[i].type == STORE_TEXT || params[i].type == STORE_BLOB) && params[i].len > INT32_MAX / 2)
            return tx_fail(tx, AS_E_LIMIT, "parameter %u is longer than 1 GiB", i + 1);
    return AS_OK;
}

static as_status take_result(struct store_tx *tx, PGresult *result, struct store_rows *rows)
{
    const ExecStatusType type = PQresultStatus(result);
    if (type != PGRES_TUPLES_OK && type != PGRES_COMMAND_OK)
        return fail(tx, result);
    rows->source = result;
    rows->columns = (uint32_t)PQnfields(result);
    /* A SELECT's tag counts its rows; only what changed is asked for here. */
    if (strncmp(PQcmdStatus(result), "SELECT", 6) != 0)
        rows->changed = strtoll(PQcmdTuples(result), NULL, 10);
    return AS_OK;
}

as_status postgres_query(struct store_tx *tx, const char *sql, const struct store_value *params, uint32_t count,
                         struct store_rows *rows)
{
    struct postgres_connection *connection = tx->connection;
    struct bound bound;
    as_status status = check_lengths(tx, params, count);
    if (status != AS_OK)
        return status;
    struct statement *statement = prepare(tx, sql, params, count);
    if (!statement)
        return tx->error.status;
    const struct prepared *prepared = statement->prepared;
    if (bind_all(&bound, params, count))
        status = take_result(tx, PQexecPrepared(connection->conn, prepared->name, (int)count, bound.values, bound.lens, bound.formats, 0),
                             rows);
    else
        status = tx_fail(tx, AS_E_NOMEM, "out of memory for parameters");
    free_bound(&bound);
    if (tx->is_once)
        statements_remove(&connection->statements, statement);
    else
        statements_release(statement);
    return status;
}

/* ---- rows ---- */

static unsigned hex_digit(char c)
{
    return (unsigned)(isdigit((unsigned char)c) ? c - '0' : c - 'a' + 10);
}

/* "\x0aff" in place. */
static void read_bytes(char *text, struct store_cell *ret)
{
    size_t len = 0;
    const size_t digits = strlen(text);
    for (size_t i = 2; i + 1 < digits; i += 2)
        text[len++] = (char)(hex_digit(text[i]) << 4 | hex_digit(text[i + 1]));
    *ret = (struct store_cell){.type = STORE_BLOB, .text = text, .len = len};
}

static void read_number(const char *text, struct store_cell *ret)
{
    if (strpbrk(text, ".eEnN"))
        *ret = (struct store_cell){.type = STORE_REAL, .real = strtod(text, NULL)};
    else
        *ret = (struct store_cell){.type = STORE_INT, .integer = strtoll(text, NULL, 10)};
}

static void read_cell(const PGresult *result, int row, int column, struct store_cell *ret)
{
    char *text = PQgetvalue(result, row, column);
    if (PQgetisnull(result, row, column)) {
        *ret = (struct store_cell){.type = STORE_NULL};
        return;
    }
    switch (PQftype(result, column)) {
    case PG_BOOL: *ret = (struct store_cell){.type = STORE_BOOL, .integer = text[0] == 't'}; break;
    case PG_INT2:
    case PG_INT4:
    case PG_INT8:
    case PG_OID:
    case PG_NUMERIC: read_number(text, ret); break;
    case PG_FLOAT4:
    case PG_FLOAT8: *ret = (struct store_cell){.type = STORE_REAL, .real = strtod(text, NULL)}; break;
    case PG_BYTEA: read_bytes(text, ret); break;
    default:
        *ret = (struct store_cell){.type = STORE_TEXT, .text = text, .len = (size_t)PQgetlength(result, row, column)};
    }
}

bool postgres_next(struct store_rows *rows)
{
    const PGresult *result = rows->source;
    if (rows->row >= PQntuples(result))
        return false;
    for (uint32_t i = 0; i < rows->columns; i++)
        read_cell(result, (int)rows->row, (int)i, &rows->cells[i]);
    rows->row++;
    return true;
}

const char *postgres_column_name(const struct store_rows *rows, uint32_t column)
{
    const char *name = PQfname(rows->source, (int)column);
    return name ? name : "";
}

void postgres_rows_done(struct store_rows *rows)
{
    PQclear(rows->source);
}
