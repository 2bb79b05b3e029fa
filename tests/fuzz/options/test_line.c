/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any words as a command line of a command with every kind of option: read, or refused with a sentence; what was read
 * can be echoed, the echo holds no secret, and reading what command.txt would show gives the same again.
 */
#include "options/options.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define DEMAND(condition)                                                                                              \
    do {                                                                                                               \
        if (!(condition))                                                                                              \
            abort();                                                                                                   \
    } while (0)
#define WORDS_MAX 64
#define SECRET    "s3cr3t-value"

struct config {
    bool flag;
    int choice;
    int64_t number, size_bytes, time_ns;
    double real;
    const char *text, *body, *key;
    struct opt_list urls, headers;
};

static const char *const CHOICES[] = {"one", "two", NULL};
#define AT(field) .at = offsetof(struct config, field), .group = "G", .sentence = "S."
static const struct opt OPTIONS[] = {
    {.name = "flag", .type = OPT_FLAG, AT(flag)},
    {.name = "choice", .type = OPT_ENUM, AT(choice), .choices = CHOICES},
    {.name = "number", .aliases = "n", .type = OPT_INT, AT(number), .min = -5, .max = 5},
    {.name = "size", .type = OPT_SIZE, AT(size_bytes)},
    {.name = "time", .type = OPT_DURATION, AT(time_ns), .unit = "s"},
    {.name = "real", .type = OPT_DOUBLE, AT(real), .allow_inf = true},
    {.name = "text", .type = OPT_STRING, AT(text), .conflicts = "body"},
    {.name = "body", .type = OPT_JSON, AT(body)},
    {.name = "key", .type = OPT_STRING, AT(key), .secrecy = OPT_SECRET},
    {.name = "url", .type = OPT_STRING, AT(urls), .is_list = true, .secrecy = OPT_URL},
    {.name = "header",
     .type = OPT_KEYVALUE,
     AT(headers),
     .is_list = true,
     .takes_many = true,
     .secrecy = OPT_SECRET_VALUE},
};
static const struct opt_table TABLE = OPT_TABLE(OPTIONS, 0);
static const struct opt_table *const TABLES[] = {&TABLE};
static const struct opt_command COMMAND = {
    .name = "fuzz", .summary = "S", .operands = "WORD…", .tables = TABLES, .table_count = 1};

static void check_parsed(const struct opt_parsed *parsed)
{
    struct strbuf text AS_AUTO_STRBUF;
    struct json_writer writer;
    strbuf_init(&text, 0);
    json_writer_init(&writer, &text, 0);
    json_open_object(&writer);
    options_echo(parsed, &writer);
    json_close_object(&writer);
    DEMAND(json_writer_status(&writer) == AS_OK);
    DEMAND(json_cursor_validate(strbuf_text(&text), text.len, NULL));
    DEMAND(memchr(strbuf_text(&text), '\n', text.len) == NULL);
    DEMAND(strstr(strbuf_text(&text), SECRET) == NULL);
}

static void check_line(int argc, char *const *argv)
{
    struct strbuf line AS_AUTO_STRBUF;
    strbuf_init(&line, 0);
    options_command_line(&COMMAND, argc, argv, &line);
    DEMAND(strbuf_status(&line) == AS_OK);
    DEMAND(strstr(strbuf_text(&line), SECRET) == NULL);
}

/* Words end at newlines; two secrets come before them. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (memmem(data, size, SECRET, strlen(SECRET)))
        return 0; /* given where it is none */
    char *text = malloc(size + 1);
    char *argv[WORDS_MAX + 6] = {"fuzz", "--key", SECRET, "--header", ("X-Key: " SECRET), "--number=1"};
    int argc = 6;
    DEMAND(text != NULL);
    if (size)
        memcpy(text, data, size);
    text[size] = '\0';
    for (char *at = text; at < text + size && argc < WORDS_MAX; argc++) {
        argv[argc] = at;
        char *end = memchr(at, '\n', (size_t)(text + size - at));
        if (end)
            *end = '\0';
        at = end ? end + 1 : text + size;
    }
    struct config config;
    struct opt_parsed parsed;
    struct as_error err = {0};
    struct arena arena;
    arena_init(&arena, 0, 0);
    if (options_read(&COMMAND, &(struct opt_input){argc, argv, NULL, &config, &arena}, &parsed, &err) == AS_OK)
        check_parsed(&parsed);
    else
        DEMAND(err.message[0] && strstr(err.message, SECRET) == NULL);
    check_line(argc, argv);
    arena_done(&arena);
    free(text);
    return 0;
}
