/* SPDX-License-Identifier: Apache-2.0 */
#include "plane/problem.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    int status;
    const char *title;
} KINDS[] = {
#define PROBLEM_ROW(name, text, status, title) [PROBLEM_##name] = {text, status, title},
    PROBLEM_MAP(PROBLEM_ROW)
#undef PROBLEM_ROW
};

int problem_status(enum problem_kind kind)
{
    return KINDS[kind].status;
}

const char *problem_name(enum problem_kind kind)
{
    return KINDS[kind].name;
}

const char *problem_title(enum problem_kind kind)
{
    return KINDS[kind].title;
}

static as_status status_of(enum problem_kind kind)
{
    switch (kind) {
    case PROBLEM_NOTFOUND:
        return AS_E_NOTFOUND;
    case PROBLEM_EXISTS:
        return AS_E_EXISTS;
    case PROBLEM_STATE:
    case PROBLEM_READINESS:
    case PROBLEM_REVISION:
        return AS_E_STATE;
    case PROBLEM_UNAUTHENTICATED:
    case PROBLEM_FORBIDDEN:
    case PROBLEM_ORIGIN:
        return AS_E_DENIED;
    case PROBLEM_TOO_LARGE:
    case PROBLEM_TOO_MANY:
        return AS_E_LIMIT;
    case PROBLEM_INTERNAL:
        return AS_E_INTERNAL;
    case PROBLEM_UNSUPPORTED:
        return AS_E_UNSUPPORTED;
    case PROBLEM_BUSY:
        return AS_E_TIMEOUT;
    default:
        return AS_E_INVALID;
    }
}

as_status problem_set(struct problem *problem, enum problem_kind kind, const char *fmt, ...)
{
    va_list args;
    if (problem->is_set)
        return status_of(problem->kind);
    problem->is_set = true;
    problem->kind = kind;
    va_start(args, fmt);
    (void)vsnprintf(problem->detail, sizeof problem->detail, fmt, args);
    va_end(args);
    return status_of(kind);
}

as_status problem_add(struct problem *problem, const char *pointer, const char *code, const char *fmt, ...)
{
    va_list args;
    struct problem_error *error;
    if (problem->error_count < PROBLEM_ERRORS_MAX) {
        error = &problem->errors[problem->error_count++];
        (void)snprintf(error->pointer, sizeof error->pointer, "%s", pointer);
        error->code = code;
        va_start(args, fmt);
        (void)vsnprintf(error->detail, sizeof error->detail, fmt, args);
        va_end(args);
        if (!problem->is_set)
            return problem_set(problem, PROBLEM_INVALID, "%s: %s", error->pointer[0] ? error->pointer : "the body",
                               error->detail);
    }
    return status_of(problem->kind);
}

void problem_from_status(struct problem *problem, as_status status, const struct as_error *err)
{
    const char *sentence = err && err->message[0] ? err->message : status_sentence(status);
    switch (status) {
    case AS_E_NOTFOUND:
        problem_set(problem, PROBLEM_NOTFOUND, "there is no such thing, or it is not yours");
        break;
    case AS_E_EXISTS:
        problem_set(problem, PROBLEM_EXISTS, "it exists already");
        break;
    case AS_E_STATE:
        problem_set(problem, PROBLEM_STATE, "%s", sentence);
        break;
    case AS_E_DENIED:
        problem_set(problem, PROBLEM_FORBIDDEN, "%s", sentence);
        break;
    case AS_E_LIMIT:
        problem_set(problem, PROBLEM_TOO_LARGE, "%s", sentence);
        break;
    case AS_E_UNSUPPORTED:
        problem_set(problem, PROBLEM_UNSUPPORTED, "%s", sentence);
        break;
    case AS_E_TIMEOUT:
    case AS_E_NETWORK:
    case AS_E_INTERRUPTED:
        problem_set(problem, PROBLEM_BUSY, "the store did not answer in time; ask again with the same Idempotency-Key");
        problem->retry_after_s = 1;
        break;
    default:
        /* What the store or the system says may hold names that are not for callers. */
        problem_set(problem, PROBLEM_INTERNAL, "the server failed; its log says why");
        break;
    }
}

void problem_write(const struct problem *problem, struct json_writer *writer)
{
    char type[80];
    (void)snprintf(type, sizeof type, "urn:assay:problem:%s", problem_name(problem->kind));
    json_open_object(writer);
    json_member_string(writer, "type", type);
    json_member_string(writer, "title", problem_title(problem->kind));
    json_member_int(writer, "status", problem_status(problem->kind));
    json_member_string(writer, "detail", problem->detail);
    if (problem->error_count) {
        json_key(writer, "errors");
        json_open_array(writer);
        for (uint32_t i = 0; i < problem->error_count; i++) {
            json_open_object(writer);
            json_member_string(writer, "pointer", problem->errors[i].pointer);
            json_member_string(writer, "code", problem->errors[i].code);
            json_member_string(writer, "detail", problem->errors[i].detail);
            json_close_object(writer);
        }
        json_close_array(writer);
    }
    json_close_object(writer);
}
