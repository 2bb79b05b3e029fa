/* SPDX-License-Identifier: Apache-2.0 */
#include "prompts/grammar.h"

#include <inttypes.h>
#include <string.h>

static size_t count_words(const char *list)
{
    size_t count = 1;
    for (; *list; list++)
        count += *list == '|';
    return count;
}

/* The word of that number of "one|other"; its length in *ret_len. */
static const char *word_at(const char *list, size_t number, size_t *ret_len)
{
    for (; number > 0; number--)
        list = strchr(list, '|') + 1;
    *ret_len = strcspn(list, "|");
    return list;
}

/* A slot's name: '#', or a letter that has words. */
static bool is_slot(const struct grammar *grammar, const char *at, const char *end)
{
    if (end - at < 3 || at[0] != '{' || at[2] != '}')
        return false;
    return at[1] == '#' || (at[1] >= 'a' && at[1] <= 'z' && grammar->slots[at[1] - 'a']);
}

/* A stretch of text that is being filled in. */
struct stretch {
    const char *at, *end;
};

static void fill(const struct grammar *grammar, const char *text, size_t len, struct rng *rng, struct strbuf *out)
{
    struct stretch stack[GRAMMAR_DEPTH_MAX + 1] = {{text, text + len}};
    size_t depth = 1;
    while (depth > 0) {
        struct stretch *top = &stack[depth - 1];
        if (top->at == top->end) {
            depth--;
            continue;
        }
        if (depth > GRAMMAR_DEPTH_MAX || !is_slot(grammar, top->at, top->end)) {
            strbuf_addc(out, *top->at++);
            continue;
        }
        char name = top->at[1];
        top->at += 3;
        if (name == '#') {
            strbuf_addf(out, "%" PRIu64, 2 + rng_below(rng, 98));
            continue;
        }
        size_t word_len;
        const char *list = grammar->slots[name - 'a'];
        const char *word = word_at(list, (size_t)rng_below(rng, count_words(list)), &word_len);
        stack[depth++] = (struct stretch){word, word + word_len};
    }
}

void grammar_add(const struct grammar *grammar, const char *const *lines, struct rng *rng, struct strbuf *out)
{
    size_t count = 0;
    while (lines[count])
        count++;
    const char *line = lines[rng_below(rng, count)];
    size_t start = out->len;
    fill(grammar, line, strlen(line), rng, out);
    if (*grammar->between && out->len > start && out->data[start] >= 'a' && out->data[start] <= 'z')
        out->data[start] = (char)(out->data[start] - 'a' + 'A');
}
