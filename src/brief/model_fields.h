/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_BRIEF_MODEL_FIELDS_H
#define ASSAY_BRIEF_MODEL_FIELDS_H

/* Initialisers of the rows in model_0_*.c, one a kind of field; further members follow in `...`. */

#define REQUIRED      .is_required = true
#define OPTIONAL      .is_required = false
#define LIST          .is_list = true
#define MIN(bound)    .has_min = true, .min = (bound)
#define SINCE_0_2_1   .since = "0.2.1"
#define INITIAL(text) .initial = (text), .is_strict = true

#define ROW(field, kind, text, ...)                                                                                    \
    {                                                                                                                  \
        .name = (field), .type = (kind), .sentence = (text), __VA_ARGS__                                               \
    }
#define TEXT(field, text, ...)          ROW(field, FIELD_TEXT, text, __VA_ARGS__)
#define INT(field, text, ...)           ROW(field, FIELD_INT, text, __VA_ARGS__)
#define FLOAT(field, text, ...)         ROW(field, FIELD_FLOAT, text, __VA_ARGS__)
#define TIME(field, text, ...)          ROW(field, FIELD_TIME, text, __VA_ARGS__)
#define CHOICE(field, list, text, ...)  ROW(field, FIELD_CHOICE, text, .choices = &(list), __VA_ARGS__)
#define OBJECT(field, table, text, ...) ROW(field, FIELD_OBJECT, text, .object = &(table), __VA_ARGS__)
#define STAT(field, category, text, ...)                                                                               \
    ROW(field, FIELD_OBJECT, text, .object = &statistics, .units = UNITS_##category, __VA_ARGS__)
#define SERIES(field, category, text, ...)                                                                             \
    ROW(field, FIELD_OBJECT, text, .object = &series, .units = UNITS_##category, __VA_ARGS__)

/* The quantiles of a statistic, in order. */
#define QUANTILES                                                                                                      \
    ROW("min", FIELD_NUMBER, "Smallest value.", OPTIONAL), ROW("p0p1", FIELD_NUMBER, "0.1st percentile.", OPTIONAL),   \
        ROW("p1", FIELD_NUMBER, "1st percentile.", OPTIONAL), ROW("p5", FIELD_NUMBER, "5th percentile.", OPTIONAL),    \
        ROW("p10", FIELD_NUMBER, "10th percentile.", OPTIONAL),                                                        \
        ROW("p25", FIELD_NUMBER, "25th percentile.", OPTIONAL),                                                        \
        ROW("p50", FIELD_NUMBER, "50th percentile, the median.", OPTIONAL),                                            \
        ROW("p75", FIELD_NUMBER, "75th percentile.", OPTIONAL),                                                        \
        ROW("p90", FIELD_NUMBER, "90th percentile.", OPTIONAL),                                                        \
        ROW("p95", FIELD_NUMBER, "95th percentile.", OPTIONAL),                                                        \
        ROW("p99", FIELD_NUMBER, "99th percentile.", OPTIONAL),                                                        \
        ROW("p99p9", FIELD_NUMBER, "99.9th percentile.", OPTIONAL),                                                    \
        ROW("max", FIELD_NUMBER, "Largest value.", OPTIONAL)

#define FIELDS(array) .fields = (array), .count = sizeof(array) / sizeof((array)[0])

#endif
