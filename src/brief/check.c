/* SPDX-License-Identifier: Apache-2.0 */
#include "brief/check.h"

#include "brief/coerce.h"
#include "brief/scalar.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define PATH_BYTES 1024

/* Where in the document: a chain on the stack. */
struct place {
    const struct place *up;
    const char *key; /* NULL = the item `index` */
    size_t index;
    int64_t line;
};

struct checker {
    struct tree *tree;
    struct problems *problems;
};

static struct value *check_object(struct checker *checker, const struct model_object *object, const struct value *in,
                                  const struct place *place);

void text_one_line(char *text)
{
    size_t len = strlen(text), begun = len;
    while (begun > 0 && len - begun < 3 && ((unsigned char)text[begun - 1] & 0xc0) == 0x80)
        begun--;
    unsigned char lead = begun > 0 ? (unsigned char)text[begun - 1] : 0;
    size_t wanted = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : lead >= 0xc0 ? 1 : 0;
    if (len - begun < wanted)
        text[begun - 1] = '\0';
    for (unsigned char *at = (unsigned char *)text; *at; at++) {
        bool is_c1 = at[0] == 0xc2 && at[1] >= 0x80 && at[1] < 0xa0;
        if (is_c1)
            *at++ = '?';
        if (is_c1 || *at < ' ' || *at == 0x7f)
            *at = '?';
    }
}

void problems_add(struct problems *problems, struct tree *tree, const char *path, int64_t line, const char *fmt, ...)
{
    char message[512];
    va_list args;
    if (problems->count++ >= PROBLEMS_MAX)
        return;
    va_start(args, fmt);
    (void)vsnprintf(message, sizeof message, fmt, args);
    va_end(args);
    text_one_line(message);
    struct problem *problem = arena_alloc(&tree->arena, sizeof *problem);
    const char *path_copy = tree_strdup(tree, path), *message_copy = tree_strdup(tree, message);
    if (!problem || !path_copy || !message_copy) {
        tree->failed = true;
        return;
    }
    *problem = (struct problem){path_copy, message_copy, line, NULL};
    if (problems->last)
        problems->last->next = problem;
    else
        problems->first = problem;
    problems->last = problem;
}

void problems_print(const struct problems *problems, struct strbuf *out)
{
    for (const struct problem *problem = problems->first; problem; problem = problem->next) {
        strbuf_addf(out, "%s%s%s", problem->path, problem->path[0] ? ": " : "", problem->message);
        if (problem->line > 0)
            strbuf_addf(out, " (line %" PRId64 ")", problem->line);
        strbuf_addc(out, '\n');
    }
    if (problems->count > PROBLEMS_MAX)
        strbuf_addf(out, "and %zu more\n", problems->count - PROBLEMS_MAX);
}

/* The dotted path; one that is too long keeps its end. */
static void print_place(const struct place *place, char ret[PATH_BYTES])
{
    size_t at = PATH_BYTES - 1;
    ret[at] = '\0';
    for (; place && place->up; place = place->up) {
        char index[24];
        (void)snprintf(index, sizeof index, "%zu", place->index);
        const char *step = place->key ? place->key : index;
        size_t len = strlen(step), dot = ret[at] != '\0';
        if (len + dot > at)
            break;
        if (dot)
            ret[--at] = '.';
        at -= len;
        memcpy(ret + at, step, len);
    }
    memmove(ret, ret + at, PATH_BYTES - at);
}

static void complain(struct checker *checker, const struct place *place, const char *text)
{
    char path[PATH_BYTES];
    if (checker->problems->count < PROBLEMS_MAX) {
        print_place(place, path);
        text_one_line(path);
        problems_add(checker->problems, checker->tree, path, place->line, "%s", text);
    } else {
        checker->problems->count++;
    }
}

/* What was found, short enough for a line. */
static void describe(const struct value *in, char *ret, size_t size)
{
    char text[61];
    if (value_is(in, VALUE_TEXT)) {
        (void)snprintf(text, sizeof text, "%s", in->text);
        text_one_line(text);
        (void)snprintf(ret, size, "\"%s%s\"", text, in->len > 60 ? "…" : "");
    } else if (value_is(in, VALUE_INT) && !in->text)
        (void)snprintf(ret, size, "%" PRId64, in->integer);
    else if (value_is(in, VALUE_FLOAT))
        (void)snprintf(ret, size, "%.12g", in->number);
    else
        (void)snprintf(ret, size, "%s", value_type_name(in));
}

static void list_words(const struct model_choices *choices, struct strbuf *out)
{
    for (const char *const *word = choices->words; *word; word++)
        strbuf_addf(out, "%s%s", word == choices->words ? "" : ", ", *word);
}

static void complain_value(struct checker *checker, const struct place *place, const struct model_field *field,
                           const struct value *in, const char *reason)
{
    char found[96], text[480];
    struct strbuf words AS_AUTO_STRBUF;
    strbuf_init(&words, 300);
    describe(in, found, sizeof found);
    if (field->choices && field->type != FIELD_TEXT) {
        list_words(field->choices, &words);
        (void)snprintf(text, sizeof text, "must be one of %s, not %s", strbuf_text(&words), found);
    } else {
        (void)snprintf(text, sizeof text, "%s, not %s", reason, found);
    }
    complain(checker, place, text);
}

static bool is_within(const struct model_field *field, const struct value *value)
{
    double number;
    if (!field->has_min || !value_number(value, &number))
        return true;
    return field->is_above_min ? number > field->min : number >= field->min;
}

static struct value *check_scalar(struct checker *checker, const struct model_field *field, const struct value *in,
                                  const struct place *place)
{
    const char *reason = NULL;
    char text[160], found[96];
    struct value *value = coerce(checker->tree, field, in, &reason);
    if (!value) {
        if (reason)
            complain_value(checker, place, field, in, reason);
        return NULL;
    }
    if (is_within(field, value))
        return value;
    describe(in, found, sizeof found);
    (void)snprintf(text, sizeof text, "must be %s %.12g, not %s", field->is_above_min ? "greater than" : "at least",
                   field->min, found);
    complain(checker, place, text);
    return NULL;
}

static const struct model_object *choose_variant(struct checker *checker, const struct model_field *field,
                                                 const struct value *in, const struct place *place)
{
    const struct value *kind = value_get(in, "kind");
    struct place below = {place, "kind", 0, kind ? kind->line : place->line};
    struct strbuf text AS_AUTO_STRBUF;
    char found[96];
    strbuf_init(&text, 400);
    for (const struct model_object *const *variant = field->variants; *variant; variant++) {
        const char *word = model_field(*variant, "kind")->choices->words[0];
        if (value_is_text(kind, word))
            return *variant;
        strbuf_addf(&text, "%s%s", variant == field->variants ? "must be one of " : ", ", word);
    }
    describe(kind, found, sizeof found);
    strbuf_addf(&text, ", not %s", found);
    complain(checker, &below, strbuf_text(&text));
    return NULL;
}

static struct value *check_one(struct checker *checker, const struct model_field *field, const struct value *in,
                               const struct place *place)
{
    const struct model_object *object = field->object;
    if (field->type != FIELD_OBJECT && field->type != FIELD_VARIANT)
        return check_scalar(checker, field, in, place);
    if (!value_is(in, VALUE_MAP)) {
        char text[80];
        (void)snprintf(text, sizeof text, "must be a mapping, not %s", value_type_name(in));
        complain(checker, place, text);
        return NULL;
    }
    if (field->type == FIELD_VARIANT)
        object = choose_variant(checker, field, in, place);
    return object ? check_object(checker, object, in, place) : NULL;
}

static struct value *check_list(struct checker *checker, const struct model_field *field, const struct value *in,
                                const struct place *place)
{
    if (!value_is(in, VALUE_LIST)) {
        char text[80];
        (void)snprintf(text, sizeof text, "must be a list, not %s", value_type_name(in));
        complain(checker, place, text);
        return NULL;
    }
    struct value *list = value_list(checker->tree);
    size_t index = 0;
    bool is_valid = list != NULL;
    for (const struct value *item = in->first; item && !checker->tree->failed; item = item->next, index++) {
        struct place below = {place, NULL, index, item->line};
        struct value *checked = check_one(checker, field, item, &below);
        is_valid = is_valid && checked;
        value_add(list, checked);
    }
    return is_valid ? list : NULL;
}

static struct value *default_value(struct tree *tree, const struct model_field *field)
{
    int64_t integer;
    if (strcmp(field->initial, "{}") == 0)
        return value_map(tree);
    if (field->type == FIELD_BOOL)
        return value_bool(tree, strcmp(field->initial, "true") == 0);
    if (field->type == FIELD_INT && scalar_int(field->initial, strlen(field->initial), &integer))
        return value_int(tree, integer);
    return value_text(tree, field->initial);
}

/* True when the field is valid; its value, if it has one, is then added to `out`. */
static bool check_field(struct checker *checker, const struct model_field *field, const struct value *in,
                        struct value *out, const struct place *place)
{
    const struct value *given = value_get(in, field->name);
    bool is_unset = !given || value_is(given, VALUE_NULL);
    struct place below = {place, field->name, 0, given ? given->line : place->line};
    if (is_unset && field->is_required) {
        complain(checker, &below, given ? "is required and must not be null" : "is required");
        return false;
    }
    if (is_unset) {
        if (field->initial)
            value_put(out, field->name, default_value(checker->tree, field));
        return true;
    }
    struct value *value =
        field->is_list ? check_list(checker, field, given, &below) : check_one(checker, field, given, &below);
    value_put(out, field->name, value);
    return value != NULL;
}

static bool check_extras(struct checker *checker, const struct model_object *object, const struct value *in,
                         struct value *out, const struct place *place)
{
    bool is_valid = true;
    for (const struct value *member = in->first; member && object->extra != EXTRA_DROPPED; member = member->next) {
        if (model_field(object, member->key))
            continue;
        if (object->extra == EXTRA_KEPT) {
            if (member->type != VALUE_NULL)
                value_putn(out, member->key, member->key_len, coerce_free(checker->tree, member));
            continue;
        }
        struct place below = {place, member->key, 0, member->line};
        complain(checker, &below, "is not a field of this format");
        is_valid = false;
    }
    return is_valid;
}

/* Of the first field whose values are in a unit of the wrong kind. */
static bool check_units(struct checker *checker, const struct model_object *object, const struct value *in,
                        const struct value *out, const struct place *place)
{
    for (size_t i = 0; i < object->count; i++) {
        const struct model_field *field = &object->fields[i];
        const char *unit =
            field->units == UNITS_ANY ? NULL : value_string(value_at(value_get(out, field->name), "units"));
        int found = unit ? unit_find(unit) : -1;
        if (found < 0 || unit_category((enum model_unit)found) == field->units)
            continue;
        const struct value *given = value_get(value_get(in, field->name), "units");
        struct place below = {place, field->name, 0, given ? given->line : place->line},
                     units = {&below, "units", 0, below.line};
        char text[160];
        (void)snprintf(text, sizeof text, "must be a unit of %s, not %s", unit_category_name(field->units), unit);
        complain(checker, &units, text);
        return false;
    }
    return true;
}

static bool check_host_types(struct checker *checker, const struct value *out, const struct place *place)
{
    bool has_replica = false, has_phase = false;
    const struct value *types = value_get(out, "type");
    for (const struct value *type = types ? types->first : NULL; type; type = type->next) {
        has_replica = has_replica || value_is_text(type, "replica");
        has_phase = has_phase || !value_is_text(type, "replica");
    }
    if (!has_replica || !has_phase)
        return true;
    struct place below = {place, "type", 0, place->line};
    complain(checker, &below, "must not mix replica with prefill or decode");
    return false;
}

/* Lists with one entry an instance are equally long. */
static bool check_engine_counts(struct checker *checker, const struct value *out, const struct place *place)
{
    static const char *const paths[] = {"scenario.host.accelerator", "scenario.host.type", "scenario.platform.engine",
                                        "metrics.resources.accelerator"};
    const struct value *reference = NULL;
    const char *reference_path = NULL;
    bool is_valid = true;
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        const struct value *list = value_at(out, paths[i]);
        if (!list)
            continue;
        if (!reference) {
            reference = list;
            reference_path = paths[i];
        }
        if (list->len == reference->len)
            continue;
        struct place below = {place, paths[i], 0, list->line};
        char text[160];
        (void)snprintf(text, sizeof text, "must have as many entries as %s: %u, not %u", reference_path,
                       (unsigned)reference->len, (unsigned)list->len);
        complain(checker, &below, text);
        is_valid = false;
    }
    return is_valid;
}

static bool check_rule(struct checker *checker, const struct model_object *object, const struct value *out,
                       const struct place *place)
{
    switch (object->rule) {
    case RULE_HOST_TYPES:
        return check_host_types(checker, out, place);
    case RULE_ENGINE_COUNTS:
        return check_engine_counts(checker, out, place);
    case RULE_NONE:
        break;
    }
    return true;
}

static struct value *check_object(struct checker *checker, const struct model_object *object, const struct value *in,
                                  const struct place *place)
{
    struct value *out = value_map(checker->tree);
    bool is_valid = out != NULL;
    for (size_t i = 0; i < object->count && !checker->tree->failed; i++)
        is_valid = check_field(checker, &object->fields[i], in, out, place) && is_valid;
    is_valid = is_valid && !checker->tree->failed;
    is_valid = check_extras(checker, object, in, out, place) && is_valid;
    if (!is_valid || !check_units(checker, object, in, out, place) || !check_rule(checker, object, out, place))
        return NULL;
    out->line = in->line;
    return out;
}

as_status check_report(struct tree *tree, const struct model *model, const struct value *in, struct problems *problems,
                       struct value **ret)
{
    struct checker checker = {tree, problems};
    struct place top = {NULL, NULL, 0, in->line};
    if (!value_is(in, VALUE_MAP)) {
        problems_add(problems, tree, "", 0,
                     value_is(in, VALUE_NULL) ? "the document is empty" : "the document must be a mapping, not %s",
                     value_type_name(in));
        return AS_E_INVALID;
    }
    struct value *out = check_object(&checker, model->top, in, &top);
    if (tree->failed)
        return tree_status(tree, NULL);
    const struct value *version = value_get(out, "version");
    if (out && model == &model_0_1 && !value_is_text(version, "0.1")) {
        problems_add(problems, tree, "version", version ? version->line : 0, "must be \"0.1\"");
        out = NULL;
    }
    if (!out)
        return AS_E_INVALID;
    *ret = out;
    return AS_OK;
}

const struct model *check_version(struct tree *tree, const struct value *in, struct problems *problems)
{
    const struct value *version = value_get(in, "version");
    char found[96];
    if (!value_is(in, VALUE_MAP)) {
        problems_add(problems, tree, "", 0,
                     value_is(in, VALUE_NULL) ? "the document is empty" : "the document must be a mapping, not %s",
                     value_type_name(in));
        return NULL;
    }
    const struct model *model = value_is(version, VALUE_TEXT) ? model_find(version->text) : NULL;
    if (model)
        return model;
    describe(version, found, sizeof found);
    problems_add(problems, tree, "version", version ? version->line : 0, "Unsupported schema version: %s%s",
                 version ? found : "none", value_is(version, VALUE_FLOAT) ? " (as text it needs quotes)" : "");
    return NULL;
}
