/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_TESTS_UNIT_OPTIONS_SAMPLE_H
#define ASSAY_TESTS_UNIT_OPTIONS_SAMPLE_H

/* A small command with one option of each kind, and a reading of it. */

#include "options/options.h"
#include "support/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct sample {
    bool streaming, verify;
    int mode;
    int64_t count, stop_ns, wait_ns, buffer_bytes, limit;
    double rate, share;
    const char *model, *body, *key, *prompts, *job;
    struct opt_list urls, headers, slo, servers;
};

enum { SAMPLE_CLOSED = 1, SAMPLE_OPEN = 2, SAMPLE_LOOPS = 3 };

static inline as_status sample_map_host(struct opt_reader *reader, const char *value, struct as_error *err)
{
    char url[128];
    snprintf(url, sizeof url, "http://%s", value);
    char *copy = strdup(url);
    as_status status = options_assign(reader, "url", copy, err);
    if (status == AS_OK)
        status = options_note(reader, "taken as a URL");
    return status;
}

static inline as_status sample_check_model(const char *text, struct as_error *err)
{
    return strchr(text, ' ') ? error_set(err, AS_E_USAGE, "holds a space") : AS_OK;
}

static const char *const SAMPLE_MODES[] = {"chat", "completion", NULL};
#define AT(field) .at = offsetof(struct sample, field)
static const struct opt SAMPLE_OPTIONS[] = {
    {.name = "url",
     .aliases = "base-url target",
     .type = OPT_STRING,
     AT(urls),
     .group = "Where",
     .sentence = "A server.",
     .value = "URL",
     .is_list = true,
     .secrecy = OPT_URL},
    {.name = "api-key",
     .type = OPT_STRING,
     AT(key),
     .group = "Where",
     .sentence = "The key.",
     .environment = "SAMPLE_KEY",
     .secrecy = OPT_SECRET,
     .check = sample_check_model},
    {.name = "header",
     .type = OPT_KEYVALUE,
     AT(headers),
     .group = "Where",
     .sentence = "A header.",
     .is_list = true,
     .takes_many = true,
     .secrecy = OPT_SECRET_VALUE},
    {.name = "verify", .type = OPT_FLAG, AT(verify), .group = "Where", .sentence = "Verify.", .initial = "true"},
    {.name = "model",
     .type = OPT_STRING,
     AT(model),
     .group = "What",
     .sentence = "The model.",
     .check = sample_check_model,
     .allowed = "a name without spaces",
     .example = "llama"},
    {.name = "mode",
     .type = OPT_ENUM,
     AT(mode),
     .group = "What",
     .sentence = "The API.",
     .choices = SAMPLE_MODES,
     .initial = "chat"},
    {.name = "streaming", .aliases = "stream", .type = OPT_FLAG, AT(streaming), .group = "What", .sentence = "Stream."},
    {.name = "extra-body", .type = OPT_JSON, AT(body), .group = "What", .sentence = "More members."},
    {.name = "num-requests",
     .aliases = "num-prompts",
     .type = OPT_INT,
     AT(count),
     .group = "Load",
     .sentence = "How many.",
     .min = 1,
     .max = 1000000,
     .conflicts = "stop-after-seconds",
     .initial_note = "max(4, concurrency × 4)"},
    {.name = "stop-after-seconds",
     .type = OPT_DURATION,
     AT(stop_ns),
     .group = "Load",
     .sentence = "When to stop.",
     .unit = "s",
     .positive = true},
    {.name = "think-time",
     .type = OPT_DURATION,
     AT(wait_ns),
     .group = "Load",
     .sentence = "A pause.",
     .max = 10,
     .initial = "50ms"},
    {.name = "request-rate",
     .type = OPT_DOUBLE,
     AT(rate),
     .group = "Load",
     .sentence = "Requests a second.",
     .positive = true,
     .allow_inf = true,
     .modes = SAMPLE_OPEN},
    {.name = "share",
     .type = OPT_DOUBLE,
     AT(share),
     .group = "Load",
     .sentence = "A share.",
     .min = -1,
     .max = 1,
     .initial = "0.5",
     .needs = "model"},
    {.name = "limit",
     .type = OPT_INT,
     AT(limit),
     .group = "Load",
     .sentence = "A limit.",
     .initial = "0",
     .modes = SAMPLE_CLOSED},
    {.name = "buffer",
     .type = OPT_SIZE,
     AT(buffer_bytes),
     .group = "Load",
     .sentence = "Bytes.",
     .initial = "64KiB",
     .min = 1,
     .max = 1e9},
    {.name = "goodput",
     .type = OPT_STRING,
     AT(slo),
     .group = "Load",
     .sentence = "Objectives.",
     .is_list = true,
     .takes_many = true},
    {.name = "ntp-server",
     .type = OPT_STRING,
     AT(servers),
     .group = "Load",
     .sentence = "Servers.",
     .is_list = true,
     .initial = "a.example b.example"},
    {.name = "prompts", .type = OPT_FILE, AT(prompts), .group = "What", .sentence = "Prompts."},
    {.name = "job", .type = OPT_FILE, AT(job), .group = "What", .sentence = "Job file."},
};
#undef AT
static const struct opt_foreign SAMPLE_FOREIGN[] = {
    {.name = "request-count", .kind = OPT_SAME, .target = "num-requests"},
    {.name = "host", .kind = OPT_MAPPED, .target = "url", .sentence = "A host.", .map = sample_map_host},
    {.name = "save-result", .kind = OPT_ALWAYS, .sentence = "results are always saved", .is_flag = true},
    {.name = "tokenizer", .kind = OPT_REFUSED, .target = "model", .sentence = "Token counts come from the server."},
    {.name = NULL},
};
static const struct opt_mode SAMPLE_MODE_LIST[] = {
    {SAMPLE_CLOSED, SAMPLE_LOOPS, "a closed loop", "no --request-rate"},
    {SAMPLE_OPEN, SAMPLE_LOOPS, "an open loop", "--request-rate R"},
};
static const struct opt_exit SAMPLE_EXITS[] = {{0, "all is well"}, {2, "the command line is wrong"}};
static const struct opt_table SAMPLE_TABLE = OPT_TABLE(SAMPLE_OPTIONS, 0);
static const struct opt_table *const SAMPLE_TABLES[] = {&SAMPLE_TABLE};
static const struct opt_command SAMPLE = {
    .name = "sample",
    .summary = "Try the options",
    .description = "First paragraph.\n\nSecond one.",
    .tables = SAMPLE_TABLES,
    .table_count = 1,
    .foreign = SAMPLE_FOREIGN,
    .modes = SAMPLE_MODE_LIST,
    .mode_count = ARRAY_COUNT(SAMPLE_MODE_LIST),
    .exits = SAMPLE_EXITS,
    .exit_count = 2,
    .examples = "  assay sample --model m\n",
};

struct reading {
    struct sample value;
    struct opt_parsed parsed;
    struct as_error err;
    struct arena arena;
    as_status status;
};

#define WORDS(...)       ((char *const[]){"sample", __VA_ARGS__, NULL})
#define NO_WORDS         ((char *const[]){"sample", NULL})
#define ENVIRONMENT(...) ((char *const[]){__VA_ARGS__, NULL})

static inline void read_all(struct reading *r, const struct opt_command *command, char *const *words,
                            char *const *environment)
{
    int argc = 0;
    while (words[argc])
        argc++;
    memset(r, 0, sizeof *r);
    arena_init(&r->arena, 0, 0);
    r->status =
        options_read(command, &(struct opt_input){argc, words, environment, &r->value, &r->arena}, &r->parsed, &r->err);
}

static inline void read_words(struct reading *r, char *const *words)
{
    read_all(r, &SAMPLE, words, NULL);
}

/* Reads and expects the refusal with exactly this sentence. */
static inline void expect_refused(char *const *words, char *const *environment, const char *sentence)
{
    struct reading r;
    read_all(&r, &SAMPLE, words, environment);
    assert_int_equal(r.status, AS_E_USAGE);
    assert_string_equal(r.err.message, sentence);
    arena_done(&r.arena);
}

#endif
