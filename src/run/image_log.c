/* SPDX-License-Identifier: Apache-2.0 */
#include "run/image_log.h"

#include "base/file.h"
#include "base/json.h"
#include "measure/records.h"
#include "measure/writer.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIECE_BYTES  65536
#define RESPONSE_END ".response.json"

static as_status no_memory(struct as_error *err)
{
    return error_set(err, AS_E_NOMEM, "out of memory");
}

/* ---- reading ---- */

static bool copy_member(struct arena *arena, const struct json_value *object, const char *name, const char **ret)
{
    const char *text;
    *ret = NULL;
    if (!json_string(json_get(object, name), &text))
        return true;
    *ret = arena_strdup(arena, text);
    return *ret != NULL;
}

static struct image_entry *add_entry(struct image_log *log)
{
    if (log->count == log->capacity) {
        size_t capacity = log->capacity ? log->capacity * 2 : 256;
        struct image_entry *entries = realloc(log->entries, capacity * sizeof *entries);
        if (!entries)
            return NULL;
        log->entries = entries;
        log->capacity = capacity;
    }
    log->entries[log->count] = (struct image_entry){.index = -1, .bytes = -1};
    return &log->entries[log->count++];
}

static bool take_artifact(struct image_log *log, const struct json_value *artifact, int64_t seq, const char *request)
{
    struct image_entry *entry = add_entry(log);
    if (!entry)
        return false;
    entry->seq = seq;
    entry->request = request;
    (void)json_int64(json_get(artifact, "index"), &entry->index);
    (void)json_int64(json_get(artifact, "bytes"), &entry->bytes);
    return copy_member(&log->arena, artifact, "path", &entry->path) &&
           copy_member(&log->arena, artifact, "sha256", &entry->sha256);
}

/* The text of the member `request`, where it stands in the block. */
static const char *request_text(struct image_log *log, const struct record_text *block,
                                const struct json_value *request)
{
    if (!request || request->type != JSON_OBJECT)
        return "";
    struct json_cursor cursor;
    const char *start = block->at + request->offset;
    json_cursor_init(&cursor, start, block->len - (size_t)request->offset);
    return json_skip(&cursor) ? arena_strndup(&log->arena, start, (size_t)(cursor.at - start)) : "";
}

static as_status take(void *context, const struct request_record *record)
{
    struct image_log *log = context;
    const struct json_value *block;
    struct arena scratch;
    log->records++;
    if (!record->modality_json.at)
        return AS_OK;
    arena_init(&scratch, 0, 0);
    as_status status = json_parse(record->modality_json.at, record->modality_json.len, NULL, &scratch, &block, NULL);
    if (status == AS_OK) {
        const struct json_value *list = json_get(block, "artifacts");
        const char *request = request_text(log, &record->modality_json, json_get(block, "request"));
        const struct json_value *each = list && list->type == JSON_ARRAY ? list->first : NULL;
        bool is_fine = request != NULL;
        for (; each && is_fine; each = each->next)
            is_fine = take_artifact(log, each, record->seq, request);
        status = is_fine ? AS_OK : AS_E_NOMEM;
    }
    arena_done(&scratch);
    return status;
}

static int by_place(const void *a, const void *b)
{
    const struct image_entry *x = a, *y = b;
    if (x->seq != y->seq)
        return x->seq < y->seq ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static as_status find_file(struct image_log *log, const char *place, const char **ret_file, struct as_error *err)
{
    struct stat st;
    char folder[PATH_MAX];
    if (stat(place, &st) != 0)
        return error_set_errno(err, errno, "%.300s", place);
    if (S_ISDIR(st.st_mode)) {
        log->folder = arena_strdup(&log->arena, place);
        *ret_file = arena_printf(&log->arena, "%s/" RECORD_FILE, place);
    } else {
        if (!path_dir(folder, sizeof folder, place))
            return error_set(err, AS_E_LIMIT, "%.200s: the path is too long", place);
        log->folder = arena_strdup(&log->arena, folder);
        *ret_file = place;
    }
    return log->folder && *ret_file ? AS_OK : no_memory(err);
}

as_status image_log_read(const char *place, struct image_log *ret, struct as_error *err)
{
    struct image_log log = {0};
    struct records_found found;
    const struct record_context context = {.tool = "imagegen"};
    const struct record_consumer consumer = {&log, take};
    const char *file = NULL;
    arena_init(&log.arena, 0, 0);
    as_status status = find_file(&log, place, &file, err);
    if (status == AS_OK)
        status = records_read(file, &context, &consumer, &found, err);
    if (status != AS_OK) {
        image_log_done(&log);
        return status;
    }
    if (log.count)
        qsort(log.entries, log.count, sizeof *log.entries, by_place);
    *ret = log;
    return AS_OK;
}

void image_log_done(struct image_log *log)
{
    free(log->entries);
    log->entries = NULL;
    log->count = log->capacity = 0;
    arena_done(&log->arena);
}

/* ---- hashing ---- */

static bool hash_file(int fd, char ret_digest[DIGEST_TEXT_BYTES])
{
    char piece[PIECE_BYTES];
    struct digest digest;
    if (digest_init(&digest) != AS_OK)
        return false;
    for (;;) {
        ssize_t got = read(fd, piece, sizeof piece);
        if (got < 0 && errno == EINTR)
            continue;
        if (got == 0)
            return digest_finish(&digest, ret_digest) == AS_OK;
        if (got < 0 || digest_add(&digest, piece, (size_t)got) != AS_OK)
            break;
    }
    digest_abandon(&digest);
    return false;
}

/* Where the file of an entry with a path is. */
static bool find_place(const struct image_log *log, const struct image_entry *entry, char ret[PATH_MAX])
{
    const char *slash = strrchr(entry->path, '/');
    if (!log->moved)
        return path_join(ret, PATH_MAX, log->folder, entry->path);
    return path_join(ret, PATH_MAX, log->moved, slash ? slash + 1 : entry->path);
}

enum image_state image_log_check(const struct image_log *log, const struct image_entry *entry,
                                 char ret_digest[DIGEST_TEXT_BYTES])
{
    char path[PATH_MAX];
    ret_digest[0] = '\0';
    if (!entry->path)
        return IMAGE_NOT_SAVED;
    if (!find_place(log, entry, path))
        return IMAGE_UNREADABLE;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
    if (fd < 0)
        return errno == ENOENT ? IMAGE_MISSING : IMAGE_UNREADABLE;
    bool is_hashed = hash_file(fd, ret_digest);
    close(fd);
    if (!is_hashed)
        return IMAGE_UNREADABLE;
    return entry->sha256 && strcmp(entry->sha256, ret_digest) == 0 ? IMAGE_SAME : IMAGE_DIFFERS;
}

/* ---- files without a record ---- */

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool ends_with(const char *text, const char *end)
{
    size_t len = strlen(text), end_len = strlen(end);
    return len >= end_len && strcmp(text + len - end_len, end) == 0;
}

/* The files of one folder that are not among the `count` sorted names. */
static void look_into(const char *folder, const char **names, size_t count,
                      void (*found)(void *context, const char *path), void *context)
{
    DIR *stream = opendir(folder);
    char path[PATH_MAX];
    struct stat st;
    for (const struct dirent *entry; stream && (entry = readdir(stream));) {
        const char *name = path;
        if (!path_join(path, sizeof path, folder, entry->d_name) || lstat(path, &st) != 0 || !S_ISREG(st.st_mode))
            continue;
        if (!ends_with(path, RESPONSE_END) && !bsearch(&name, names, count, sizeof *names, by_text))
            found(context, path);
    }
    if (stream)
        closedir(stream);
}

as_status image_log_find_unnamed(const struct image_log *log, void (*found)(void *context, const char *path),
                                 void *context)
{
    const char **names = calloc(log->count + 1, sizeof *names);
    struct arena arena;
    size_t count = 0;
    char path[PATH_MAX], folder[PATH_MAX], last[PATH_MAX] = "";
    if (!names)
        return AS_E_NOMEM;
    arena_init(&arena, 0, 0);
    as_status status = AS_OK;
    for (size_t i = 0; i < log->count && status == AS_OK; i++) {
        if (!log->entries[i].path || !find_place(log, &log->entries[i], path))
            continue;
        names[count] = arena_strdup(&arena, path);
        status = names[count++] ? AS_OK : AS_E_NOMEM;
    }
    if (status == AS_OK)
        qsort(names, count, sizeof *names, by_text);
    for (size_t i = 0; i < count && status == AS_OK; i++) {
        if (!path_dir(folder, sizeof folder, names[i]) || strcmp(folder, last) == 0)
            continue;
        look_into(folder, names, count, found, context);
        memcpy(last, folder, strlen(folder) + 1);
    }
    arena_done(&arena);
    free(names);
    return status;
}

/* ---- two runs ---- */

/* An image, by the body that asked for it and how often that had been sent before. */
struct keyed {
    const struct image_entry *entry;
    int64_t turn;
};

static int by_key(const void *a, const void *b)
{
    const struct keyed *x = a, *y = b;
    int order = strcmp(x->entry->request, y->entry->request);
    if (order)
        return order;
    if (x->turn != y->turn)
        return x->turn < y->turn ? -1 : 1;
    return (x->entry->index > y->entry->index) - (x->entry->index < y->entry->index);
}

/* Before turns are known: by body, then by request. */
static int by_body(const void *a, const void *b)
{
    const struct keyed *x = a, *y = b;
    int order = strcmp(x->entry->request, y->entry->request);
    return order ? order : by_place(x->entry, y->entry);
}

static struct keyed *make_keys(const struct image_log *log)
{
    struct keyed *keys = calloc(log->count + 1, sizeof *keys);
    if (!keys)
        return NULL;
    for (size_t i = 0; i < log->count; i++)
        keys[i].entry = &log->entries[i];
    qsort(keys, log->count, sizeof *keys, by_body);
    for (size_t i = 1; i < log->count; i++) {
        const struct image_entry *last = keys[i - 1].entry, *this = keys[i].entry;
        bool is_same_body = strcmp(last->request, this->request) == 0;
        keys[i].turn = is_same_body ? keys[i - 1].turn + (last->seq != this->seq) : 0;
    }
    qsort(keys, log->count, sizeof *keys, by_key);
    return keys;
}

/* The digests of a log in order, each once; *ret_images is how many images have one. */
static const char **make_digests(const struct image_log *log, int64_t *ret_images, int64_t *ret_distinct)
{
    const char **digests = calloc(log->count + 1, sizeof *digests);
    size_t count = 0, distinct = 0;
    if (!digests)
        return NULL;
    for (size_t i = 0; i < log->count; i++)
        if (log->entries[i].sha256)
            digests[count++] = log->entries[i].sha256;
    qsort(digests, count, sizeof *digests, by_text);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || strcmp(digests[i], digests[distinct - 1]) != 0)
            digests[distinct++] = digests[i];
    *ret_images = (int64_t)count;
    *ret_distinct = (int64_t)distinct;
    return digests;
}

static void count_shared(const char *const *a, const char *const *b, struct image_comparison *ret)
{
    for (int64_t i = 0, j = 0; i < ret->distinct[0] && j < ret->distinct[1];) {
        int order = strcmp(a[i], b[j]);
        ret->shared += order == 0;
        i += order <= 0;
        j += order >= 0;
    }
}

static bool are_equal(const struct image_entry *a, const struct image_entry *b)
{
    return a->sha256 && b->sha256 && strcmp(a->sha256, b->sha256) == 0;
}

struct pair {
    const struct image_entry *a, *b;
};

static int by_first(const void *a, const void *b)
{
    return by_place(((const struct pair *)a)->a, ((const struct pair *)b)->a);
}

/* The pairs in the order of the first log; their number. */
static size_t make_pairs(const struct keyed *a, size_t a_count, const struct keyed *b, size_t b_count, struct pair *ret)
{
    size_t count = 0;
    for (size_t i = 0, j = 0; i < a_count && j < b_count;) {
        int order = by_key(&a[i], &b[j]);
        if (order == 0)
            ret[count++] = (struct pair){a[i].entry, b[j].entry};
        i += order <= 0;
        j += order >= 0;
    }
    qsort(ret, count, sizeof *ret, by_first);
    return count;
}

as_status image_log_compare(const struct image_log *a, const struct image_log *b,
                            void (*pair)(void *context, const struct image_entry *a, const struct image_entry *b),
                            void *context, struct image_comparison *ret)
{
    struct image_comparison comparison = {0};
    struct keyed *a_keys = make_keys(a), *b_keys = make_keys(b);
    const char **a_digests = make_digests(a, &comparison.images[0], &comparison.distinct[0]);
    const char **b_digests = make_digests(b, &comparison.images[1], &comparison.distinct[1]);
    struct pair *pairs = calloc(a->count + 1, sizeof *pairs);
    bool has_memory = a_keys && b_keys && a_digests && b_digests && pairs;
    if (has_memory) {
        count_shared(a_digests, b_digests, &comparison);
        size_t count = make_pairs(a_keys, a->count, b_keys, b->count, pairs);
        comparison.pairs = (int64_t)count;
        for (size_t i = 0; i < count; i++) {
            comparison.equal += are_equal(pairs[i].a, pairs[i].b);
            if (pair)
                pair(context, pairs[i].a, pairs[i].b);
        }
        *ret = comparison;
    }
    free(a_keys);
    free(b_keys);
    free(a_digests);
    free(b_digests);
    free(pairs);
    return has_memory ? AS_OK : AS_E_NOMEM;
}
