/* SPDX-License-Identifier: Apache-2.0 */
#include "brief/coerce.h"

#include "brief/scalar.h"

#include <math.h>
#include <string.h>
#include <strings.h>

static struct value *refuse(const char **ret_reason, const char *reason)
{
    *ret_reason = reason;
    return NULL;
}

static struct value *as_text(struct tree *tree, const struct value *in, const char **ret_reason)
{
    if (value_is(in, VALUE_TEXT))
        return value_share(tree, in);
    if (value_is(in, VALUE_TIME))
        return refuse(ret_reason, "must be text; a date or time needs quotes");
    return refuse(ret_reason, "must be text");
}

/* Whole numbers, also as float, text or boolean; *ret_reason is untouched when it is no number at all. */
static struct value *as_int(struct tree *tree, const struct value *in, const char **ret_reason)
{
    int64_t integer;
    if (value_is(in, VALUE_INT))
        return value_share(tree, in);
    if (value_is(in, VALUE_BOOL))
        return value_int(tree, in->boolean);
    if (value_is(in, VALUE_FLOAT)) {
        if (!isfinite(in->number) || in->number < floor(in->number) || in->number > floor(in->number) ||
            fabs(in->number) >= 9.2e18)
            return refuse(ret_reason, "must be a whole number");
        return value_int(tree, (int64_t)in->number);
    }
    if (value_is(in, VALUE_TEXT) && scalar_int(in->text, in->len, &integer))
        return value_int(tree, integer);
    return refuse(ret_reason, "must be an integer");
}

static struct value *as_float(struct tree *tree, const struct value *in, const char **ret_reason)
{
    double number;
    if (value_number(in, &number))
        return value_float(tree, number);
    if (value_is(in, VALUE_BOOL))
        return value_float(tree, in->boolean ? 1 : 0);
    if (value_is(in, VALUE_TEXT) && scalar_double(in->text, in->len, &number))
        return value_float(tree, number);
    return refuse(ret_reason, "must be a number");
}

static struct value *as_number(struct tree *tree, const struct value *in, bool prefers_int, const char **ret_reason)
{
    const char *ignored;
    if (value_is(in, VALUE_INT) || value_is(in, VALUE_FLOAT))
        return value_share(tree, in);
    struct value *whole = prefers_int ? as_int(tree, in, &ignored) : NULL;
    return whole ? whole : as_float(tree, in, ret_reason);
}

static struct value *as_concurrency(struct tree *tree, const struct value *in, const char **ret_reason)
{
    struct value *value = as_number(tree, in, true, ret_reason);
    if (value_is(value, VALUE_FLOAT) && !(isinf(value->number) && value->number > 0))
        return refuse(ret_reason, "must be an integer or infinite");
    return value;
}

static struct value *as_bool(struct tree *tree, const struct value *in, const char **ret_reason)
{
    static const char *const yes[] = {"true", "t", "yes", "y", "on", "1"}, *const no[] = {"false", "f",   "no",
                                                                                          "n",     "off", "0"};
    double number;
    if (value_is(in, VALUE_BOOL))
        return value_share(tree, in);
    if (value_number(in, &number) && !(number < 0) && !(number > 1) && (number <= 0 || number >= 1))
        return value_bool(tree, number >= 1);
    for (size_t i = 0; value_is(in, VALUE_TEXT) && i < sizeof yes / sizeof yes[0]; i++) {
        if (strcasecmp(in->text, yes[i]) == 0)
            return value_bool(tree, true);
        if (strcasecmp(in->text, no[i]) == 0)
            return value_bool(tree, false);
    }
    return refuse(ret_reason, "must be true or false");
}

static struct value *as_time(struct tree *tree, const struct value *in, const char **ret_reason)
{
    char text[TIME_TEXT_BYTES];
    double number;
    bool is_time = false;
    if (value_number(in, &number))
        is_time = time_from_number(number, text);
    else if (value_is(in, VALUE_TEXT) || value_is(in, VALUE_TIME))
        is_time = time_normalise(in->text, in->len, text);
    return is_time ? value_text(tree, text) : refuse(ret_reason, "must be a time (ISO 8601 or Unix seconds)");
}

static struct value *as_choice(struct tree *tree, const struct model_field *field, const struct value *in,
                               const char **ret_reason)
{
    for (const char *const *word = field->choices->words; *word; word++)
        if (value_is_text(in, *word))
            return value_share(tree, in);
    *ret_reason = field->choices == &model_units ? "must be a known unit" : "must be one of the known words";
    return NULL;
}

static struct value *as_text_pairs(struct tree *tree, const struct value *in, const char **ret_reason)
{
    if (!value_is(in, VALUE_MAP))
        return refuse(ret_reason, "must be a mapping");
    for (const struct value *member = in->first; member; member = member->next)
        if (!value_is(member, VALUE_TEXT))
            return refuse(ret_reason, "must hold text only");
    return value_share(tree, in);
}

struct value *coerce_free(struct tree *tree, const struct value *in)
{
    char text[TIME_TEXT_BYTES];
    struct value *value = value_share(tree, in);
    if (value_is(value, VALUE_TIME)) {
        value->type = VALUE_TEXT;
        return value->len > strlen("2026-01-01") && time_normalise(in->text, in->len, text) ? value_text(tree, text)
                                                                                            : value;
    }
    if (!value_is(value, VALUE_LIST) && !value_is(value, VALUE_MAP))
        return value;
    value->first = value->last = NULL;
    value->len = 0;
    for (const struct value *child = in->first; child && !tree->failed; child = child->next) {
        if (in->type == VALUE_LIST)
            value_add(value, coerce_free(tree, child));
        else
            value_putn(value, child->key, child->key_len, coerce_free(tree, child));
    }
    return value;
}

struct value *coerce(struct tree *tree, const struct model_field *field, const struct value *in,
                     const char **ret_reason)
{
    *ret_reason = NULL;
    switch (field->type) {
    case FIELD_TEXT:
        return as_text(tree, in, ret_reason);
    case FIELD_INT:
        return as_int(tree, in, ret_reason);
    case FIELD_FLOAT:
        return as_float(tree, in, ret_reason);
    case FIELD_NUMBER:
        return as_number(tree, in, false, ret_reason);
    case FIELD_INT_NUMBER:
        return as_number(tree, in, true, ret_reason);
    case FIELD_CONCURRENCY:
        return as_concurrency(tree, in, ret_reason);
    case FIELD_BOOL:
        return as_bool(tree, in, ret_reason);
    case FIELD_TIME:
        return as_time(tree, in, ret_reason);
    case FIELD_CHOICE:
    case FIELD_CONST:
        return as_choice(tree, field, in, ret_reason);
    case FIELD_POINT:
        if (value_is(in, VALUE_LIST) || value_is(in, VALUE_MAP) || value_is(in, VALUE_TIME))
            return refuse(ret_reason, "must be text, a number or a boolean");
        return value_share(tree, in);
    case FIELD_ANY:
        return coerce_free(tree, in);
    case FIELD_ARGS:
        return value_is(in, VALUE_MAP) ? coerce_free(tree, in) : refuse(ret_reason, "must be a mapping");
    case FIELD_TEXT_PAIRS:
        return as_text_pairs(tree, in, ret_reason);
    case FIELD_OBJECT:
    case FIELD_VARIANT:
        break;
    }
    return NULL;
}
