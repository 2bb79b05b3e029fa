/* SPDX-License-Identifier: Apache-2.0 */
#include "accuracy/normalize.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

static const char *const NAMES[] = {
#define NORMALIZER_NAME(name, text, what) text,
    NORMALIZER_MAP(NORMALIZER_NAME)
#undef NORMALIZER_NAME
};

const char *normalizer_name(enum normalizer normalizer)
{
    return NAMES[normalizer];
}

bool normalizer_from_name(const char *name, enum normalizer *ret)
{
    for (size_t i = 0; i < NORMALIZER_COUNT; i++) {
        if (strcmp(NAMES[i], name) == 0) {
            *ret = (enum normalizer)i;
            return true;
        }
    }
    return false;
}

/* The next code point, U+FFFD for an invalid byte; *at moves on. */
static utf8proc_int32_t next_code_point(const char **at, const char *end)
{
    utf8proc_int32_t c;
    utf8proc_ssize_t n = utf8proc_iterate((const utf8proc_uint8_t *)*at, (utf8proc_ssize_t)(end - *at), &c);
    if (n <= 0) {
        (*at)++;
        return 0xfffd;
    }
    *at += n;
    return c;
}

static bool is_space(utf8proc_int32_t c)
{
    if ((c >= 9 && c <= 13) || c == 0x85)
        return true;
    utf8proc_category_t category = utf8proc_category(c);
    return category == UTF8PROC_CATEGORY_ZS || category == UTF8PROC_CATEGORY_ZL || category == UTF8PROC_CATEGORY_ZP;
}

/* Joins words by single spaces. */
struct joiner {
    struct strbuf *out;
    bool pending_space, any;
};

static void put_code_point(struct joiner *joiner, utf8proc_int32_t c)
{
    utf8proc_uint8_t bytes[4];
    if (is_space(c)) {
        joiner->pending_space = joiner->any;
        return;
    }
    if (joiner->pending_space)
        strbuf_addc(joiner->out, ' ');
    joiner->pending_space = false;
    joiner->any = true;
    utf8proc_ssize_t n = utf8proc_encode_char(c, bytes);
    strbuf_add(joiner->out, bytes, (size_t)n);
}

/* Marks, symbols and punctuation, as the categories say. */
static bool is_decoration(utf8proc_int32_t c)
{
    utf8proc_category_t k = utf8proc_category(c);
    return (k >= UTF8PROC_CATEGORY_MN && k <= UTF8PROC_CATEGORY_ME) || (k >= UTF8PROC_CATEGORY_PC && k <= UTF8PROC_CATEGORY_SO);
}

static as_status normalize_plain(const char *text, size_t len, bool lower, struct strbuf *ret)
{
    struct joiner joiner = {.out = ret};
    for (const char *at = text, *end = text + len; at < end;) {
        utf8proc_int32_t c = next_code_point(&at, end);
        put_code_point(&joiner, lower ? utf8proc_tolower(c) : c);
    }
    return strbuf_status(ret);
}

/* NFKC of valid UTF-8; malloc'ed. */
static as_status compose(const struct strbuf *in, char **ret, size_t *ret_len)
{
    utf8proc_uint8_t *out = NULL;
    utf8proc_ssize_t n = utf8proc_map((const utf8proc_uint8_t *)strbuf_text(in), (utf8proc_ssize_t)in->len, &out,
                                      UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_COMPAT);
    if (n < 0)
        return AS_E_NOMEM;
    *ret = (char *)out;
    *ret_len = (size_t)n;
    return AS_OK;
}

static char closing_bracket(utf8proc_int32_t c)
{
    return c == '[' ? ']' : c == '(' ? ')' : c == '<' ? '>' : '\0';
}

static as_status normalize_basic(const char *text, size_t len, struct strbuf *ret)
{
    AS_AUTO_STRBUF struct strbuf lower;
    strbuf_init(&lower, 0);
    char *composed;
    size_t composed_len;
    as_status status = normalize_plain(text, len, true, &lower);
    if (status == AS_OK)
        status = compose(&lower, &composed, &composed_len);
    if (status != AS_OK)
        return status;
    struct joiner joiner = {.out = ret};
    const char *at = composed, *end = composed + composed_len;
    while (at < end) {
        utf8proc_int32_t c = next_code_point(&at, end);
        char closing = closing_bracket(c);
        const char *close = closing ? memchr(at, closing, (size_t)(end - at)) : NULL;
        if (close)
            at = close + 1;
        put_code_point(&joiner, close || is_decoration(c) ? ' ' : utf8proc_tolower(c));
    }
    free(composed);
    return strbuf_status(ret);
}

struct word_pair {
    const char *from, *to;
};

/* Whole words, lower case, apostrophe ' */
static const struct word_pair WORDS[] = {
    {"won't", "will not"}, {"can't", "can not"},   {"cannot", "can not"},   {"let's", "let us"},       {"ain't", "aint"},
    {"y'all", "you all"},  {"wanna", "want to"},   {"gonna", "going to"},   {"gotta", "got to"},       {"i'ma", "i am going to"},
    {"mr", "mister"},      {"mr.", "mister"},      {"mrs", "missus"},       {"mrs.", "missus"},        {"dr", "doctor"},
    {"dr.", "doctor"},     {"st.", "saint"},       {"prof.", "professor"},  {"prof", "professor"},     {"capt.", "captain"},
    {"gov.", "governor"},  {"gen.", "general"},    {"sen.", "senator"},     {"rep.", "representative"}, {"rev.", "reverend"},
    {"hon.", "honorable"}, {"jr.", "junior"},      {"sr.", "senior"},       {"esq.", "esquire"},       {"vs.", "versus"},
    {"uh", ""},            {"um", ""},             {"hmm", ""},             {"mm", ""},                {"mhm", ""},
    {"mmm", ""},           {"er", ""},             {"erm", ""},             {"ah", ""},                {"colour", "color"},
    {"colours", "colors"}, {"favour", "favor"},    {"favourite", "favorite"}, {"honour", "honor"},     {"humour", "humor"},
    {"labour", "labor"},   {"neighbour", "neighbor"}, {"neighbours", "neighbors"}, {"harbour", "harbor"}, {"centre", "center"},
    {"theatre", "theater"}, {"metre", "meter"},    {"metres", "meters"},    {"litre", "liter"},        {"grey", "gray"},
    {"organise", "organize"}, {"organised", "organized"}, {"realise", "realize"}, {"realised", "realized"}, {"recognise", "recognize"},
    {"recognised", "recognized"}, {"travelled", "traveled"}, {"travelling", "traveling"}, {"programme", "program"}, {"towards", "toward"},
};

/* Ends of words; the first that fits. */
static const struct word_pair ENDINGS[] = {
    {"n't", " not"}, {"'re", " are"}, {"'ll", " will"}, {"'ve", " have"}, {"'m", " am"}, {"'d", " would"}, {"'s", " is"},
};

static bool word_is(const char *word, size_t len, const char *other)
{
    return strlen(other) == len && memcmp(word, other, len) == 0;
}

/* `bare_len` = the word without one trailing comma, stop, question or exclamation mark. */
static void put_english_word(struct strbuf *out, const char *word, size_t len)
{
    size_t bare_len = len > 1 && strchr(",.?!;:", word[len - 1]) ? len - 1 : len;
    for (size_t i = 0; i < sizeof WORDS / sizeof WORDS[0]; i++) {
        if (word_is(word, len, WORDS[i].from) || word_is(word, bare_len, WORDS[i].from)) {
            strbuf_adds(out, WORDS[i].to);
            return;
        }
    }
    for (size_t i = 0; i < sizeof ENDINGS / sizeof ENDINGS[0]; i++) {
        size_t ending = strlen(ENDINGS[i].from);
        if (bare_len > ending && memcmp(word + bare_len - ending, ENDINGS[i].from, ending) == 0) {
            strbuf_add(out, word, bare_len - ending);
            strbuf_adds(out, ENDINGS[i].to);
            return;
        }
    }
    for (size_t i = 0; i < len; i++) {
        bool is_joint = word[i] == ',' && i > 0 && i + 1 < len && word[i - 1] >= '0' && word[i - 1] <= '9' && word[i + 1] >= '0' &&
                        word[i + 1] <= '9';
        if (!is_joint)
            strbuf_addc(out, word[i]);
    }
}

/* Lower case with U+2019 written as an apostrophe, word by word through the tables, then basic. */
static as_status normalize_english(const char *text, size_t len, struct strbuf *ret)
{
    AS_AUTO_STRBUF struct strbuf lower;
    AS_AUTO_STRBUF struct strbuf words;
    strbuf_init(&lower, 0);
    strbuf_init(&words, 0);
    struct joiner joiner = {.out = &lower};
    for (const char *at = text, *end = text + len; at < end;) {
        utf8proc_int32_t c = next_code_point(&at, end);
        put_code_point(&joiner, c == 0x2019 ? '\'' : utf8proc_tolower(c));
    }
    const char *at = strbuf_text(&lower), *end = at + lower.len;
    while (at < end) {
        const char *space = memchr(at, ' ', (size_t)(end - at));
        const char *stop = space ? space : end;
        put_english_word(&words, at, (size_t)(stop - at));
        strbuf_addc(&words, ' ');
        at = stop + 1;
    }
    if (strbuf_status(&lower) != AS_OK || strbuf_status(&words) != AS_OK)
        return AS_E_NOMEM;
    return normalize_basic(strbuf_text(&words), words.len, ret);
}

as_status text_normalize(enum normalizer normalizer, const char *text, size_t len, struct strbuf *ret)
{
    switch (normalizer) {
    case NORMALIZER_BASIC:
        return normalize_basic(text, len, ret);
    case NORMALIZER_ENGLISH:
        return normalize_english(text, len, ret);
    case NORMALIZER_NONE:
    case NORMALIZER_LOWERCASE:
    case NORMALIZER_COUNT:
        break;
    }
    return normalize_plain(text, len, normalizer != NORMALIZER_NONE, ret);
}
