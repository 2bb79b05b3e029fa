/* SPDX-License-Identifier: Apache-2.0 */
/*
 * assay-media: measures audio files with libsndfile and libmpg123. Standard input: a path a line, as a JSON string or
 * bare. Standard output: for each, in the same order and written at once, a JSON object on one line: path, format,
 * duration_ns, sample_rate_hz, channels, library, reason (null where there is nothing to say).
 */
#include "base/arena.h"
#include "base/file.h"
#include "base/json.h"
#include "base/json_write.h"
#include "media/audio_probe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void put_known(struct json_writer *writer, const char *name, int64_t value)
{
    if (value < 0)
        json_member_null(writer, name);
    else
        json_member_int(writer, name, value);
}

static as_status answer(const char *path, const struct audio_probe *probe, struct strbuf *out)
{
    struct json_writer writer;
    strbuf_reset(out);
    json_writer_init(&writer, out, 0);
    json_open_object(&writer);
    json_member_string(&writer, "path", path);
    json_member_string(&writer, "format", probe->format == AUDIO_UNKNOWN ? NULL : audio_format_name(probe->format));
    put_known(&writer, "duration_ns", probe->duration_ns);
    put_known(&writer, "sample_rate_hz", probe->sample_rate_hz);
    put_known(&writer, "channels", probe->channels);
    json_member_string(&writer, "library", probe->library);
    json_member_string(&writer, "reason", probe->reason[0] ? probe->reason : NULL);
    json_close_object(&writer);
    strbuf_addc(out, '\n');
    as_status status = json_writer_status(&writer);
    return status == AS_OK ? file_write_all(STDOUT_FILENO, out->data, out->len) : status;
}

/* The path of a line: itself, or what the JSON string says; NULL when that is none. */
static const char *path_of(const char *line, size_t len, struct arena *arena)
{
    const struct json_value *value;
    const char *text;
    if (len == 0 || line[0] != '"')
        return line;
    if (json_parse(line, len, NULL, arena, &value, NULL) != AS_OK || !json_string(value, &text))
        return NULL;
    return strlen(text) == value->len ? text : NULL;
}

static as_status take_line(char *line, size_t len, struct arena *arena, struct strbuf *out)
{
    struct audio_probe probe = {.format = AUDIO_UNKNOWN, .duration_ns = -1, .sample_rate_hz = -1, .channels = -1};
    const char *path = path_of(line, len, arena);
    if (path)
        audio_probe_file(path, &probe);
    else
        snprintf(probe.reason, sizeof probe.reason, "the line is no path");
    return answer(path ? path : line, &probe, out);
}

int main(void)
{
    struct arena arena;
    struct strbuf out;
    char *line = NULL;
    size_t capacity = 0;
    ssize_t len;
    as_status status = AS_OK;
    arena_init(&arena, 0, 0);
    strbuf_init(&out, 0);
    while (status == AS_OK && (len = getline(&line, &capacity, stdin)) >= 0) {
        if (len > 0 && line[len - 1] == '\n')
            line[--len] = '\0';
        status = take_line(line, (size_t)len, &arena, &out);
        arena_reset(&arena);
    }
    free(line);
    strbuf_done(&out);
    arena_done(&arena);
    return status_exit_code(status);
}
