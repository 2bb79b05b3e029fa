/* SPDX-License-Identifier: Apache-2.0 */
#include "workload/synthetic.h"
#include "base/rng.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LENGTH_MAX    16777216
#define INPUT_STREAM  UINT64_C(0x73796e2d696e7075) /* "syn-inpu" */
#define OUTPUT_STREAM UINT64_C(0x73796e2d6f757470) /* "syn-outp" */
#define WORDS_STREAM  UINT64_C(0x73796e2d776f7264) /* "syn-word" */

/* 256 short common words: one token each, with the space before it, in most vocabularies. */
static const char *const vocabulary[256] = {
    "the",    "of",      "and",     "to",      "in",        "is",     "that",   "for",     "it",      "as",
    "was",    "with",    "be",      "by",      "on",        "not",    "he",     "his",     "but",     "at",
    "are",    "this",    "have",    "from",    "or",        "had",    "an",     "they",    "which",   "one",
    "you",    "were",    "all",     "her",     "she",       "there",  "would",  "their",   "we",      "him",
    "been",   "has",     "when",    "who",     "will",      "no",     "more",   "if",      "out",     "so",
    "up",     "said",    "what",    "its",     "about",     "than",   "into",   "them",    "can",     "only",
    "other",  "time",    "new",     "some",    "could",     "these",  "two",    "may",     "first",   "then",
    "do",     "any",     "like",    "my",      "now",       "over",   "such",   "our",     "man",     "me",
    "even",   "most",    "made",    "after",   "also",      "well",   "did",    "many",    "before",  "must",
    "years",  "back",    "through", "much",    "where",     "your",   "way",    "down",    "should",  "because",
    "long",   "each",    "just",    "state",   "those",     "people", "too",    "how",     "little",  "good",
    "world",  "make",    "very",    "year",    "still",     "see",    "own",    "work",    "men",     "day",
    "get",    "here",    "between", "both",    "life",      "being",  "under",  "three",   "never",   "know",
    "same",   "last",    "another", "while",   "us",        "off",    "might",  "great",   "go",      "come",
    "since",  "against", "right",   "came",    "take",      "used",   "few",    "house",   "use",     "place",
    "during", "high",    "without", "again",   "home",      "around", "small",  "however", "found",   "part",
    "school", "once",    "general", "upon",    "every",     "left",   "war",    "does",    "got",     "number",
    "always", "put",     "away",    "water",   "something", "fact",   "though", "less",    "public",  "hand",
    "enough", "think",   "almost",  "head",    "yet",       "better", "set",    "told",    "nothing", "night",
    "end",    "why",     "find",    "asked",   "going",     "eyes",   "later",  "knew",    "point",   "next",
    "city",   "give",    "group",   "toward",  "young",     "days",   "let",    "room",    "side",    "social",
    "given",  "order",   "second",  "rather",  "per",       "face",   "best",   "often",   "early",   "white",
    "light",  "things",  "large",   "big",     "need",      "four",   "within", "felt",    "along",   "children",
    "saw",    "power",   "church",  "least",   "interest",  "case",   "family", "whole",   "area",    "seemed",
    "thing",  "name",    "mind",    "country", "want",      "door",   "done",   "open",    "line",    "among",
    "matter", "help",    "sense",   "words",   "music",     "turn",
};

static as_status length_error(struct as_error *err)
{
    return error_set(err, AS_E_INVALID,
                     "is no length in tokens of the form N or N±S with 1 ≤ N − S and N + S ≤ %d", LENGTH_MAX);
}

/* Decimal digits at *at; false when there are none or too many. */
static bool take_number(const char **at, int64_t *ret)
{
    int64_t value = 0;
    const char *start = *at;
    while (**at >= '0' && **at <= '9' && *at - start < 9)
        value = value * 10 + (*(*at)++ - '0');
    *ret = value;
    return *at > start;
}

as_status length_parse(const char *text, struct length_spec *ret, struct as_error *err)
{
    static const char *const signs[] = {"\xC2\xB1", "+-", "+/-", NULL};
    struct length_spec spec = {0};
    const char *at = text;
    if (!take_number(&at, &spec.mean))
        return length_error(err);
    for (int i = 0; signs[i]; i++) {
        if (strncmp(at, signs[i], strlen(signs[i])) != 0)
            continue;
        at += strlen(signs[i]);
        if (!take_number(&at, &spec.spread))
            return length_error(err);
        break;
    }
    if (*at || spec.mean - spec.spread < 1 || spec.mean + spec.spread > LENGTH_MAX)
        return length_error(err);
    *ret = spec;
    return AS_OK;
}

int64_t length_draw(const struct length_spec *spec, uint64_t seed, uint64_t stream, uint64_t index)
{
    if (spec->spread == 0)
        return spec->mean;
    struct rng rng;
    rng_init(&rng, rng_mix(seed, index), stream);
    return spec->mean - spec->spread + (int64_t)rng_below(&rng, (uint64_t)(2 * spec->spread + 1));
}

as_status token_ratio_fit(const struct token_probe *probes, size_t count, struct token_ratio *ret, struct as_error *err)
{
    double words = 0, tokens = 0, cross = 0, square = 0, cross_origin = 0, square_origin = 0;
    for (size_t i = 0; i < count; i++) {
        words += (double)probes[i].words / (double)count;
        tokens += (double)probes[i].prompt_tokens / (double)count;
    }
    for (size_t i = 0; i < count; i++) {
        double x = (double)probes[i].words, y = (double)probes[i].prompt_tokens;
        cross += (x - words) * (y - tokens);
        square += (x - words) * (x - words);
        cross_origin += x * y;
        square_origin += x * x;
    }
    if (!(square > 0))
        return error_set(err, AS_E_INVALID, "the calibration needs answers to prompts of two different lengths");
    struct token_ratio ratio = {cross / square, 0};
    ratio.overhead_tokens = tokens - ratio.tokens_per_word * words;
    if (ratio.overhead_tokens < 0)
        ratio = (struct token_ratio){cross_origin / square_origin, 0};
    if (!(ratio.tokens_per_word >= TOKENS_PER_WORD_MIN && ratio.tokens_per_word <= TOKENS_PER_WORD_MAX))
        return error_set(err, AS_E_INVALID,
                         "the server's prompt_tokens say %.2f tokens a word: it does not count what was sent",
                         ratio.tokens_per_word);
    *ret = ratio;
    return AS_OK;
}

int64_t token_ratio_words(const struct token_ratio *ratio, int64_t tokens)
{
    int64_t words = llround(((double)tokens - ratio->overhead_tokens) / ratio->tokens_per_word);
    return words < 1 ? 1 : words;
}

void synthetic_text(uint64_t seed, uint64_t index, int64_t words, struct strbuf *out)
{
    struct rng rng;
    rng_init(&rng, rng_mix(seed, index), WORDS_STREAM);
    for (int64_t i = 0; i < words; i++) {
        if (i > 0)
            strbuf_addc(out, ' ');
        strbuf_adds(out, vocabulary[rng_u64(&rng) >> 56]);
    }
}

static as_status make_one(const struct synthetic_spec *spec, size_t index, struct strbuf *text, struct prompts *prompts)
{
    struct prompt *prompt = &prompts->items[index];
    int64_t tokens = length_draw(&spec->input, spec->seed, INPUT_STREAM, index);
    int64_t words = token_ratio_words(&spec->ratio, tokens);
    strbuf_reset(text);
    synthetic_text(spec->seed, index, words, text);
    if (strbuf_status(text) != AS_OK)
        return strbuf_status(text);
    char *id = arena_printf(&prompts->arena, "synthetic-%zu", index);
    char *copy = arena_strndup(&prompts->arena, text->data, text->len);
    if (!id || !copy)
        return prompts->arena.used_bytes + text->len > PROMPTS_FILE_MAX_BYTES ? AS_E_LIMIT : AS_E_NOMEM;
    *prompt = (struct prompt){.text = copy, .len = text->len, .id = id, .words = words, .expected_output_tokens = -1};
    if (spec->output.mean > 0) {
        prompt->expected_output_tokens = length_draw(&spec->output, spec->seed, OUTPUT_STREAM, index);
        prompts->with_expected_tokens++;
    }
    return AS_OK;
}

static as_status make_all(const struct synthetic_spec *spec, struct prompts *prompts)
{
    AS_AUTO_STRBUF struct strbuf text;
    strbuf_init(&text, 0);
    for (size_t i = 0; i < spec->count; i++) {
        as_status status = make_one(spec, i, &text, prompts);
        if (status != AS_OK)
            return status;
        prompts->count = i + 1;
    }
    return prompts_sample_digest(prompts, (int64_t)prompts->count, prompts->digest);
}

as_status synthetic_prompts(const struct synthetic_spec *spec, struct prompts *ret, struct as_error *err)
{
    struct prompts prompts = {0};
    arena_init(&prompts.arena, 0, PROMPTS_FILE_MAX_BYTES);
    prompts.items = calloc(spec->count, sizeof *prompts.items);
    as_status status = prompts.items ? make_all(spec, &prompts) : AS_E_NOMEM;
    if (status != AS_OK) {
        prompts_done(&prompts);
        if (status == AS_E_LIMIT)
            return error_set(err, status,
                             "%zu prompts of this length take more than %zu bytes: make fewer, they are cycled",
                             spec->count, PROMPTS_FILE_MAX_BYTES);
        return error_set(err, status, "the synthetic prompts could not be made: %s", status_sentence(status));
    }
    *ret = prompts;
    return AS_OK;
}
