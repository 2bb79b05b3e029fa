/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_RECIPE_COMMAND_H
#define ASSAY_RECIPE_COMMAND_H

/*
 * Command templates: how to start a server, how to run a tool. A template is a list of words (never a string for a
 * shell); words hold placeholders {name}, which are filled from values that each know where they come from. Format and
 * worked examples: docs/guide/command-templates.md.
 *
 *   "word"                              one word; {name} anywhere in it is replaced, {{ and }} are braces
 *   "{name}"                            a list value gives one word an item (none when it is empty)
 *   ["--flag", "{name}"]                optional: left out whole when one of its placeholders has no value
 *   {"when": "name", "argv": […]}       only when the value is there and is not "", "0" or "false"
 *   {"unless": "name", "argv": […]}     the reverse
 *   {"each": "name", "argv": […]}       once for every item of a list value, which is {item} inside
 *
 * Text that came from a value is never looked at for placeholders again, except for the words of an engine-argument
 * set, in which {name} is replaced once and all other braces stay ({"json": 1} does). A placeholder without a value is
 * AS_E_INVALID with its name, the word, and where its value would come from. Secrets are names of environment variables
 * (`secrets` of a template) that the worker passes on; a value or environment entry with a secret's name is refused.
 * A word that comes out with a dash in front which the template does not have is refused: it would be read as an
 * option. Pure; all memory is in the arenas given.
 */

#include "base/json_write.h"
#include "recipe/data.h"
#include "recipe/engine_args.h"

#define RECIPE_WORDS_MAX      1024  /* of a resolved command */
#define RECIPE_WORD_BYTES_MAX 65536 /* one word */

/* Where a value comes from; of two values with one name the first layer here wins. */
enum recipe_layer {
    RECIPE_FROM_PLAN,     /* computed: devices, ports, endpoints, paths of the job */
    RECIPE_FROM_RUN,      /* run settings */
    RECIPE_FROM_SCENARIO, /* load shape */
    RECIPE_FROM_WORKLOAD, /* model, framework, prompt source */
    RECIPE_FROM_SERVER,   /* the host: addresses, GPU class */
    RECIPE_FROM_SET,      /* engine arguments */
    RECIPE_FROM_TEMPLATE, /* the template's own defaults */
    RECIPE_LAYER_COUNT
};
/* "plan", "run", "scenario", "workload", "server", "set", "template". */
const char *recipe_layer_name(enum recipe_layer layer);

enum recipe_kind { RECIPE_TEXT, RECIPE_NUMBER, RECIPE_FLAG, RECIPE_LIST };

struct recipe_value {
    const char *name; /* [a-z][a-z0-9_]* */
    enum recipe_kind kind;
    const char *text;        /* all but lists; NULL = no value */
    struct recipe_list list; /* RECIPE_LIST */
    enum recipe_layer layer;
    const char *origin; /* which one: "scenario isl512-c8"; NULL = the layer's name */
};

struct recipe_values {
    const struct recipe_value *items;
    size_t count;
};

/* A placeholder that Assay knows: its name, and who gives it. */
struct recipe_placeholder {
    const char *name;
    enum recipe_kind kind;
    enum recipe_layer layer;
    const char *sentence; /* "tokens of a prompt: isl of the scenario" */
};
const struct recipe_placeholder *recipe_placeholders(size_t *ret_count);
const struct recipe_placeholder *recipe_placeholder(const char *name);

enum recipe_template_kind { RECIPE_SERVER, RECIPE_TOOL };

struct recipe_template {
    const char *code; /* "vllm-process" */
    enum recipe_template_kind kind;
    const char *framework_code; /* servers; NULL = tool */
    const char *tool;           /* tools: which; servers: only for this tool, NULL = text, vision and speech */
    const char *runtime;        /* "process" or "container"; "process" for tools */
    const char *since;          /* framework versions it is for, see recipe_version_within */
    const char *until;
    const char *results;            /* tools: format of what it writes: "assay", "vllm", "guidellm", "inference-perf" */
    const struct json_value *argv;  /* array as above */
    const struct json_value *env;   /* object name → word, NULL = none */
    const struct json_value *files; /* object name → any JSON, whose strings are words; NULL = none */
    struct recipe_list secrets;     /* names of environment variables */
    struct recipe_list refuses;     /* values it cannot honour: a job with one that is not "", 0 or false is refused */
    struct recipe_values defaults;  /* layer RECIPE_FROM_TEMPLATE */
    const char *help;
};

struct recipe_templates {
    const struct recipe_template *items;
    size_t count;
};

/* Reads data/recipes/templates.json or one of the same form; each template is checked. */
as_status recipe_read_templates(const struct recipe_text *input, struct arena *arena, struct recipe_templates *ret,
                                struct as_error *err) AS_NODISCARD;
/* One template from its JSON object (a stored or posted one); `name` is what errors call it. */
as_status recipe_read_template(const struct json_value *object, const char *name, struct arena *arena,
                               struct recipe_template *ret, struct as_error *err) AS_NODISCARD;
/* The template's canonical JSON (RFC 8785), for storing and digests. */
as_status recipe_template_canonical(const struct recipe_template *item, struct strbuf *out) AS_NODISCARD;
const struct recipe_template *recipe_template(const struct recipe_templates *templates, const char *code);

/* Which template a job uses when none is named: the last one that fits. */
struct recipe_template_query {
    enum recipe_template_kind kind;
    const char *framework_code; /* servers */
    const char *version;        /* servers, may be NULL */
    const char *tool;
    const char *runtime; /* NULL = "process" */
};
const struct recipe_template *recipe_template_for(const struct recipe_templates *templates,
                                                  const struct recipe_template_query *query);

/* One value that a command used. */
struct recipe_binding {
    const char *name;
    const char *text; /* lists: JSON array */
    enum recipe_layer layer;
    const char *origin;
};

struct recipe_command {
    const char *template_code;
    struct recipe_list argv;
    struct recipe_pairs env;    /* sorted by name; the set's and the plan's among them */
    struct recipe_list secrets; /* names of variables the worker passes on */
    struct recipe_pairs files;  /* to be written into the job's folder before the start: name → text (JSON) */
    const struct recipe_binding *bindings; /* sorted by name */
    size_t binding_count;
};

struct recipe_job {
    const struct recipe_template *item;
    struct recipe_values values;
    const struct recipe_framework *framework; /* servers: renders `set`; NULL for tools */
    const struct recipe_set *set;             /* servers: gives {engine_args} and its environment */
    struct recipe_pairs env; /* further environment: the replica plan's; goes before the template's and the set's */
};

/* Fills a template. {engine_args}, {env} (NAME=value), {env_names} and {secrets} are lists made here. */
as_status recipe_resolve(const struct recipe_job *job, struct arena *arena, struct recipe_command *ret,
                         struct as_error *err) AS_NODISCARD;
/* The placeholders that have no value, for readiness and editors: all of them, not the first. */
as_status recipe_unresolved(const struct recipe_job *job, struct arena *arena, struct recipe_list *ret,
                            struct as_error *err) AS_NODISCARD;

/* An object: template, argv, env, secrets, files, bindings. */
void recipe_command_json(const struct recipe_command *command, struct json_writer *writer);
/* Quoted for a POSIX shell, environment before it; for people to read and paste. Nothing here runs it. */
void recipe_command_text(const struct recipe_command *command, struct strbuf *out);
/* SHA-256 over canonical JSON of argv, env, secrets and files: what the worker checks before it starts anything. */
as_status recipe_command_digest(const struct recipe_command *command, char ret[RECIPE_DIGEST_BYTES]) AS_NODISCARD;

/* Requests of an image-generation job: max(4, concurrency × 4). */
int64_t recipe_imagegen_requests(int64_t concurrency);

#endif
