/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_OPTIONS_OPTIONS_H
#define ASSAY_OPTIONS_OPTIONS_H

/*
 * A command declares its options once, as constant tables (struct opt); everything else is derived from them: reading
 * of the command line, the environment and a job file, --help, the man page, the options page, completion, the JSON
 * schema of job files and the echo of what is in effect.
 *
 * Values go into a struct of the command (`at` = offsetof the field). Precedence: command line, environment (ASSAY_ and
 * the name in capitals, then the names an option lists), job file (--job FILE: YAML mapping with the same names),
 * default. Everything a value points to lives in the arena given to options_read, or in argv and the environment.
 * Errors are AS_E_USAGE with one sentence that names the option, the value, what is allowed and an example; it never
 * holds a secret. Nothing here prints. Tables are constant, a struct opt_parsed belongs to one thread.
 */

#include "base/arena.h"
#include "base/json_write.h"
#include "base/status.h"
#include "base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Type of an option's field, and what the field holds when there is no value and no default. */
enum opt_type {
    OPT_FLAG,     /* bool; --x and --no-x; false */
    OPT_STRING,   /* const char *; NULL */
    OPT_FILE,     /* const char *, a path ("-" where the sentence says so); NULL */
    OPT_JSON,     /* const char *, the text of one JSON object, checked; NULL */
    OPT_INT,      /* int64_t; OPT_ABSENT */
    OPT_SIZE,     /* int64_t bytes ("512", "64KiB", "1MB"); OPT_ABSENT */
    OPT_DURATION, /* int64_t ns ("50ms", "1m30s"; a plain number where `unit` names one); OPT_ABSENT */
    OPT_DOUBLE,   /* double; NaN */
    OPT_ENUM,     /* int, index into `choices`; -1 */
    OPT_KEYVALUE  /* const char *, "K: V", given as "K: V" or "K=V"; NULL */
};
#define OPT_ABSENT INT64_MIN

/* Field of an option with is_list (string-like types only). */
struct opt_list {
    const char *const *items;
    size_t count;
};

enum opt_secrecy {
    OPT_PUBLIC,
    OPT_SECRET,       /* shown as "set" / "not set" */
    OPT_SECRET_VALUE, /* key: value, the key is shown */
    OPT_URL           /* user-info and keys in the query replaced when shown (base/url.h) */
};

/* One option. Only name, type, at, group and sentence are required. */
struct opt {
    const char *name;    /* "num-requests" */
    const char *aliases; /* further names with the same meaning, separated by spaces */
    enum opt_type type;
    size_t at;                /* offsetof the field in the table's struct */
    const char *group;        /* heading in help; options of one group stand together */
    const char *sentence;     /* what it does, unit included; ends with a full stop */
    const char *value;        /* placeholder, "N"; NULL = by type */
    const char *initial;      /* default as text (a list: words separated by spaces); NULL = no value */
    const char *initial_note; /* what happens without a value ("one a request"), or when the default is another one
                                 ("gamma where …") */
    const char *unit;         /* OPT_DURATION: unit of a plain number, "s"; others: shown in help */
    double min, max; /* inclusive; durations in seconds, sizes in bytes; both 0 = unbounded, max 0 = no upper */
    const char *const *choices; /* OPT_ENUM, NULL-terminated */
    const char *allowed;        /* what is allowed, when type and bounds do not say it */
    const char *example;        /* a value that is allowed; NULL = made from bounds and choices */
    const char *environment;    /* further environment names, separated by spaces */
    uint32_t modes;             /* bits of the modes in which it has an effect, 0 = always (options_check_modes) */
    const char *needs;          /* name of an option that must be given with it */
    const char *conflicts;      /* names of options that may not be given with it, separated by spaces */
    enum opt_secrecy secrecy;
    bool is_list;    /* may be repeated; each use adds a value */
    bool takes_many; /* a list that also takes the words after its value up to the next one with a dash */
    bool allow_inf;  /* OPT_DOUBLE: "inf" */
    bool positive;   /* the minimum itself is excluded */
    bool is_hidden;  /* works, but is documented with the aliases only */
    /* Further check of the text; fills err->message with why not ("is no host name"). */
    as_status (*check)(const char *text, struct as_error *err);
};

/* Options whose fields are in one struct, which lies `base` bytes into the command's. */
struct opt_table {
    const struct opt *options;
    size_t count;
    size_t base;
};
#define OPT_TABLE(array, offset)                                                                                       \
    {                                                                                                                  \
        (array), sizeof(array) / sizeof((array)[0]), (offset)                                                          \
    }

struct opt_reader;

/* A name other tools use. */
enum opt_foreign_kind {
    OPT_SAME,   /* another spelling of `target`, same meaning and values */
    OPT_MAPPED, /* `map` turns the value into ours */
    OPT_ALWAYS, /* always so here: accepted with a note on stderr (`sentence`) */
    OPT_REFUSED /* error with `sentence`, which says what is nearest */
};
struct opt_foreign {
    const char *name;
    enum opt_foreign_kind kind;
    const char *target;   /* option it ends up as (SAME, MAPPED) or the nearest one (REFUSED) */
    const char *sentence; /* documentation and note */
    bool is_flag;         /* takes no value */
    bool takes_many;
    as_status (*map)(struct opt_reader *reader, const char *value, struct as_error *err);
};

/* A state of a run on which the effect of options depends. Exactly one bit of each axis is active. */
struct opt_mode {
    uint32_t bit;
    uint32_t axis;       /* all bits of the axis, this one included */
    const char *name;    /* "an open loop" */
    const char *because; /* "--request-rate is given": how one gets it */
};

struct opt_exit {
    int code;
    const char *meaning;
};

/* A command line. */
struct opt_command {
    const char *name;        /* "llm" */
    const char *summary;     /* one line without full stop */
    const char *description; /* paragraphs separated by blank lines; NULL = none */
    const char *operands;    /* "FILE|DIR…"; NULL = none are taken */
    const struct opt_table *const *tables;
    size_t table_count;
    const struct opt_foreign *foreign; /* ends with a NULL name; NULL = none */
    const struct opt_mode *modes;
    size_t mode_count;
    const struct opt_exit *exits;
    size_t exit_count;
    const char *examples; /* lines, each with its end; NULL = none */
    bool is_own_program;       /* called by its name alone, without "assay" before it */
    bool is_command_line_only; /* options are not read from the environment or a job file */
};

enum opt_origin { OPT_FROM_DEFAULT, OPT_FROM_FILE, OPT_FROM_ENVIRONMENT, OPT_FROM_ARGV, OPT_FROM_RUN };
/* "default", "job file", "environment", "command line", "run". */
const char *opt_origin_name(enum opt_origin origin);

/* What became of one option. */
struct opt_state {
    const struct opt *option;
    void *field;
    enum opt_origin origin;
    const char *spelled; /* "--num-prompts", "ASSAY_SEED", "job.yaml:3: seed"; NULL = default */
    const char *text;    /* value as given (the last one of a list); never to be printed for secrets */
};

struct opt_parsed {
    const struct opt_command *command;
    struct arena *arena;
    struct opt_state *states; /* all tables in order */
    size_t state_count;
    const char *const *operands;
    size_t operand_count;
    const char *const *notes; /* sentences for stderr */
    size_t note_count;
    bool wants_help; /* -h or --help was given; nothing else was checked */
};

struct opt_input {
    int argc;
    char *const *argv;        /* argv[0] is skipped */
    char *const *environment; /* "NAME=value", NULL-terminated; NULL = none */
    void *target;             /* the command's struct, which the tables' fields are in */
    struct arena *arena;
};

/* Reads all sources into the target. An option named "job" (OPT_FILE) is the job file's. */
as_status options_read(const struct opt_command *command, const struct opt_input *input, struct opt_parsed *ret,
                       struct as_error *err) AS_NODISCARD;
/* For opt_foreign.map: gives `name` the value as if it had been written so. */
as_status options_assign(struct opt_reader *reader, const char *name, const char *value,
                         struct as_error *err) AS_NODISCARD;
/* For opt_foreign.map: a NUL-terminated copy that lives as long as the values; NULL without memory. */
char *options_copy(struct opt_reader *reader, const char *text, size_t len);
/* For opt_foreign.map: a sentence for stderr. */
as_status options_note(struct opt_reader *reader, const char *sentence) AS_NODISCARD;
/* Refuses the first option that was given and has no effect in the `active` modes. */
as_status options_check_modes(const struct opt_parsed *parsed, uint32_t active, struct as_error *err) AS_NODISCARD;
/* True when any source but the default gave it. The name must exist. */
bool options_is_given(const struct opt_parsed *parsed, const char *name);
const struct opt_state *options_state(const struct opt_parsed *parsed, const char *name);
/* Sets a value found out by the run itself (origin "run"); the text is parsed and checked like any other. */
as_status options_put(struct opt_parsed *parsed, const char *name, const char *text, struct as_error *err) AS_NODISCARD;

/* Nearest of the command's option and foreign names to `name`, NULL when none is near. */
const char *options_nearest(const struct opt_command *command, const char *name);
/* Nearest of some words, which end with NULL; NULL when none is near. */
const char *options_nearest_word(const char *const *words, const char *name);

/*
 * Members of an open object, one an option: names with "_" for "-", durations in seconds under a name ending in _s or
 * _seconds, sizes under one ending in _bytes, secrets as "set" or "not set"; then `origins`, name → origin.
 */
void options_echo(const struct opt_parsed *parsed, struct json_writer *writer);
/* "assay NAME" and the words after argv[0], quoted for a shell, secrets replaced by ***. */
void options_command_line(const struct opt_command *command, int argc, char *const *argv, struct strbuf *out);

/* Derived documents. `program` is "assay". */
void options_help(const struct opt_command *command, size_t width, struct strbuf *out);
void options_man(const struct opt_command *command, const char *version, struct strbuf *out);
void options_markdown(const struct opt_command *command, struct strbuf *out);
/* JSON Schema (2020-12) of a job file. */
void options_schema(const struct opt_command *command, struct strbuf *out);
/* A command and the words that may follow its name (end with NULL; NULL = none). */
struct opt_completed {
    const struct opt_command *command;
    const char *const *words;
};
/* A bash completion script for `assay` with these commands. */
void options_completion(const struct opt_completed *commands, size_t count, struct strbuf *out);

/*
 * Mistakes in the tables themselves, for tests: duplicate names, unknown names in needs and conflicts, defaults and
 * examples that do not parse, missing texts. Adds one line each to `out`.
 */
void options_check_tables(const struct opt_command *command, struct strbuf *out);

#endif
