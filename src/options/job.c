/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"
#include "options/internal.h"
#include "options/yaml_tree.h"

#define JOB_BYTES_MAX ((size_t)4 * 1024 * 1024)

struct job {
    struct opt_reader *reader;
    const char *path;
    const char *text;
    size_t len;
    char folder[4096]; /* of the file: relative paths in it are meant from there */
};

static as_status job_error(const struct job *job, const struct json_value *member, const char *why,
                           struct as_error *err)
{
    size_t line = yaml_line(job->text, job->len, member);
    return error_set_at(err, AS_E_USAGE, (int64_t)line, -1, "%s:%zu: %s: %s", job->path, line, member->key, why);
}

/* The text to parse for one value; NULL when it cannot be one of this option. */
static const char *member_text(struct job *job, const struct opt *opt, const struct json_value *value)
{
    struct arena *arena = job->reader->parsed->arena;
    if (value->type == JSON_OBJECT && opt && opt->type == OPT_JSON) {
        struct strbuf json AS_AUTO_STRBUF;
        struct json_writer writer;
        strbuf_init(&json, JOB_BYTES_MAX);
        json_writer_init(&writer, &json, 0);
        json_put_value(&writer, value);
        return json_writer_status(&writer) == AS_OK ? arena_strdup(arena, strbuf_text(&json)) : NULL;
    }
    if (value->type == JSON_OBJECT || value->type == JSON_ARRAY)
        return NULL;
    bool is_relative = opt && opt->type == OPT_FILE && value->text[0] != '/' && strcmp(value->text, "-") != 0 &&
                       !strstr(value->text, "://");
    if (is_relative && strcmp(job->folder, ".") != 0)
        return arena_printf(arena, "%s/%s", job->folder, value->text);
    return value->text;
}

static as_status assign_value(struct job *job, const struct opt_found *found, const struct json_value *member,
                              const struct json_value *value, struct as_error *err)
{
    const struct opt *opt = found->state ? found->state->option : NULL;
    const char *text = member_text(job, opt, value);
    if (!text)
        return job_error(job, member, "takes a single value here", err);
    if (found->negated)
        return job_error(job, member, "is written without \"no-\" in a job file, as name: false", err);
    return reader_assign(job->reader, found, text, err);
}

/* {Name: value, …} of a list of keys and values. */
static as_status assign_pairs(struct job *job, const struct opt_found *found, const struct json_value *member,
                              struct as_error *err)
{
    as_status status = AS_OK;
    for (const struct json_value *pair = member->first; pair && status == AS_OK; pair = pair->next) {
        if (pair->type == JSON_OBJECT || pair->type == JSON_ARRAY)
            return job_error(job, member, "takes name: value pairs here", err);
        const char *text = arena_printf(job->reader->parsed->arena, "%s: %s", pair->key, pair->text);
        status = text ? reader_assign(job->reader, found, text, err) : error_set(err, AS_E_NOMEM, "out of memory");
    }
    return status;
}

static as_status assign_member(struct job *job, const struct json_value *member, struct as_error *err)
{
    struct opt_reader *reader = job->reader;
    char *name = arena_strdup(reader->parsed->arena, member->key);
    reader->spelled = arena_printf(reader->parsed->arena, "%s:%zu: %s", job->path,
                                   yaml_line(job->text, job->len, member), member->key);
    if (!name || !reader->spelled)
        return error_set(err, AS_E_NOMEM, "out of memory");
    for (char *at = name; *at; at++)
        if (*at == '_')
            *at = '-';
    struct opt_found found = reader_find(reader, name, strlen(name));
    if (strcmp(name, "job") == 0)
        return job_error(job, member, "a job file does not name another one", err);
    if (!found.state && !found.foreign) {
        const char *nearest = options_nearest(reader->parsed->command, name);
        return error_set(err, AS_E_USAGE, "%s: is no option of assay %s%s%s%s", reader->spelled,
                         reader->parsed->command->name, nearest ? "; did you mean " : "", nearest ? nearest : "",
                         nearest ? "?" : "");
    }
    const struct opt *opt = found.state ? found.state->option : NULL;
    bool is_many = opt ? opt->is_list : found.foreign->takes_many;
    if (member->type == JSON_NULL)
        return AS_OK;
    if (member->type == JSON_OBJECT && opt && opt->type == OPT_KEYVALUE)
        return assign_pairs(job, &found, member, err);
    if (member->type != JSON_ARRAY)
        return assign_value(job, &found, member, member, err);
    if (!is_many)
        return job_error(job, member, "takes a single value, no list", err);
    as_status status = AS_OK;
    for (const struct json_value *item = member->first; item && status == AS_OK; item = item->next)
        status = assign_value(job, &found, member, item, err);
    return status;
}

as_status reader_job_file(struct opt_reader *reader, const char *path, struct as_error *err)
{
    struct strbuf text AS_AUTO_STRBUF;
    strbuf_init(&text, JOB_BYTES_MAX);
    as_status status = file_read(path, &text, err);
    if (status != AS_OK)
        return status;
    struct job job = {.reader = reader, .path = path, .text = strbuf_text(&text), .len = text.len};
    if (!path_dir(job.folder, sizeof job.folder, path))
        return error_set(err, AS_E_USAGE, "--job: the path is too long");
    const struct json_value *root;
    status = yaml_parse(job.text, job.len, reader->parsed->arena, &root, err);
    if (status != AS_OK) {
        error_prefix(err, "%s", path);
        return status;
    }
    if (root->type == JSON_NULL)
        return AS_OK;
    if (root->type != JSON_OBJECT)
        return error_set(err, AS_E_USAGE, "%s: a job file is a mapping of option names to values", path);
    for (const struct json_value *member = root->first; member && status == AS_OK; member = member->next)
        status = assign_member(&job, member, err);
    return status;
}
