/* SPDX-License-Identifier: Apache-2.0 */
#include "workload/audio.h"

#include "base/file.h"
#include "base/url.h"
#include "fetch/fetch.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define DURATION_MAX_S      (366.0 * 86400)
#define MANIFEST_TIMEOUT_NS (INT64_C(120) * 1000000000)
#define FILE_SCHEME         "file://"

/* A manifest being read. */
struct reading {
    struct audio_set *set;
    size_t capacity;
    uint32_t *slots; /* ids seen: index + 1 of the sample, 0 = free */
    size_t slot_mask;
};

const char *audio_duration_source_name(enum audio_duration_source source)
{
    static const char *const names[] = {
#define AUDIO_DURATION_SOURCE_NAME(name, text) text,
        AUDIO_DURATION_SOURCE_MAP(AUDIO_DURATION_SOURCE_NAME)
#undef AUDIO_DURATION_SOURCE_NAME
    };
    return names[source];
}

static uint64_t hash(const char *text)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
    for (; *text; text++)
        h = (h ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return h ^ h >> 29;
}

static bool grow_slots(struct reading *reading)
{
    size_t capacity = (reading->slot_mask + 1) * 2;
    uint32_t *slots = calloc(capacity, sizeof *slots);
    if (!slots)
        return false;
    free(reading->slots);
    reading->slots = slots;
    reading->slot_mask = capacity - 1;
    for (size_t i = 0; i < reading->set->count; i++) {
        size_t slot = (size_t)hash(reading->set->items[i].id) & reading->slot_mask;
        while (slots[slot])
            slot = (slot + 1) & reading->slot_mask;
        slots[slot] = (uint32_t)i + 1;
    }
    return true;
}

/* Puts the id of the sample to come into the table; AS_E_INVALID when it is there. */
static as_status claim_id(struct reading *reading, const char *id, struct as_error *why)
{
    const struct audio_set *set = reading->set;
    if (!reading->slots || set->count * 2 > reading->slot_mask)
        if (!grow_slots(reading))
            return AS_E_NOMEM;
    size_t slot = (size_t)hash(id) & reading->slot_mask;
    for (; reading->slots[slot]; slot = (slot + 1) & reading->slot_mask) {
        const struct audio_sample *other = &set->items[reading->slots[slot] - 1];
        if (strcmp(other->id, id) == 0)
            return error_set(why, AS_E_INVALID, "the id \"%.64s\" is taken by line %lld: ids must be unique", id,
                             (long long)other->line);
    }
    reading->slots[slot] = (uint32_t)set->count + 1;
    return AS_OK;
}

static bool is_text(const struct json_value *value)
{
    return value->type == JSON_STRING && value->len > 0 && strlen(value->text) == value->len;
}

/* The path of a file:// URL, in place of it. */
static as_status decode_file_url(const char *url, struct arena *arena, const char **ret, struct as_error *why)
{
    const char *at = url + strlen(FILE_SCHEME);
    if (strncasecmp(at, "localhost/", 10) == 0)
        at += 9;
    if (*at != '/')
        return error_set(why, AS_E_INVALID, "\"path\" is a file:// URL of another machine");
    char *path = arena_strdup(arena, at);
    if (!path)
        return AS_E_NOMEM;
    url_decode(path);
    *ret = path;
    return AS_OK;
}

static as_status take_path(struct reading *reading, const struct json_value *value, struct audio_sample *sample,
                           struct as_error *why)
{
    struct arena *arena = &reading->set->arena;
    char joined[PATH_MAX];
    const char *path = value->text;
    if (!is_text(value))
        return error_set(why, AS_E_INVALID, "\"path\" must be a non-empty string");
    if (fetch_is_url(path))
        return error_set(why, AS_E_INVALID, "\"path\" holds an http URL: give it as \"url\"");
    if (fetch_is_url(reading->set->name))
        return error_set(
            why, AS_E_INVALID,
            "\"path\" names a file of this machine: a manifest that comes from a URL names its files by \"url\"");
    if (strncasecmp(path, FILE_SCHEME, strlen(FILE_SCHEME)) == 0) {
        as_status status = decode_file_url(path, arena, &path, why);
        if (status != AS_OK)
            return status;
    } else if (!path_join(joined, sizeof joined, reading->set->folder, path)) {
        return error_set(why, AS_E_INVALID, "\"path\" is too long");
    } else {
        path = joined;
    }
    sample->path = arena_strdup(arena, path);
    return sample->path ? AS_OK : AS_E_NOMEM;
}

static as_status take_url(struct reading *reading, const struct json_value *value, struct audio_sample *sample,
                          struct as_error *why)
{
    if (!is_text(value) || !fetch_is_url(value->text))
        return error_set(why, AS_E_INVALID, "\"url\" must be an http:// or https:// URL");
    if (value->len > FETCH_URL_MAX_BYTES)
        return error_set(why, AS_E_INVALID, "\"url\" is longer than %zu bytes", FETCH_URL_MAX_BYTES);
    sample->url = arena_strdup(&reading->set->arena, value->text);
    return sample->url ? AS_OK : AS_E_NOMEM;
}

static as_status take_source(struct reading *reading, const struct json_value *object, struct audio_sample *sample,
                             struct as_error *why)
{
    const struct json_value *path = json_get(object, "path"), *url = json_get(object, "url");
    bool has_path = path && !json_is_null(path), has_url = url && !json_is_null(url);
    if (has_path == has_url)
        return error_set(why, AS_E_INVALID,
                         has_path ? "\"path\" and \"url\" are both given: one sample has one source"
                                  : "there is neither \"path\" nor \"url\"");
    as_status status = has_path ? take_path(reading, path, sample, why) : take_url(reading, url, sample, why);
    if (status != AS_OK)
        return status;
    const char *source = has_path ? sample->path : sample->url;
    size_t len = has_path ? strlen(source) : strcspn(source, "?#");
    const char *slash = memrchr(source, '/', len);
    const char *name = slash ? slash + 1 : source;
    sample->file_name = arena_strndup(&reading->set->arena, name, (size_t)(source + len - name));
    return sample->file_name ? AS_OK : AS_E_NOMEM;
}

static as_status take_format(const struct json_value *object, struct audio_sample *sample, struct as_error *why)
{
    const struct json_value *value = json_get(object, "format");
    sample->format = audio_format_of_path(sample->file_name);
    if (!value || json_is_null(value))
        return AS_OK;
    if (value->type != JSON_STRING)
        return error_set(why, AS_E_INVALID, "\"format\" must be a string: one of " AUDIO_FORMAT_ALLOWED);
    sample->format = audio_format_from_name(value->text);
    sample->has_format = true;
    if (sample->format == AUDIO_UNKNOWN)
        return error_set(why, AS_E_INVALID, "the format \"%.40s\" is unknown: it must be one of " AUDIO_FORMAT_ALLOWED,
                         value->text);
    return AS_OK;
}

static as_status take_duration(const struct json_value *object, struct audio_sample *sample, struct as_error *why)
{
    const struct json_value *value = json_get(object, "duration");
    double seconds = 0;
    sample->duration_ns = sample->measured_ns = -1;
    if (!value || json_is_null(value))
        return AS_OK;
    if (value->type != JSON_NUMBER || !json_double(value, &seconds) || seconds <= 0 || seconds > DURATION_MAX_S ||
        llround(seconds * 1e9) == 0)
        return error_set(why, AS_E_INVALID, "\"duration\" must be a number of seconds above 0");
    sample->duration_ns = llround(seconds * 1e9);
    sample->duration_source = AUDIO_DURATION_MANIFEST;
    return AS_OK;
}

static as_status add(struct reading *reading, const struct audio_sample *sample)
{
    struct audio_set *set = reading->set;
    if (set->count == UINT32_MAX - 1)
        return AS_E_LIMIT;
    if (set->count == reading->capacity) {
        size_t capacity = reading->capacity ? reading->capacity * 2 : 64;
        struct audio_sample *items = realloc(set->items, capacity * sizeof *items);
        if (!items)
            return AS_E_NOMEM;
        set->items = items;
        reading->capacity = capacity;
    }
    set->items[set->count++] = *sample;
    return AS_OK;
}

static as_status take(void *context, const struct json_value *object, int64_t line, struct as_error *why)
{
    struct reading *reading = context;
    struct audio_sample sample = {.line = line, .contents = AUDIO_UNKNOWN};
    as_status status = audio_line_id(object, AUDIO_ID_BYTES - 1, &reading->set->arena, &sample.id, why);
    if (status == AS_OK)
        status = take_source(reading, object, &sample, why);
    if (status == AS_OK)
        status = take_format(object, &sample, why);
    if (status == AS_OK)
        status = take_duration(object, &sample, why);
    if (status == AS_OK)
        status = claim_id(reading, sample.id, why);
    return status == AS_OK ? add(reading, &sample) : status;
}

static as_status check_result(const struct audio_set *set, struct as_error *err)
{
    if (set->count > 0)
        return AS_OK;
    if (set->lines.bad_lines > 0)
        return error_set(err, AS_E_INVALID, "%s: none of its %lld lines is a sample; the first: %.300s", set->name,
                         (long long)set->lines.lines, set->lines.first_bad.message);
    return error_set(err, AS_E_INVALID,
                     "%s holds no sample: give a file with one JSON object a line, for example "
                     "{\"id\":\"a\",\"path\":\"a.flac\",\"format\":\"flac\"}",
                     set->name);
}

static as_status parse(struct reading *reading, const struct audio_text *text, struct as_error *err)
{
    static const char *const members[] = {"id", "path", "url", "format", "duration", NULL};
    struct audio_set *set = reading->set;
    struct audio_line_reader reader = {.members = members, .take = take, .context = reading};
    as_status status = audio_lines_read(text, &reader, &set->lines, err);
    if (status == AS_OK)
        status = check_result(set, err);
    if (status == AS_OK && digest_bytes(text->at, text->len, set->manifest_digest) != AS_OK)
        status = error_set(err, AS_E_NOMEM, "%s: no memory for its digest", set->name);
    return status;
}

as_status audio_set_parse(const struct audio_text *text, const char *folder, struct audio_set *ret,
                          struct as_error *err)
{
    struct audio_set set = {0};
    struct reading reading = {.set = &set, .slot_mask = 63};
    arena_init(&set.arena, 0, 0);
    set.name = arena_strdup(&set.arena, text->name);
    set.folder = arena_strdup(&set.arena, folder);
    as_status status =
        set.name && set.folder ? parse(&reading, text, err) : error_set(err, AS_E_NOMEM, "no memory for the samples");
    free(reading.slots);
    if (status != AS_OK) {
        audio_set_done(&set);
        return status;
    }
    *ret = set;
    return AS_OK;
}

static as_status download(const char *url, const struct audio_manifest_options *options, struct strbuf *out,
                          struct as_error *err)
{
    struct fetch_request request = {
        .url = url,
        .timeout_ns = MANIFEST_TIMEOUT_NS,
        .max_bytes = AUDIO_MANIFEST_MAX_BYTES,
        .ca_cert = options->ca_cert,
        .proxy = options->proxy,
        .insecure = options->insecure,
    };
    struct fetch_reply reply;
    as_status status = fetch_run(&request, &reply, err);
    if (status == AS_OK && reply.status != 200)
        status = error_set(err, AS_E_NETWORK, "%s answered with status %d", reply.url, reply.status);
    else if (status == AS_OK)
        strbuf_add(out, reply.body.data, reply.body.len);
    else
        return error_prefix(err, "the manifest could not be fetched");
    fetch_reply_done(&reply);
    if (status != AS_OK)
        return error_prefix(err, "the manifest could not be fetched");
    return strbuf_status(out) == AS_OK ? AS_OK : error_set(err, strbuf_status(out), "the manifest is too large");
}

as_status audio_set_load(const char *source, const struct audio_manifest_options *options, struct audio_set *ret,
                         struct as_error *err)
{
    AS_AUTO_STRBUF struct strbuf bytes;
    char folder[PATH_MAX] = ".";
    bool is_url = fetch_is_url(source), is_stdin = strcmp(source, "-") == 0;
    strbuf_init(&bytes, AUDIO_MANIFEST_MAX_BYTES);
    if (!is_url && !is_stdin && !path_dir(folder, sizeof folder, source))
        return error_set(err, AS_E_INVALID, "%.200s: the path is too long", source);
    as_status status = is_url ? download(source, options, &bytes, err) : file_read(source, &bytes, err);
    if (status != AS_OK)
        return status;
    struct audio_text text = {strbuf_text(&bytes), bytes.len, is_stdin ? "standard input" : source,
                              options->skip_bad_lines};
    return audio_set_parse(&text, folder, ret, err);
}

struct audio_set_counts audio_set_count(const struct audio_set *set)
{
    struct audio_set_counts counts = {0};
    for (size_t i = 0; i < set->count; i++) {
        const struct audio_sample *sample = &set->items[i];
        bool is_fine = !sample->failure;
        counts.failed += !is_fine;
        counts.mislabelled += is_fine && sample->is_mislabelled;
        counts.misstated += is_fine && sample->is_misstated;
        counts.without_duration += is_fine && sample->duration_ns < 0;
        counts.from_cache += sample->url && sample->is_from_cache;
        counts.downloaded += sample->url && !sample->is_from_cache && is_fine;
        counts.read_when_sent += is_fine && !sample->data;
        if (!is_fine && !counts.first_failed)
            counts.first_failed = sample;
        if (is_fine && sample->is_mislabelled && !counts.first_mislabelled)
            counts.first_mislabelled = sample;
        if (is_fine && sample->is_misstated && !counts.first_misstated)
            counts.first_misstated = sample;
    }
    return counts;
}
