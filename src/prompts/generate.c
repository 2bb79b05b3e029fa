/* SPDX-License-Identifier: Apache-2.0 */
#include "prompts/generate.h"

#include "base/rng.h"
#include "prompts/grammar.h"
#include "workload/words.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define TEXT_STREAM   UINT64_C(0x6c69627261727931) /* "library1" */
#define INPUT_STREAM  UINT64_C(0x6c69627261727932)
#define OUTPUT_STREAM UINT64_C(0x6c69627261727933)
#define LAST_TRIES    48 /* sentences tried for the last place */
#define RECORD_WORDS  60 /* of a long context's record, about */

const char *generate_kind_name(enum generate_kind kind)
{
#define GENERATE_KIND_NAME(name, text) text,
    static const char *const names[] = {GENERATE_KIND_MAP(GENERATE_KIND_NAME)};
#undef GENERATE_KIND_NAME
    return names[kind];
}

bool generate_kind_parse(const char *name, enum generate_kind *ret)
{
    if (strcmp(name, "long-context") == 0)
        name = "long_context";
    for (int i = 0; i < GENERATE_KINDS; i++) {
        if (strcmp(generate_kind_name((enum generate_kind)i), name) != 0)
            continue;
        *ret = (enum generate_kind)i;
        return true;
    }
    return false;
}

/* A text being made towards a number of words. */
struct making {
    struct rng rng;
    struct strbuf text, piece, best;
    int64_t words, wanted;
};

static int64_t words_in(const struct strbuf *buf)
{
    return words_count(strbuf_text(buf), buf->len);
}

static void add_piece(struct making *making, const struct strbuf *piece, const char *between)
{
    if (making->text.len > 0)
        strbuf_adds(&making->text, between);
    strbuf_add(&making->text, strbuf_text(piece), piece->len);
    making->words += words_in(piece);
}

static void make_piece(struct making *making, const struct grammar *grammar, const char *const *lines)
{
    strbuf_reset(&making->piece);
    grammar_add(grammar, lines, &making->rng, &making->piece);
}

/* Of several sentences the one that comes nearest to `room` words, unless none comes nearer than leaving it out. */
static void add_last(struct making *making, const struct grammar *grammar, int64_t room)
{
    int64_t least = room;
    bool is_found = false;
    for (int i = 0; i < LAST_TRIES; i++) {
        make_piece(making, grammar, grammar->sentences);
        int64_t words = words_in(&making->piece), off = words > room ? words - room : room - words;
        if (off >= least)
            continue;
        least = off;
        is_found = true;
        strbuf_reset(&making->best);
        strbuf_add(&making->best, making->piece.data, making->piece.len);
    }
    if (is_found)
        add_piece(making, &making->best, grammar->between);
}

/* Sentences until `wanted` words are there. */
static void add_sentences(struct making *making, const struct grammar *grammar, int64_t wanted)
{
    for (;;) {
        int64_t room = wanted - making->words;
        make_piece(making, grammar, grammar->sentences);
        if (strbuf_status(&making->text) != AS_OK || words_in(&making->piece) * 2 > room) {
            add_last(making, grammar, room);
            return;
        }
        add_piece(making, &making->piece, grammar->between);
    }
}

static void make_text(struct making *making, const struct grammar *grammar)
{
    struct strbuf question AS_AUTO_STRBUF;
    strbuf_init(&question, 0);
    grammar_add(grammar, grammar->questions, &making->rng, &question);
    make_piece(making, grammar, grammar->openers);
    int64_t asked = words_in(&question);
    if (words_in(&making->piece) + asked <= making->wanted)
        add_piece(making, &making->piece, grammar->between);
    add_sentences(making, grammar, making->wanted - asked);
    add_piece(making, &question, grammar->between);
}

static void make_long(struct making *making)
{
    static const struct grammar *const grammars[] = {&grammar_fixed, &grammar_medical, &grammar_legal, &grammar_code};
    static const char opener[] = "Below are numbered records from different sources. Read all of them.";
    int64_t records = making->wanted / RECORD_WORDS > 0 ? making->wanted / RECORD_WORDS : 1;
    int64_t asked = 1 + (int64_t)rng_below(&making->rng, (uint64_t)records);
    struct strbuf question AS_AUTO_STRBUF;
    strbuf_init(&question, 0);
    strbuf_addf(&question, "\nWhat does record %" PRId64 " say? Quote its first sentence and tell which kind of source it is.", asked);
    strbuf_adds(&making->text, opener);
    making->words = words_in(&making->text);
    int64_t room = making->wanted - words_in(&question);
    for (int64_t i = 1; i <= records; i++) {
        const struct grammar *grammar = grammars[rng_below(&making->rng, 4)];
        strbuf_reset(&making->piece);
        strbuf_addf(&making->piece, "\nRecord %" PRId64 ".\n", i);
        add_piece(making, &making->piece, "");
        add_sentences(making, grammar, making->words + (room - making->words) / (records - i + 1));
        strbuf_addc(&making->text, '\n');
    }
    add_piece(making, &question, "");
}

static void make_one(const struct generate_spec *spec, int64_t index, struct making *making)
{
    static const struct grammar *const grammars[GENERATE_KINDS] = {
        [GENERATE_FIXED] = &grammar_fixed,
        [GENERATE_MEDICAL] = &grammar_medical,
        [GENERATE_LEGAL] = &grammar_legal,
        [GENERATE_CODE] = &grammar_code,
    };
    rng_init(&making->rng, rng_mix(spec->seed, (uint64_t)index), TEXT_STREAM + (uint64_t)spec->kind);
    strbuf_reset(&making->text);
    making->words = 0;
    if (spec->kind == GENERATE_TEXT2IMAGE) {
        grammar_add(&grammar_text2image, grammar_text2image.openers, &making->rng, &making->text);
        return;
    }
    const struct length_spec *length = &spec->isl[(size_t)index % spec->isl_count];
    making->wanted = token_ratio_words(&spec->ratio, length_draw(length, spec->seed, INPUT_STREAM, (uint64_t)index));
    if (spec->kind == GENERATE_RANDOM)
        synthetic_text(spec->seed, (uint64_t)index, making->wanted, &making->text);
    else if (spec->kind == GENERATE_LONG_CONTEXT)
        make_long(making);
    else
        make_text(making, grammars[spec->kind]);
}

static as_status make_all(const struct generate_spec *spec, struct making *making, struct library *library)
{
    for (int64_t i = 0; i < spec->count; i++) {
        char id[PROMPTS_ID_BYTES];
        make_one(spec, i, making);
        as_status status = strbuf_status(&making->text);
        int len = snprintf(id, sizeof id, "%s-%" PRId64, generate_kind_name(spec->kind), i + 1);
        struct library_row row = {strbuf_text(&making->text), making->text.len, id, (size_t)len, -1};
        if (spec->osl.mean > 0)
            row.expected_output_tokens = length_draw(&spec->osl, spec->seed, OUTPUT_STREAM, (uint64_t)i);
        if (status == AS_OK)
            status = library_add(library, &row);
        if (status != AS_OK)
            return status;
    }
    return library_finish(library);
}

as_status generate_library(const struct generate_spec *spec, struct library *library, struct as_error *err)
{
    struct making making = {.words = 0};
    strbuf_init(&making.text, PROMPTS_LINE_MAX_BYTES);
    strbuf_init(&making.piece, 0);
    strbuf_init(&making.best, 0);
    as_status status = make_all(spec, &making, library);
    strbuf_done(&making.text);
    strbuf_done(&making.piece);
    strbuf_done(&making.best);
    if (status == AS_E_LIMIT)
        return error_set(err, status, "%" PRId64 " prompts of this length take more than %zu MiB: make fewer, they are cycled",
                         spec->count, PROMPTS_FILE_MAX_BYTES / 1024 / 1024);
    return status == AS_OK ? AS_OK : error_set(err, status, "the library cannot be made: %s", status_sentence(status));
}

/* ---- what ships ---- */

#define USUAL_LENGTHS                                                                                                  \
    .isl = {{128, 0}, {256, 0}, {512, 0}, {1024, 0}, {2048, 0}}, .isl_count = 5, .ratio = {1.3, 0}
#define LONG_LENGTHS                                                                                                   \
    .isl = {{4096, 0}, {8192, 0}, {16384, 0}, {32768, 0}}, .isl_count = 4, .ratio = {1.3, 0}
#define LIBRARY(kind_name, title)                                                                                      \
    "prompt_library", (title),                                                                                          \
    {                                                                                                                  \
        .kind = (kind_name), .seed = 1, .count = 320, USUAL_LENGTHS                                                      \
    }

const struct shipped_source shipped_sources[] = {
    {"assay-random-v1", LIBRARY(GENERATE_RANDOM, "Common words without sense, for raw capacity")},
    {"assay-fixed-v1", LIBRARY(GENERATE_FIXED, "Everyday tasks of many kinds, the same in every run")},
    {"assay-medical-v1", LIBRARY(GENERATE_MEDICAL, "Notes of invented patients and questions about them")},
    {"assay-legal-v1", LIBRARY(GENERATE_LEGAL, "Clauses of invented contracts and questions about them")},
    {"assay-code-v1", LIBRARY(GENERATE_CODE, "Functions of an invented program and tasks about them")},
    {"assay-long-context-v1", "prompt_library", "Long lists of records with a question about one of them",
     {.kind = GENERATE_LONG_CONTEXT, .seed = 1, .count = 32, LONG_LENGTHS}},
    {"text2image-multiprompt-1024", "metrumbench_imagegen_snapshot", "1,024 prompts for image generation",
     {.kind = GENERATE_TEXT2IMAGE, .seed = 1, .count = 1024}},
};
const size_t shipped_source_count = sizeof shipped_sources / sizeof shipped_sources[0];

const struct shipped_source *shipped_find(const char *code)
{
    for (size_t i = 0; i < shipped_source_count; i++)
        if (strcmp(shipped_sources[i].code, code) == 0)
            return &shipped_sources[i];
    return NULL;
}
