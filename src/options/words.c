/* SPDX-License-Identifier: Apache-2.0 */
#include "options/internal.h"

#define NAME_MAX_BYTES 64

bool next_word(const char **at, const char **ret_word, size_t *ret_len)
{
    if (!*at)
        return false;
    const char *word = *at + strspn(*at, " ");
    size_t len = strcspn(word, " ");
    if (len == 0)
        return false;
    *ret_word = word;
    *ret_len = len;
    *at = word + len;
    return true;
}

bool word_in(const char *words, const char *word, size_t len)
{
    const char *each;
    size_t each_len;
    while (next_word(&words, &each, &each_len))
        if (each_len == len && memcmp(each, word, len) == 0)
            return true;
    return false;
}

size_t command_option_count(const struct opt_command *command)
{
    size_t count = 0;
    for (size_t t = 0; t < command->table_count; t++)
        count += command->tables[t]->count;
    return count;
}

const struct opt *command_option(const struct opt_command *command, size_t i, size_t *ret_base)
{
    size_t t = 0;
    while (i >= command->tables[t]->count)
        i -= command->tables[t++]->count;
    if (ret_base)
        *ret_base = command->tables[t]->base;
    return &command->tables[t]->options[i];
}

const char *command_group(const struct opt_command *command, size_t index)
{
    size_t count = command_option_count(command);
    for (size_t i = 0; i < count; i++) {
        const char *group = command_option(command, i, NULL)->group;
        bool is_first = true;
        for (size_t j = 0; j < i && is_first; j++)
            is_first = strcmp(command_option(command, j, NULL)->group, group) != 0;
        if (is_first && index-- == 0)
            return group;
    }
    return NULL;
}

/* Edits (insert, delete, replace, swap of neighbours) between two names; names past the limit are far from everything.
 */
static size_t distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
    size_t rows[3][NAME_MAX_BYTES + 1];
    if (a_len > NAME_MAX_BYTES || b_len > NAME_MAX_BYTES)
        return NAME_MAX_BYTES;
    for (size_t j = 0; j <= b_len; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= a_len; i++) {
        size_t *now = rows[i % 3], *last = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];
        now[0] = i;
        for (size_t j = 1; j <= b_len; j++) {
            size_t best = last[j - 1] + (a[i - 1] != b[j - 1]);
            if (last[j] + 1 < best)
                best = last[j] + 1;
            if (now[j - 1] + 1 < best)
                best = now[j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && before[j - 2] + 1 < best)
                best = before[j - 2] + 1;
            now[j] = best;
        }
    }
    return rows[a_len % 3][b_len];
}

struct nearest {
    const char *wanted;
    size_t wanted_len;
    size_t best;
    const char *name;
};

static void nearest_try(struct nearest *nearest, const char *name, const char *word, size_t len)
{
    size_t far = distance(nearest->wanted, nearest->wanted_len, word, len);
    /* "request-timeout-s" for "request-timeout": a name that begins another one is near it */
    size_t shorter = len < nearest->wanted_len ? len : nearest->wanted_len;
    if (shorter >= 4 && memcmp(nearest->wanted, word, shorter) == 0 && far > 2)
        far = 2;
    if (far < nearest->best) {
        nearest->best = far;
        nearest->name = name;
    }
}

static struct nearest nearest_begin(const char *name)
{
    struct nearest nearest = {.wanted = name, .wanted_len = strlen(name)};
    nearest.best = 1 + (nearest.wanted_len >= 9 ? 3 : nearest.wanted_len >= 4 ? 2 : 1);
    return nearest;
}

const char *options_nearest_word(const char *const *words, const char *name)
{
    struct nearest nearest = nearest_begin(name);
    for (; *words; words++)
        nearest_try(&nearest, *words, *words, strlen(*words));
    return nearest.name;
}

const char *options_nearest(const struct opt_command *command, const char *name)
{
    struct nearest nearest = nearest_begin(name);
    size_t count = command_option_count(command);
    for (size_t i = 0; i < count; i++) {
        const struct opt *opt = command_option(command, i, NULL);
        nearest_try(&nearest, opt->name, opt->name, strlen(opt->name));
        const char *at = opt->aliases, *word;
        size_t len;
        while (next_word(&at, &word, &len))
            nearest_try(&nearest, opt->name, word, len);
    }
    for (const struct opt_foreign *foreign = command->foreign; foreign && foreign->name; foreign++) {
        const char *ours = foreign->target ? foreign->target : foreign->name;
        nearest_try(&nearest, ours, foreign->name, strlen(foreign->name));
    }
    if (!nearest.name && strncmp(name, "no-", 3) == 0)
        return options_nearest(command, name + 3);
    return nearest.name;
}

void environment_name(const char *option, struct strbuf *out)
{
    strbuf_adds(out, "ASSAY_");
    for (; *option; option++)
        strbuf_addc(out, *option == '-' || *option == '.'
                             ? '_'
                             : (char)(*option >= 'a' && *option <= 'z' ? *option - 32 : *option));
}

static bool ends_with(const char *text, const char *end)
{
    size_t len = strlen(text), end_len = strlen(end);
    return len >= end_len && strcmp(text + len - end_len, end) == 0;
}

void echo_name(const struct opt *opt, struct strbuf *out)
{
    for (const char *at = opt->name; *at; at++)
        strbuf_addc(out, *at == '-' || *at == '.' ? '_' : *at);
    if (opt->type == OPT_DURATION && !ends_with(opt->name, "-seconds"))
        strbuf_adds(out, "_s");
    if (opt->type == OPT_SIZE && !ends_with(opt->name, "-bytes"))
        strbuf_adds(out, "_bytes");
}
