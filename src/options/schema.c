/* SPDX-License-Identifier: Apache-2.0 */
#include "options/internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void put_types(struct json_writer *writer, const char *first, const char *second)
{
    json_key(writer, "type");
    if (!second) {
        json_put_string(writer, first);
        return;
    }
    json_open_array(writer);
    json_put_string(writer, first);
    json_put_string(writer, second);
    json_close_array(writer);
}

static void put_bounds(struct json_writer *writer, const struct opt *opt)
{
    if (opt->min == 0 && opt->max == 0 && !opt->positive)
        return;
    json_member_double(writer, opt->positive ? "exclusiveMinimum" : "minimum", opt->min);
    if (opt->max != 0)
        json_member_double(writer, "maximum", opt->max);
}

/* The members that describe one value. */
static void put_value_schema(struct json_writer *writer, const struct opt *opt)
{
    switch (opt->type) {
    case OPT_FLAG:
        put_types(writer, "boolean", NULL);
        break;
    case OPT_INT:
        put_types(writer, "integer", NULL);
        put_bounds(writer, opt);
        break;
    case OPT_DOUBLE:
        put_types(writer, "number", opt->allow_inf ? "string" : NULL);
        put_bounds(writer, opt);
        break;
    case OPT_SIZE:
    case OPT_DURATION:
        put_types(writer, "string", opt->type == OPT_SIZE || opt->unit ? "number" : NULL);
        put_bounds(writer, opt);
        break;
    case OPT_ENUM:
        json_key(writer, "enum");
        json_open_array(writer);
        for (int i = 0; opt->choices[i]; i++)
            json_put_string(writer, opt->choices[i]);
        json_close_array(writer);
        break;
    case OPT_JSON:
    case OPT_KEYVALUE:
        put_types(writer, "object", "string");
        break;
    case OPT_STRING:
    case OPT_FILE:
        put_types(writer, "string", "number");
        break;
    }
}

static void put_list_schema(struct json_writer *writer, const struct opt *opt)
{
    json_key(writer, "oneOf");
    json_open_array(writer);
    json_open_object(writer);
    put_value_schema(writer, opt);
    json_close_object(writer);
    json_open_object(writer);
    put_types(writer, "array", NULL);
    json_key(writer, "items");
    json_open_object(writer);
    put_value_schema(writer, opt);
    json_close_object(writer);
    json_close_object(writer);
    json_close_array(writer);
}

static void put_default(struct json_writer *writer, const struct opt *opt)
{
    if (!opt->initial || opt->is_list)
        return;
    json_key(writer, "default");
    if (opt->type == OPT_FLAG)
        json_put_bool(writer, strcmp(opt->initial, "true") == 0);
    else if (opt->type == OPT_INT)
        json_put_int(writer, strtoll(opt->initial, NULL, 10));
    else if (opt->type == OPT_DOUBLE && isfinite(strtod(opt->initial, NULL)))
        json_put_double(writer, strtod(opt->initial, NULL));
    else
        json_put_string(writer, opt->initial);
}

void options_schema(const struct opt_command *command, struct strbuf *out)
{
    struct json_writer writer;
    size_t count = command_option_count(command);
    json_writer_init(&writer, out, 2);
    json_open_object(&writer);
    json_member_string(&writer, "$schema", "https://json-schema.org/draft/2020-12/schema");
    json_key(&writer, "title");
    char title[120];
    snprintf(title, sizeof title, "Job file of assay %s (names may be written with _ for -)", command->name);
    json_put_string(&writer, title);
    json_member_string(&writer, "type", "object");
    json_member_bool(&writer, "additionalProperties", false);
    json_key(&writer, "properties");
    json_open_object(&writer);
    for (size_t i = 0; i < count; i++) {
        const struct opt *opt = command_option(command, i, NULL);
        if (strcmp(opt->name, "job") == 0)
            continue;
        json_key(&writer, opt->name);
        json_open_object(&writer);
        json_member_string(&writer, "description", opt->sentence);
        if (opt->is_list)
            put_list_schema(&writer, opt);
        else
            put_value_schema(&writer, opt);
        put_default(&writer, opt);
        json_close_object(&writer);
    }
    json_close_object(&writer);
    json_close_object(&writer);
    strbuf_addc(out, '\n');
}
