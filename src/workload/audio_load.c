/* SPDX-License-Identifier: Apache-2.0 */
#include "workload/audio.h"

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define STEP_SHOWN 16
#define READ_BYTES ((size_t)64 * 1024)

/* The bytes of one file. */
struct audio_store {
    struct audio_store *next;
    struct strbuf bytes;
};

void audio_set_done(struct audio_set *set)
{
    for (struct audio_store *store = set->stores; store;) {
        struct audio_store *next = store->next;
        strbuf_done(&store->bytes);
        free(store);
        store = next;
    }
    free(set->items);
    arena_done(&set->arena);
    *set = (struct audio_set){0};
}

static as_status read_all(int fd, struct strbuf *ret)
{
    struct stat about;
    /* One byte more than there is, so that the end is met without growing. */
    if (fstat(fd, &about) == 0 && about.st_size > 0 && !strbuf_reserve(ret, (size_t)about.st_size + 1))
        return strbuf_status(ret);
    for (;;) {
        if (ret->capacity <= ret->len + 1 && !strbuf_reserve(ret, READ_BYTES))
            return strbuf_status(ret);
        ssize_t got = read(fd, ret->data + ret->len, ret->capacity - ret->len - 1);
        if (got == 0)
            return AS_OK;
        if (got < 0 && errno != EINTR)
            return AS_E_IO;
        ret->len += got > 0 ? (size_t)got : 0;
        ret->data[ret->len] = '\0';
    }
}

as_status audio_file_read(const char *path, struct strbuf *ret, struct as_error *err)
{
    struct stat about;
    /* Not blocking: a pipe without a writer must not hold the run. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return error_set_errno(err, errno, "%.300s", path);
    as_status status = AS_OK;
    if (fstat(fd, &about) != 0)
        status = error_set_errno(err, errno, "%.300s", path);
    else if (!S_ISREG(about.st_mode))
        status = error_set(err, AS_E_INVALID, "%.300s: it is no file", path);
    if (status == AS_OK) {
        status = read_all(fd, ret);
        if (status == AS_E_IO)
            error_set_errno(err, errno, "%.300s", path);
        else if (status != AS_OK)
            error_set(err, status, "%.300s: %s", path,
                      status == AS_E_LIMIT ? "the file is too large" : "no memory for the file");
    }
    close(fd);
    if (status == AS_OK && ret->len == 0)
        return error_set(err, AS_E_INVALID, "%.300s: the file is empty", path);
    return status;
}

static as_status keep(struct audio_set *set, struct audio_sample *sample, struct strbuf *bytes)
{
    struct audio_store *store = calloc(1, sizeof *store);
    if (!store)
        return AS_E_NOMEM;
    store->bytes = *bytes;
    store->next = set->stores;
    set->stores = store;
    sample->data = store->bytes.data;
    set->held_bytes += bytes->len;
    *bytes = (struct strbuf){0};
    return AS_OK;
}

static void look_at(struct audio_sample *sample, const struct strbuf *bytes)
{
    sample->bytes = bytes->len;
    sample->contents = audio_sniff(bytes->data, bytes->len);
    if (sample->format == AUDIO_UNKNOWN)
        sample->format = sample->contents;
    sample->is_mislabelled = !audio_format_matches(sample->format, sample->contents);
}

static as_status fail(struct audio_set *set, struct audio_sample *sample, const char *reason)
{
    sample->failure = arena_strdup(&set->arena, reason);
    return sample->failure ? AS_OK : AS_E_NOMEM;
}

static as_status read_one(struct audio_set *set, struct audio_sample *sample, size_t memory_bytes,
                          struct digest *digest)
{
    struct as_error why = {0};
    AS_AUTO_STRBUF struct strbuf bytes;
    strbuf_init(&bytes, AUDIO_FILE_MAX_BYTES);
    struct mono begun = mono_now();
    as_status status = audio_file_read(sample->path, &bytes, &why);
    sample->read_ns = mono_diff_ns(mono_now(), begun);
    if (status == AS_E_NOMEM)
        return status;
    if (status != AS_OK)
        return fail(set, sample, why.message);
    look_at(sample, &bytes);
    if (sample->format == AUDIO_UNKNOWN)
        return fail(set, sample,
                    "no format is given, and neither name nor bytes tell it: give \"format\" in the manifest");
    status = digest_add_length(digest, bytes.len);
    if (status == AS_OK)
        status = digest_add(digest, bytes.data, bytes.len);
    if (status == AS_OK && bytes.len <= memory_bytes && set->held_bytes <= memory_bytes - bytes.len)
        status = keep(set, sample, &bytes);
    return status;
}

static as_status read_files(struct audio_set *set, size_t memory_bytes, const struct audio_progress *progress,
                            struct digest *digest)
{
    for (size_t i = 0; i < set->count; i++) {
        as_status status = set->items[i].failure ? AS_OK : read_one(set, &set->items[i], memory_bytes, digest);
        if (status != AS_OK)
            return status;
        if (progress && progress->show && ((i + 1) % STEP_SHOWN == 0 || i + 1 == set->count))
            progress->show(progress->context, "read", i + 1, set->count);
    }
    return AS_OK;
}

as_status audio_set_read(struct audio_set *set, size_t memory_bytes, const struct audio_progress *progress,
                         struct as_error *err)
{
    struct digest digest;
    as_status status = digest_init(&digest);
    if (status == AS_OK) {
        status = read_files(set, memory_bytes, progress, &digest);
        if (status == AS_OK)
            status = digest_finish(&digest, set->audio_digest);
        else
            digest_abandon(&digest);
    }
    if (status != AS_OK)
        return error_set(err, status, "no memory for the audio files");
    struct audio_set_counts counts = audio_set_count(set);
    if (counts.failed == (int64_t)set->count)
        return error_set(err, AS_E_INVALID, "%s: no sample can be sent; the first, line %lld: %.300s", set->name,
                         (long long)counts.first_failed->line, counts.first_failed->failure);
    return AS_OK;
}
