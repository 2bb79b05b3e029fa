/* SPDX-License-Identifier: Apache-2.0 */
#include "options/internal.h"

/* Pieces of text that several documents use. */

size_t text_columns(const char *text, size_t len)
{
    size_t columns = 0;
    for (size_t i = 0; i < len; i++)
        columns += ((unsigned char)text[i] & 0xc0) != 0x80;
    return columns;
}

void add_wrapped(struct strbuf *out, const char *text, size_t column, size_t indent, size_t width)
{
    const char *at = text, *word;
    size_t len;
    bool is_first = true;
    while (next_word(&at, &word, &len)) {
        size_t columns = text_columns(word, len);
        if (!is_first && column + 1 + columns > width) {
            strbuf_addf(out, "\n%*s", (int)indent, "");
            column = indent;
        } else if (!is_first) {
            strbuf_addc(out, ' ');
            column++;
        }
        strbuf_add(out, word, len);
        column += columns;
        is_first = false;
    }
}

void add_value_name(struct strbuf *out, const struct opt *opt)
{
    static const char *const names[] = {
        [OPT_FLAG] = "", [OPT_STRING] = "TEXT",        [OPT_FILE] = "FILE",     [OPT_JSON] = "JSON",
        [OPT_INT] = "N", [OPT_SIZE] = "BYTES",         [OPT_DURATION] = "TIME", [OPT_DOUBLE] = "NUMBER",
        [OPT_ENUM] = "", [OPT_KEYVALUE] = "KEY=VALUE",
    };
    if (opt->value) {
        strbuf_adds(out, opt->value);
        return;
    }
    strbuf_adds(out, names[opt->type]);
    for (int i = 0; opt->type == OPT_ENUM && opt->choices[i]; i++)
        strbuf_addf(out, "%s%s", i ? "|" : "", opt->choices[i]);
}

static void add_default(struct strbuf *out, const struct opt *opt)
{
    const char *initial = opt->initial;
    bool is_plain_number = strspn(initial, "0123456789.") == strlen(initial);
    if (opt->type == OPT_STRING && !opt->is_list && (!*initial || strchr(initial, ' ')))
        strbuf_addf(out, "\"%s\"", initial);
    else
        strbuf_adds(out, initial);
    if (opt->type == OPT_DURATION && opt->unit && is_plain_number)
        strbuf_addf(out, " %s", opt->unit);
}

void add_default_sentence(struct strbuf *out, const struct opt *opt)
{
    const char *initial = opt->initial;
    if (opt->type == OPT_FLAG) {
        strbuf_addf(out, " Default: %s.", initial && strcmp(initial, "true") == 0 ? "on" : "off");
        return;
    }
    if (!initial && !opt->initial_note)
        return;
    strbuf_adds(out, " Default: ");
    if (initial)
        add_default(out, opt);
    if (opt->initial_note)
        strbuf_addf(out, "%s%s", initial ? "; " : "", opt->initial_note);
    strbuf_addc(out, '.');
}

static void add_names(struct strbuf *out, const char *before, const char *words)
{
    const char *word;
    size_t len;
    bool is_first = true;
    while (next_word(&words, &word, &len)) {
        strbuf_addf(out, "%s--%.*s", is_first ? before : ", ", (int)len, word);
        is_first = false;
    }
    if (!is_first)
        strbuf_addc(out, '.');
}

void add_conditions(struct strbuf *out, const struct opt_command *command, const struct opt *opt)
{
    for (size_t i = 0; i < command->mode_count; i++) {
        const struct opt_mode *mode = &command->modes[i];
        uint32_t wanted = opt->modes & mode->axis;
        if (wanted && wanted != mode->axis && (wanted & mode->bit))
            strbuf_addf(out, " Only in %s.", mode->name);
    }
    add_names(out, " Needs ", opt->needs);
    add_names(out, " Not with ", opt->conflicts);
}

void add_aliases(struct strbuf *out, const struct opt_command *command, const struct opt *opt)
{
    struct strbuf words AS_AUTO_STRBUF;
    strbuf_init(&words, 0);
    strbuf_adds(&words, opt->aliases ? opt->aliases : "");
    for (const struct opt_foreign *foreign = command->foreign; foreign && foreign->name; foreign++)
        if (foreign->kind == OPT_SAME && strcmp(foreign->target, opt->name) == 0)
            strbuf_addf(&words, " %s", foreign->name);
    add_names(out, " Also ", strbuf_text(&words));
}

void add_environment(struct strbuf *out, const struct opt *opt)
{
    environment_name(opt->name, out);
    if (opt->environment) {
        const char *at = opt->environment, *word;
        size_t len;
        while (next_word(&at, &word, &len))
            strbuf_addf(out, ", %.*s", (int)len, word);
    }
}
