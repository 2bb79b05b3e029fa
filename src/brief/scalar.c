/* SPDX-License-Identifier: Apache-2.0 */
#include "brief/scalar.h"

#include "base/json_write.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define NUMBER_BYTES_MAX 400

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_one_of(const char *text, size_t len, const char *const *words)
{
    for (; *words; words++)
        if (**words == (len > 0 ? *text : '\0') && strlen(*words) == len && memcmp(*words, text, len) == 0)
            return true;
    return false;
}

static const char *const NULLS[] = {"~", "null", "Null", "NULL", "", NULL};
static const char *const TRUES[] = {"yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON", NULL};
static const char *const FALSES[] = {"no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF", NULL};
static const char *const INFINITIES[] = {".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF", NULL};
static const char *const NEGATIVE_INFINITIES[] = {"-.inf", "-.Inf", "-.INF", NULL};
static const char *const NANS[] = {".nan", ".NaN", ".NAN", NULL};
static const char *const OTHER_WORDS[] = {"y",   "Y",   "n",        "N",    "=",         "<<", "NaN",
                                          "nan", "inf", "Infinity", "-inf", "-Infinity", NULL};

/* Digits of a base with "_" between, "inf" when too many for int64. */
static bool based_int(const char *at, const char *end, int base, int64_t *ret)
{
    int64_t sum = 0;
    bool has_digit = false;
    for (; at < end; at++) {
        if (*at == '_')
            continue;
        int digit = is_digit(*at)              ? *at - '0'
                    : *at >= 'a' && *at <= 'f' ? *at - 'a' + 10
                    : *at >= 'A' && *at <= 'F' ? *at - 'A' + 10
                                               : base;
        if (digit >= base || sum > (INT64_MAX - digit) / base)
            return false;
        sum = sum * base + digit;
        has_digit = true;
    }
    *ret = sum;
    return has_digit;
}

/* Base 60: "1:30" is 90; the last part may have a fraction. */
static bool sexagesimal(const char *at, const char *end, double *ret, bool *ret_whole)
{
    double sum = 0;
    int parts = 0;
    *ret_whole = true;
    while (at < end) {
        const char *colon = memchr(at, ':', (size_t)(end - at));
        const char *stop = colon ? colon : end, *dot = memchr(at, '.', (size_t)(stop - at));
        double part;
        if (at == stop || (dot && (colon || parts == 0)) || (parts > 0 && (dot ? dot : stop) - at > 2) ||
            !is_digit(*at))
            return false;
        if (parts == 0 && *at == '0' && !memchr(at, '.', (size_t)(end - at)))
            return false;
        if (!scalar_double(at, (size_t)(stop - at), &part) || (parts > 0 && part >= 60))
            return false;
        *ret_whole = !dot;
        sum = sum * 60 + part;
        parts++;
        at = stop + (colon ? 1 : 0);
    }
    *ret = sum;
    return parts > 1 && end[-1] != ':';
}

/* Decimal digits and "_", the first one a digit. */
static const char *skip_digits(const char *at, const char *end)
{
    while (at < end && (is_digit(*at) || *at == '_'))
        at++;
    return at;
}

/* A float as YAML 1.1 has it: with a dot, an exponent only with a sign. */
static bool is_yaml_float(const char *at, const char *end)
{
    bool is_signed = at < end && (*at == '-' || *at == '+');
    at += is_signed;
    if (at == end || (*at != '.' && !is_digit(*at)) || (*at == '.' && is_signed))
        return false;
    bool has_whole = is_digit(*at);
    at = skip_digits(at, end);
    if (at == end || *at++ != '.')
        return false;
    if (!has_whole && (at == end || !is_digit(*at)))
        return false;
    at = skip_digits(at, end);
    if (at == end)
        return true;
    if ((*at != 'e' && *at != 'E') || end - at < 3 || (at[1] != '-' && at[1] != '+'))
        return false;
    for (at += 2; at < end && is_digit(*at); at++)
        ;
    return at == end;
}

struct value *scalar_integer(struct tree *tree, const char *text, size_t len)
{
    char digits[NUMBER_BYTES_MAX];
    size_t used = 0;
    for (size_t i = 0; i < len && used + 1 < sizeof digits; i++)
        if (text[i] != '_' && !(i == 0 && text[i] == '+'))
            digits[used++] = text[i];
    digits[used] = '\0';
    int64_t integer;
    if (json_text_int64(digits, used, &integer))
        return value_int(tree, integer);
    struct value *value = value_textn(tree, digits, used);
    if (value) {
        value->type = VALUE_INT;
        value->integer = digits[0] == '-' ? INT64_MIN : INT64_MAX;
    }
    return value;
}

/* NULL when the text is no integer; *ret_is tells. */
static struct value *resolve_int(struct tree *tree, const char *text, size_t len, bool *ret_is)
{
    const char *at = text, *end = text + len;
    bool is_negative = len > 0 && *at == '-';
    int64_t integer = 0;
    double number;
    bool is_whole;
    *ret_is = true;
    at += len > 0 && (*at == '-' || *at == '+');
    if (at < end && (*at == '0' ? at + 1 == end : is_digit(*at)) && skip_digits(at, end) == end)
        return len < NUMBER_BYTES_MAX ? scalar_integer(tree, text, len) : value_textn(tree, text, len);
    bool is_based = (end - at > 2 && at[0] == '0' && at[1] == 'b' && based_int(at + 2, end, 2, &integer)) ||
                    (end - at > 2 && at[0] == '0' && at[1] == 'x' && based_int(at + 2, end, 16, &integer)) ||
                    (end - at > 1 && at[0] == '0' && based_int(at + 1, end, 8, &integer));
    if (is_based)
        return value_int(tree, is_negative ? -integer : integer);
    if (sexagesimal(at, end, &number, &is_whole) && number < 9e15)
        return is_whole ? value_int(tree, is_negative ? -(int64_t)number : (int64_t)number)
                        : value_float(tree, is_negative ? -number : number);
    *ret_is = false;
    return NULL;
}

/* yyyy-mm-dd, or with one or two digits a part and a time of day after it. */
static bool is_yaml_time(const char *text, size_t len)
{
    const char *at = text, *end = text + len;
    static const int most[] = {4, 2, 2, 2, 2, 2};
    static const char after[] = "--T::";
    if (len < 8 || len > TIME_TEXT_BYTES)
        return false;
    for (int part = 0; part < 6; part++) {
        const char *from = at;
        while (at < end && is_digit(*at) && at - from < most[part])
            at++;
        bool is_full = at - from == most[part];
        if (at == from || (!is_full && (part == 0 || part > 3)))
            return false;
        if (part == 2 && at == end)
            return len == 10;
        if (part == 5)
            break;
        if (at == end)
            return false;
        if (after[part] == 'T') {
            if (*at != 'T' && *at != 't' && *at != ' ' && *at != '\t')
                return false;
            for (at++; at < end && (*at == ' ' || *at == '\t'); at++)
                ;
        } else if (*at++ != after[part]) {
            return false;
        }
    }
    if (at < end && *at == '.')
        for (at++; at < end && is_digit(*at); at++)
            ;
    while (at < end && (*at == ' ' || *at == '\t'))
        at++;
    if (at == end || (*at == 'Z' && at + 1 == end))
        return true;
    if (*at != '+' && *at != '-')
        return false;
    for (at++; at < end && (is_digit(*at) || *at == ':'); at++)
        ;
    return at == end;
}

struct value *scalar_resolve(struct tree *tree, const char *text, size_t len)
{
    bool is_number = false;
    double number;
    if (is_one_of(text, len, NULLS))
        return value_null(tree);
    if (is_one_of(text, len, TRUES))
        return value_bool(tree, true);
    if (is_one_of(text, len, FALSES))
        return value_bool(tree, false);
    if (is_one_of(text, len, INFINITIES))
        return value_float(tree, (double)INFINITY);
    if (is_one_of(text, len, NEGATIVE_INFINITIES))
        return value_float(tree, -(double)INFINITY);
    if (is_one_of(text, len, NANS))
        return value_float(tree, (double)NAN);
    struct value *value = resolve_int(tree, text, len, &is_number);
    if (is_number)
        return value;
    if (is_yaml_float(text, text + len) && scalar_double(text, len, &number))
        return value_float(tree, number);
    value = value_textn(tree, text, len);
    if (value && is_yaml_time(text, len))
        value->type = VALUE_TIME;
    return value;
}

bool scalar_is_ambiguous(const char *text, size_t len)
{
    /* How the words above, numbers and times begin; the empty text too. */
    static const char beginnings[] = "~nNyYtToOfFiI=<+-.0123456789";
    double number;
    if (!strchr(beginnings, text[0]))
        return false;
    if (is_one_of(text, len, NULLS) || is_one_of(text, len, TRUES) || is_one_of(text, len, FALSES) ||
        is_one_of(text, len, OTHER_WORDS) || is_one_of(text, len, INFINITIES) ||
        is_one_of(text, len, NEGATIVE_INFINITIES) || is_one_of(text, len, NANS))
        return true;
    char first = text[0] == '-' || text[0] == '+' ? text[1] : text[0];
    if (!is_digit(first) && first != '.')
        return false;
    /* Numbers, times and what comes near them: "1e5", "0x1f", "0o17", "12:30", "2026-01-01". */
    if (scalar_double(text, len, &number) || is_yaml_time(text, len))
        return true;
    bool is_hex = len > 1 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    size_t near = 0;
    while (near < len && (is_digit(text[near]) || strchr(is_hex ? "abcdefABCDEFxX_" : "eExXoOb_:+-", text[near])))
        near++;
    return near == len;
}

/* Without blanks, sign and "_": what remains for json_text_double; false when the text has another form. */
static bool clean_number(const char *text, size_t len, char ret[NUMBER_BYTES_MAX], size_t *ret_len)
{
    const char *at = text, *end = text + len;
    size_t used = 0;
    while (at < end && (*at == ' ' || (*at >= '\t' && *at <= '\r')))
        at++;
    while (end > at && (end[-1] == ' ' || (end[-1] >= '\t' && end[-1] <= '\r')))
        end--;
    if (at < end && (*at == '-' || *at == '+') && *at++ == '-')
        ret[used++] = '-';
    if (at == end || end - at > NUMBER_BYTES_MAX - 8)
        return false;
    while (end - at > 1 && *at == '0' && is_digit(at[1]))
        at++;
    if (*at == '.' && (at + 1 == end || !is_digit(at[1])))
        return false;
    if (*at == '.')
        ret[used++] = '0';
    for (; at < end; at++) {
        bool is_between = *at == '_' && at > text && is_digit(at[-1]) && at + 1 < end && is_digit(at[1]);
        bool is_last_dot = *at == '.' && (at + 1 == end || !is_digit(at[1]));
        if (is_last_dot && !(used > 0 && is_digit(ret[used - 1])))
            return false;
        if (is_last_dot && at + 1 < end && at[1] != 'e' && at[1] != 'E')
            return false;
        if (!is_between && !is_last_dot)
            ret[used++] = *at;
    }
    *ret_len = used;
    return true;
}

static bool is_word(const char *text, size_t len, const char *word)
{
    return strlen(word) == len && strncasecmp(text, word, len) == 0;
}

bool scalar_double(const char *text, size_t len, double *ret)
{
    char clean[NUMBER_BYTES_MAX];
    size_t used;
    if (!clean_number(text, len, clean, &used))
        return false;
    bool is_negative = clean[0] == '-';
    const char *word = clean + is_negative;
    size_t word_len = used - is_negative;
    if (is_word(word, word_len, "inf") || is_word(word, word_len, "infinity")) {
        *ret = is_negative ? -(double)INFINITY : (double)INFINITY;
        return true;
    }
    if (is_word(word, word_len, "nan")) {
        *ret = (double)NAN;
        return true;
    }
    if (json_text_double(clean, used, ret))
        return true;
    /* Of the right form but beyond the largest double. */
    struct json_raw raw;
    struct json_cursor cursor;
    json_cursor_init(&cursor, clean, used);
    if (!json_take_number(&cursor, &raw) || raw.len != used)
        return false;
    *ret = is_negative ? -(double)INFINITY : (double)INFINITY;
    return true;
}

bool scalar_int(const char *text, size_t len, int64_t *ret)
{
    char clean[NUMBER_BYTES_MAX];
    size_t used;
    return clean_number(text, len, clean, &used) && !memchr(clean, 'e', used) && !memchr(clean, 'E', used) &&
           json_text_int64(clean, used, ret);
}

/* Digits with a dot or an exponent of at least two digits; `dot_before_exponent` as YAML 1.1 needs it. */
static void put_finite(struct strbuf *out, double number, bool dot_before_exponent)
{
    char text[DOUBLE_TEXT_BYTES];
    (void)double_format(number, text);
    const char *exponent = strchr(text, 'e');
    bool has_dot = strchr(text, '.') != NULL;
    if (!exponent) {
        strbuf_adds(out, text);
        strbuf_adds(out, has_dot ? "" : ".0");
        return;
    }
    strbuf_add(out, text, (size_t)(exponent - text));
    if (!has_dot && dot_before_exponent)
        strbuf_adds(out, ".0");
    const char *digits = exponent + 1 + (exponent[1] == '-' || exponent[1] == '+');
    strbuf_addf(out, "e%c%s%s", exponent[1] == '-' ? '-' : '+', strlen(digits) < 2 ? "0" : "", digits);
}

void double_put_python(struct strbuf *out, double number)
{
    if (isnan(number))
        strbuf_adds(out, "NaN");
    else if (isinf(number))
        strbuf_adds(out, number < 0 ? "-Infinity" : "Infinity");
    else
        put_finite(out, number, false);
}

void double_put_yaml(struct strbuf *out, double number)
{
    if (isnan(number))
        strbuf_adds(out, ".nan");
    else if (isinf(number))
        strbuf_adds(out, number < 0 ? "-.inf" : ".inf");
    else
        put_finite(out, number, true);
}
