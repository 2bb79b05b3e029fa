/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_BRIEF_MODEL_H
#define ASSAY_BRIEF_MODEL_H

/*
 * The benchmark report models 0.1 and 0.2.1 as tables: objects, their fields, types, bounds, units. Checking
 * (brief/check.h), JSON Schema (brief/schema.h) and the documentation page are derived from them. Constant data only.
 * The order of objects and fields is that of JSON output. Within 0.2.x a field is never removed, renamed, retyped or
 * made stricter: tests/golden/brief/model-*.txt hold what was released.
 */

#include <stdbool.h>
#include <stddef.h>

enum model_unit {
    UNIT_COUNT,
    UNIT_PIXELS,
    UNIT_PERCENT,
    UNIT_FRACTION,
    UNIT_RATIO,
    UNIT_MS,
    UNIT_S,
    UNIT_BYTES,
    UNIT_MB,
    UNIT_GB,
    UNIT_TB,
    UNIT_MIB,
    UNIT_GIB,
    UNIT_TIB,
    UNIT_MBIT_PER_S,
    UNIT_GBIT_PER_S,
    UNIT_TBIT_PER_S,
    UNIT_GIB_PER_S,
    UNIT_MB_PER_S,
    UNIT_GB_PER_S,
    UNIT_TB_PER_S,
    UNIT_MS_PER_TOKEN,
    UNIT_S_PER_TOKEN,
    UNIT_TOKENS_PER_S,
    UNIT_QUERIES_PER_S,
    UNIT_IMAGES_PER_S,
    UNIT_VIDEOS_PER_S,
    UNIT_AUDIOS_PER_S,
    UNIT_WATTS,
    UNIT_NUMBER /* how many there are */
};

enum unit_category {
    UNITS_ANY, /* no category is asked for */
    UNITS_QUANTITY,
    UNITS_PORTION,
    UNITS_RATIO,
    UNITS_TIME,
    UNITS_MEMORY,
    UNITS_BANDWIDTH,
    UNITS_GENERATION_LATENCY,
    UNITS_GENERATION_THROUGHPUT,
    UNITS_REQUEST_THROUGHPUT,
    UNITS_MEDIA_THROUGHPUT,
    UNITS_POWER
};

/* The spelling; -1 when there is no such unit. */
const char *unit_name(enum model_unit unit);
int unit_find(const char *name);
/* UNITS_ANY for GiB/s, which belongs to none. */
enum unit_category unit_category(enum model_unit unit);
const char *unit_category_name(enum unit_category category);
/* Value × factor is in the base unit of its kind (s, bytes, fraction, …); units of different kinds have different
 * bases. */
double unit_factor(enum model_unit unit, enum model_unit *ret_base);

enum field_type {
    FIELD_TEXT,
    FIELD_INT,
    FIELD_FLOAT,
    FIELD_NUMBER,      /* float or int, kept as given; text becomes a float */
    FIELD_INT_NUMBER,  /* int or float, kept as given; text becomes an int where it is one */
    FIELD_CONCURRENCY, /* an int, or +inf */
    FIELD_BOOL,
    FIELD_TIME,
    FIELD_CHOICE,
    FIELD_CONST,      /* the one choice */
    FIELD_POINT,      /* text, float, int or boolean, as given */
    FIELD_ANY,        /* anything, kept as it is */
    FIELD_ARGS,       /* a mapping with anything in it */
    FIELD_TEXT_PAIRS, /* a mapping of text to text */
    FIELD_OBJECT,
    FIELD_VARIANT /* one of `variants`, chosen by its member "kind" */
};

struct model_choices {
    const char *name; /* in the JSON Schema */
    const char *sentence;
    const char *const *words; /* ends with NULL */
};

struct model_object;

struct model_field {
    const char *name;
    const char *sentence; /* what it is; NULL in objects that explain themselves */
    enum field_type type;
    bool is_list;
    bool is_required;
    bool is_strict; /* null is not a value of its type: it has a default of its own */
    bool has_min;
    bool is_above_min;  /* the minimum itself is excluded */
    bool is_min_unsaid; /* the JSON Schema of the format leaves the bound out */
    double min;
    const char *initial; /* default, as text; "{}" an empty mapping; NULL = none */
    const struct model_choices *choices;
    const struct model_object *object;
    const struct model_object *const *variants; /* ends with NULL */
    enum unit_category units;                   /* of a Statistics or a series */
    const char *since;                          /* "0.2.1" when 0.2 had it not */
};

enum extra_members { EXTRA_REFUSED, EXTRA_DROPPED, EXTRA_KEPT };

/* Rules over several fields. */
enum object_rule { RULE_NONE, RULE_HOST_TYPES, RULE_ENGINE_COUNTS };

struct model_object {
    const char *name;
    const char *sentence;
    const struct model_field *fields;
    size_t count;
    enum extra_members extra;
    enum object_rule rule;
};

struct model {
    const char *version;      /* "0.2.1" */
    const char *const *reads; /* versions of documents it takes; ends with NULL */
    const char *title;        /* of the JSON Schema */
    const struct model_object *top;
    const struct model_object *const *objects; /* all but `top`, ends with NULL */
    const struct model_choices *const *choices;
};

extern const struct model model_0_1;
extern const struct model model_0_2;

/* By version text ("0.1", "0.2", "0.2.1"); NULL for others. */
const struct model *model_find(const char *version);
const struct model_field *model_field(const struct model_object *object, const char *name);

extern const struct model_choices model_units;

#endif
