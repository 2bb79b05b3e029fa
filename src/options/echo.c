/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "base/url.h"
#include "options/internal.h"

#include <math.h>

/* A file's path may hold an @. */
static void add_url(struct strbuf *out, const struct opt *opt, const char *text)
{
    if (opt->type == OPT_FILE && !strstr(text, "://"))
        strbuf_adds(out, text);
    else
        url_add_shown(out, text);
}

static void put_text(const struct opt *opt, const char *text, struct json_writer *writer)
{
    struct strbuf shown AS_AUTO_STRBUF;
    strbuf_init(&shown, 0);
    if (!text)
        json_put_null(writer);
    else if (opt->type == OPT_JSON)
        json_put_raw(writer, text, strlen(text));
    else if (opt->secrecy == OPT_SECRET_VALUE) {
        strbuf_addf(&shown, "%.*s: set", (int)strcspn(text, ":"), text);
        json_put_string(writer, strbuf_text(&shown));
    } else if (opt->secrecy == OPT_URL) {
        add_url(&shown, opt, text);
        json_put_string(writer, strbuf_text(&shown));
    } else {
        json_put_string(writer, text);
    }
}

static void put_number(const struct opt *opt, int64_t value, struct json_writer *writer)
{
    if (value == OPT_ABSENT)
        json_put_null(writer);
    else if (opt->type == OPT_DURATION)
        json_put_double(writer, (double)value / (double)NS_PER_S);
    else
        json_put_int(writer, value);
}

static bool is_set(const struct opt_state *state)
{
    if (state->option->is_list)
        return ((const struct opt_list *)state->field)->count > 0;
    return *(const char *const *)state->field != NULL;
}

void value_echo(const struct opt_state *state, struct json_writer *writer)
{
    const struct opt *opt = state->option;
    const void *field = state->field;
    if (opt->secrecy == OPT_SECRET) {
        json_put_string(writer, is_set(state) ? "set" : "not set");
        return;
    }
    if (opt->is_list) {
        const struct opt_list *list = field;
        json_open_array(writer);
        for (size_t i = 0; i < list->count; i++)
            put_text(opt, list->items[i], writer);
        json_close_array(writer);
        return;
    }
    switch (opt->type) {
    case OPT_FLAG:
        json_put_bool(writer, *(const bool *)field);
        return;
    case OPT_INT:
    case OPT_SIZE:
    case OPT_DURATION:
        put_number(opt, *(const int64_t *)field, writer);
        return;
    case OPT_DOUBLE:
        if (isinf(*(const double *)field))
            json_put_string(writer, "inf");
        else
            json_put_double(writer, *(const double *)field);
        return;
    case OPT_ENUM:
        json_put_string(writer, *(const int *)field < 0 ? NULL : opt->choices[*(const int *)field]);
        return;
    case OPT_STRING:
    case OPT_FILE:
    case OPT_JSON:
    case OPT_KEYVALUE:
        break;
    }
    put_text(opt, *(const char *const *)field, writer);
}

void options_echo(const struct opt_parsed *parsed, struct json_writer *writer)
{
    struct strbuf name AS_AUTO_STRBUF;
    strbuf_init(&name, 0);
    for (size_t i = 0; i < parsed->state_count; i++) {
        strbuf_reset(&name);
        echo_name(parsed->states[i].option, &name);
        json_key(writer, strbuf_text(&name));
        value_echo(&parsed->states[i], writer);
    }
    json_key(writer, "origins");
    json_open_object(writer);
    for (size_t i = 0; i < parsed->state_count; i++) {
        strbuf_reset(&name);
        echo_name(parsed->states[i].option, &name);
        json_member_string(writer, strbuf_text(&name), opt_origin_name(parsed->states[i].origin));
    }
    json_close_object(writer);
}

/* A word as a shell reads it. */
static void add_quoted(struct strbuf *out, const char *text)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+.,:/@%*";
    if (*text && strspn(text, plain) == strlen(text) && !strchr(text, '*')) {
        strbuf_adds(out, text);
        return;
    }
    strbuf_addc(out, '\'');
    for (; *text; text++) {
        if (*text == '\'')
            strbuf_adds(out, "'\\''");
        else
            strbuf_addc(out, *text);
    }
    strbuf_addc(out, '\'');
}

/* The option that an argument of the form --name or --name=value names, NULL when none does. */
static const struct opt *option_of_word(const struct opt_command *command, const char *word)
{
    if (strncmp(word, "--", 2) != 0)
        return NULL;
    const char *name = word + 2;
    size_t len = strcspn(name, "=");
    for (const struct opt_foreign *foreign = command->foreign; foreign && foreign->name; foreign++) {
        if (foreign->target && strlen(foreign->name) == len && memcmp(foreign->name, name, len) == 0) {
            name = foreign->target;
            len = strlen(name);
            break;
        }
    }
    size_t count = command_option_count(command);
    for (size_t i = 0; i < count; i++) {
        const struct opt *opt = command_option(command, i, NULL);
        if ((strlen(opt->name) == len && memcmp(opt->name, name, len) == 0) || word_in(opt->aliases, name, len))
            return opt;
    }
    return NULL;
}

static void add_shown(struct strbuf *out, const struct opt *opt, const char *value)
{
    if (opt->secrecy == OPT_SECRET)
        strbuf_adds(out, "***");
    else if (opt->secrecy == OPT_SECRET_VALUE)
        strbuf_addf(out, "%.*s: ***", (int)strcspn(value, ":="), value);
    else if (opt->secrecy == OPT_URL)
        add_url(out, opt, value);
    else
        strbuf_adds(out, value);
}

void options_command_line(const struct opt_command *command, int argc, char *const *argv, struct strbuf *out)
{
    struct strbuf shown AS_AUTO_STRBUF;
    strbuf_init(&shown, 0);
    strbuf_addf(out, "assay %s", command->name);
    const struct opt *opt = NULL; /* whose values the following words are */
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i], *equals = strchr(word, '=');
        strbuf_reset(&shown);
        const struct opt *named = option_of_word(command, word);
        if (named && equals) {
            strbuf_add(&shown, word, (size_t)(equals + 1 - word));
            add_shown(&shown, named, equals + 1);
            opt = NULL;
        } else if (named) {
            strbuf_adds(&shown, word);
            opt = named;
        } else if (opt && strncmp(word, "--", 2) != 0) {
            add_shown(&shown, opt, word);
            opt = opt->takes_many ? opt : NULL;
        } else {
            strbuf_adds(&shown, word);
            opt = NULL;
        }
        strbuf_addc(out, ' ');
        add_quoted(out, strbuf_text(&shown));
    }
}
