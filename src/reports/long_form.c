/* SPDX-License-Identifier: Apache-2.0 */
#include "reports/internal.h"

#include <stdio.h>
#include <string.h>

static const struct reports_letter *find_letter(const struct reports_letter *letters, char letter)
{
    for (; letters->letter; letters++)
        if (letters->letter == letter)
            return letters;
    return NULL;
}

/* The one long name that begins with these letters: an option's, of flags also "no-" and the name. */
static const struct opt *find_abbreviated(const struct opt_command *line, const char *text, size_t len,
                                          bool *ret_is_negated)
{
    const struct opt *found = NULL;
    for (size_t i = 0; line->table_count > 0 && i < line->tables[0]->count; i++) {
        const struct opt *option = &line->tables[0]->options[i];
        char negated[64];
        (void)snprintf(negated, sizeof negated, "no-%s", option->name);
        bool is_plain = strncmp(option->name, text, len) == 0,
             is_negated = option->type == OPT_FLAG && strncmp(negated, text, len) == 0;
        if (is_plain && strlen(option->name) == len) {
            *ret_is_negated = false;
            return option;
        }
        if (!is_plain && !is_negated)
            continue;
        if (found)
            return NULL;
        found = option;
        *ret_is_negated = is_negated;
    }
    return found;
}

struct rewriting {
    const struct opt_command *line;
    struct arena *arena;
    char **out;
    int count;
    int argc;
    char **argv;
    int at;
    bool last_counts; /* of an option that is given twice */
};

static void put_word(struct rewriting *words, char *word)
{
    if (word)
        words->out[words->count++] = word;
}

/* Where the last of an option's values counts: removes what was put for it before. */
static void drop_earlier(struct rewriting *words, const char *name)
{
    if (!words->last_counts)
        return;
    size_t len = strlen(name);
    int kept = 0;
    for (int i = 0; i < words->count; i++) {
        const char *word = words->out[i];
        const char *given = strncmp(word, "--no-", 5) == 0 ? word + 5 : strncmp(word, "--", 2) == 0 ? word + 2 : "";
        if (strncmp(given, name, len) != 0 || (given[len] != '=' && given[len] != '\0'))
            words->out[kept++] = words->out[i];
    }
    words->count = kept;
}

/* "--name=value", the value from the next word when `joined` is NULL. */
static void put_option(struct rewriting *words, const char *name, const char *joined)
{
    drop_earlier(words, name);
    if (!joined && words->at + 1 < words->argc)
        joined = words->argv[++words->at];
    put_word(words,
             joined ? arena_printf(words->arena, "--%s=%s", name, joined) : arena_printf(words->arena, "--%s", name));
}

/* One word of letters, "-fs" or "-wX". */
static void put_letters(struct rewriting *words, const struct reports_letter *letters, char *word)
{
    for (const char *at = word + 1; *at; at++) {
        const struct reports_letter *letter = find_letter(letters, *at);
        if (!letter) {
            put_word(words, at == word + 1 ? word : arena_printf(words->arena, "-%s", at));
            return;
        }
        if (letter->takes_value) {
            const char *joined = at[1] ? at + 1 : NULL;
            put_option(words, letter->name, joined && *joined == '=' ? joined + 1 : joined);
            return;
        }
        drop_earlier(words, letter->name);
        put_word(words, arena_printf(words->arena, "--%s", letter->name));
    }
}

static void put_long(struct rewriting *words, char *word)
{
    const char *equals = strchr(word, '=');
    size_t len = equals ? (size_t)(equals - word) - 2 : strlen(word) - 2;
    bool is_negated = false;
    const struct opt *option =
        strncmp("help", word + 2, len) == 0 ? NULL : find_abbreviated(words->line, word + 2, len, &is_negated);
    if (option && option->type == OPT_FLAG)
        drop_earlier(words, option->name);
    if (!option)
        put_word(words, word);
    else if (option->type == OPT_FLAG)
        put_word(words,
                 arena_printf(words->arena, "--%s%s%s", is_negated ? "no-" : "", option->name, equals ? equals : ""));
    else
        put_option(words, option->name, equals ? equals + 1 : NULL);
}

bool reports_long_form(struct reports_call *call, const struct opt_command *line, const struct reports_letter *letters,
                       struct arena *arena)
{
    /* Bundled flags may become a word each. */
    size_t room = (size_t)call->argc + 1;
    for (int i = 0; i < call->argc; i++)
        room += call->argv[i][0] == '-' ? strlen(call->argv[i]) : 0;
    struct rewriting words = {line,       arena, arena_calloc(arena, room, sizeof(char *)),        0, call->argc,
                              call->argv, 0,     strcmp(call->program, REPORTS_UPSTREAM_NAME) == 0};
    bool is_over = false;
    for (; words.out && words.at < call->argc; words.at++) {
        char *word = call->argv[words.at];
        is_over = is_over || strcmp(word, "--") == 0;
        if (words.at == 0 || is_over || word[0] != '-' || word[1] == '\0')
            put_word(&words, word);
        else if (word[1] == '-')
            put_long(&words, word);
        else
            put_letters(&words, letters, word);
    }
    call->argv = words.out;
    call->argc = words.count;
    return words.out != NULL;
}
