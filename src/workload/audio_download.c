/* SPDX-License-Identifier: Apache-2.0 */
#include "workload/audio.h"

#include "base/file.h"
#include "fetch/fetch.h"

#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PARALLEL_DEFAULT   4
#define PARALLEL_MAX       64
#define TIMEOUT_DEFAULT_NS (INT64_C(600) * 1000000000)

/* Downloads under way; `lock` guards everything that changes. */
struct download {
    struct audio_set *set;
    const struct audio_fetch_options *options;
    size_t *wanted; /* indexes of samples, one a URL */
    size_t count, next, done;
    as_status status;
    pthread_mutex_t lock;
};

const char *audio_cache_folder(struct arena *arena)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (cache && cache[0] == '/')
        return arena_printf(arena, "%s/assay/audio", cache);
    if (home && home[0] == '/')
        return arena_printf(arena, "%s/.cache/assay/audio", home);
    return arena_printf(arena, "/tmp/assay-%u/audio", (unsigned)getuid());
}

/* Query strings may hold secrets: the name of a file in the cache is the URL's digest, with a short ending that is
 * kept. */
static as_status name_file(struct audio_set *set, struct audio_sample *sample, const char *folder)
{
    char digest[DIGEST_TEXT_BYTES];
    as_status status = digest_bytes(sample->url, strlen(sample->url), digest);
    if (status != AS_OK)
        return status;
    enum audio_format format = audio_format_of_path(sample->url);
    sample->path = arena_printf(&set->arena, "%s/%s%s%s", folder, digest, format == AUDIO_UNKNOWN ? "" : ".",
                                format == AUDIO_UNKNOWN ? "" : audio_format_name(format));
    return sample->path ? AS_OK : AS_E_NOMEM;
}

static bool is_cached(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && S_ISREG(about.st_mode) && about.st_size > 0;
}

static void take_one(struct download *download, size_t index)
{
    const struct audio_fetch_options *options = download->options;
    struct audio_sample *sample = &download->set->items[index];
    struct fetch_request request = {
        .url = sample->url,
        .timeout_ns = options->timeout_ns ? options->timeout_ns : TIMEOUT_DEFAULT_NS,
        .max_bytes = options->max_bytes ? options->max_bytes : AUDIO_FILE_MAX_BYTES,
        .ca_cert = options->ca_cert,
        .proxy = options->proxy,
        .insecure = options->insecure,
        .output_path = sample->path,
    };
    struct fetch_reply reply = {0};
    struct as_error why = {0};
    as_status status = fetch_run(&request, &reply, &why);
    if (status == AS_OK && reply.status / 100 != 2)
        status = error_set(&why, AS_E_NETWORK, "%.300s answered with status %d", reply.url, reply.status);
    pthread_mutex_lock(&download->lock);
    if (status == AS_E_NOMEM || status == AS_E_NOTFOUND)
        download->status = status;
    if (status != AS_OK)
        sample->failure = arena_printf(&download->set->arena, "the download failed: %s", why.message);
    if (status != AS_OK && !sample->failure)
        download->status = AS_E_NOMEM;
    pthread_mutex_unlock(&download->lock);
    if (status == AS_OK || reply.status)
        fetch_reply_done(&reply);
}

static void *worker(void *argument)
{
    struct download *download = argument;
    const struct audio_progress *progress = &download->options->progress;
    for (;;) {
        pthread_mutex_lock(&download->lock);
        bool is_over = download->next == download->count || download->status != AS_OK;
        size_t index = is_over ? 0 : download->wanted[download->next++];
        pthread_mutex_unlock(&download->lock);
        if (is_over)
            return NULL;
        take_one(download, index);
        pthread_mutex_lock(&download->lock);
        download->done++;
        if (progress->show)
            progress->show(progress->context, "downloaded", download->done, download->count);
        pthread_mutex_unlock(&download->lock);
    }
}

static void run_workers(struct download *download)
{
    pthread_t threads[PARALLEL_MAX];
    size_t started = 0, wanted = download->options->parallel ? download->options->parallel : PARALLEL_DEFAULT;
    wanted = wanted < PARALLEL_MAX ? wanted : PARALLEL_MAX;
    wanted = wanted < download->count ? wanted : download->count;
    while (started + 1 < wanted && pthread_create(&threads[started], NULL, worker, download) == 0)
        started++;
    worker(download);
    for (size_t i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
}

/* By URL, then by place. */
static int by_url(const void *a, const void *b, void *context)
{
    const struct audio_sample *items = context;
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    int order = strcmp(items[x].url, items[y].url);
    return order ? order : (x > y) - (x < y);
}

/* Of samples with the same URL the first is fetched; the others share its fate. */
static void share(struct download *download, const size_t *sorted, size_t count)
{
    struct audio_sample *items = download->set->items;
    for (size_t i = 1; i < count; i++) {
        struct audio_sample *before = &items[sorted[i - 1]], *sample = &items[sorted[i]];
        if (strcmp(before->url, sample->url) == 0) {
            sample->failure = before->failure;
            sample->is_from_cache = true;
        }
    }
}

static as_status list(struct download *download, const char *folder, size_t *sorted, size_t *ret_count)
{
    struct audio_set *set = download->set;
    size_t count = 0;
    for (size_t i = 0; i < set->count; i++) {
        if (!set->items[i].url)
            continue;
        as_status status = name_file(set, &set->items[i], folder);
        if (status != AS_OK)
            return status;
        sorted[count++] = i;
    }
    qsort_r(sorted, count, sizeof *sorted, by_url, set->items);
    for (size_t i = 0; i < count; i++) {
        struct audio_sample *sample = &set->items[sorted[i]];
        bool is_first = i == 0 || strcmp(set->items[sorted[i - 1]].url, sample->url) != 0;
        sample->is_from_cache = is_cached(sample->path);
        if (is_first && !sample->is_from_cache)
            download->wanted[download->count++] = sorted[i];
    }
    *ret_count = count;
    return AS_OK;
}

static as_status fetch_all(struct download *download, size_t *sorted, struct as_error *err)
{
    const char *folder = download->options->cache_folder;
    size_t count = 0;
    if (!folder)
        folder = audio_cache_folder(&download->set->arena);
    if (!folder || list(download, folder, sorted, &count) != AS_OK)
        return AS_E_NOMEM;
    if (download->count > 0) {
        as_status status = file_make_dirs(folder, err);
        if (status != AS_OK)
            return status;
        run_workers(download);
    }
    share(download, sorted, count);
    if (download->status == AS_E_NOTFOUND)
        return error_set(err, AS_E_NOTFOUND, "audio files cannot be fetched: assay-fetch is not installed");
    return download->status;
}

as_status audio_set_fetch(struct audio_set *set, const struct audio_fetch_options *options, struct as_error *err)
{
    struct download download = {.set = set, .options = options, .lock = PTHREAD_MUTEX_INITIALIZER};
    size_t *sorted = calloc(set->count + 1, sizeof *sorted);
    download.wanted = calloc(set->count + 1, sizeof *download.wanted);
    as_status status = sorted && download.wanted ? fetch_all(&download, sorted, err) : AS_E_NOMEM;
    free(sorted);
    free(download.wanted);
    pthread_mutex_destroy(&download.lock);
    if (status == AS_E_NOMEM)
        error_set(err, status, "no memory for the downloads");
    return status;
}
