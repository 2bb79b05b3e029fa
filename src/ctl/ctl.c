/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/shell.h"

#include <string.h>

#define MANY 32

/* A verb is one word, or two where `second` is given. */
struct verb {
    const char *first, *second;
    size_t min, max; /* words after it */
    const char *usage;
    as_status (*run)(struct shell *shell);
};

static const struct verb VERBS[] = {
    {"get", NULL, 1, MANY, "get KIND [KEY…]", verb_get},
    {"create", NULL, 1, MANY, "create KIND MEMBER=TEXT…", verb_create},
    {"set", NULL, 2, MANY, "set KIND KEY… MEMBER=TEXT…", verb_set},
    {"patch", NULL, 2, MANY, "patch KIND KEY… MEMBER=TEXT…", verb_set},
    {"retire", NULL, 2, MANY, "retire KIND KEY…", verb_retire},
    {"kinds", NULL, 0, 0, "kinds", verb_kinds},
    {"apply", NULL, 0, 0, "apply -f FILE", verb_apply},
    {"export", "run", 1, 1, "export run CODE", verb_export_run},
    {"check", NULL, 1, 1, "check WORKLOAD", verb_check},
    {"resolve", NULL, 1, 1, "resolve WORKLOAD", verb_resolve},
    {"run", "start", 1, 1, "run start WORKLOAD", verb_run_start},
    {"run", "retry", 1, 1, "run retry CODE", verb_run_again},
    {"run", "clone", 1, 1, "run clone CODE", verb_run_again},
    {"run", "cancel", 1, 1, "run cancel CODE", verb_run_cancel},
    {"run", "watch", 1, 1, "run watch CODE", verb_run_watch},
    {"trace", NULL, 1, 1, "trace JOB", verb_trace},
    {"results", "list", 0, 0, "results list", verb_results_list},
    {"results", "show", 1, 1, "results show JOB", verb_results_show},
    {"results", "compare", 2, 16, "results compare JOB JOB…", verb_results_compare},
    {"results", "export", 0, 1, "results export [JOB]", verb_results_export},
    {"prompts", "list", 0, 0, "prompts list", verb_prompts_list},
    {"prompts", "show", 1, 1, "prompts show CODE", verb_prompts_show},
    {"prompts", "upload", 2, 2, "prompts upload CODE FILE", verb_prompts_upload},
    {"prompts", "download", 1, 1, "prompts download CODE", verb_prompts_download},
    {"prompts", "store", 2, 2, "prompts store CODE FOLDER", verb_prompts_store},
    {"prompts", "restore", 2, 2, "prompts restore CODE FOLDER", verb_prompts_restore},
    {"events", NULL, 0, 0, "events", verb_events},
    {"token", "create", 1, MANY, "token create CODE user_name=NAME role=ROLE", verb_token_create},
    {"whoami", NULL, 0, 0, "whoami", verb_whoami},
    {"version", NULL, 0, 0, "version", verb_version},
};

/* What may stand for `words`: "run start WORKLOAD, run retry CODE, …" or all verbs' first words. */
static as_status refuse_words(const char *first, struct as_error *err)
{
    struct strbuf text AS_AUTO_STRBUF;
    const char *last = "";
    strbuf_init(&text, 0);
    for (size_t i = 0; first && i < sizeof VERBS / sizeof VERBS[0]; i++)
        if (strcmp(VERBS[i].first, first) == 0)
            strbuf_addf(&text, "%s%s", text.len ? ", " : "", VERBS[i].usage);
    if (text.len)
        return error_set(err, AS_E_USAGE, "the words are: %s", text.data);
    for (size_t i = 0; i < sizeof VERBS / sizeof VERBS[0]; i++) {
        if (strcmp(VERBS[i].first, last) != 0)
            strbuf_addf(&text, "%s%s", text.len ? ", " : "", VERBS[i].first);
        last = VERBS[i].first;
    }
    return error_set(err, AS_E_USAGE, "%s%.40s%sgive one of: %s; see assay ctl --help", first ? "\"" : "",
                     first ? first : "", first ? "\" is no verb: " : "", strbuf_text(&text));
}

static const struct verb *find_verb(const struct opt_parsed *parsed, size_t *ret_words)
{
    for (size_t i = 0; i < sizeof VERBS / sizeof VERBS[0]; i++) {
        const struct verb *verb = &VERBS[i];
        const size_t words = verb->second ? 2 : 1;
        if (parsed->operand_count < words || strcmp(verb->first, parsed->operands[0]) != 0)
            continue;
        if (verb->second && strcmp(verb->second, parsed->operands[1]) != 0)
            continue;
        const size_t more = parsed->operand_count - words;
        if (more < verb->min || more > verb->max)
            continue;
        *ret_words = words;
        return verb;
    }
    return NULL;
}

as_status ctl_run(const struct opt_parsed *parsed, const struct ctl_settings *settings, const struct ctl_output *output,
                  bool *ret_is_good, struct as_error *err)
{
    struct shell shell = {.settings = settings, .output = output, .arena = parsed->arena, .err = err, .is_good = true};
    size_t words = 0;
    const struct verb *verb = find_verb(parsed, &words);
    if (!verb)
        return refuse_words(parsed->operand_count ? parsed->operands[0] : NULL, err);
    /* Two-word verbs keep their second word: retry and clone are told apart by it. */
    shell.words = parsed->operands + 1;
    shell.count = parsed->operand_count - 1;
    as_status status = client_open(&shell.client, settings, parsed->arena, err);
    if (status == AS_OK)
        status = verb->run(&shell);
    client_close(&shell.client);
    if (status == AS_OK)
        *ret_is_good = shell.is_good;
    return status;
}
