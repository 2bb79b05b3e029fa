/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/journal.h"

#include "base/clock.h"
#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define RING_MAGIC        UINT64_C(0x31474E4952534141) /* "AASRING1" */
#define RING_HEADER_BYTES ((size_t)4096)
#define RING_BYTES_MIN    ((size_t)64 * 1024)
#define RINGS_MAX         4096
/* Length of a frame that only fills the ring up to its end. */
#define FRAME_FILLER UINT32_MAX
#define FULL_WAIT_NS (INT64_C(50) * NS_PER_US)
#define RESERVE_FILE "reserve"

/* The first page of a ring file. Producer and consumer write to lines of their own. */
struct ring_header {
    uint64_t magic;
    uint64_t layout;   /* of struct request_record in this build */
    uint64_t capacity; /* bytes after the header */
    _Alignas(64) _Atomic uint64_t head;
    _Atomic uint64_t full_waits;
    _Alignas(64) _Atomic uint64_t tail;
};
_Static_assert(sizeof(struct ring_header) <= RING_HEADER_BYTES, "the header fits its page");

/* Before each record; frames start at multiples of 8. */
struct frame {
    uint32_t len; /* bytes of the record that follow, or FRAME_FILLER */
    uint32_t checksum;
};

struct ring {
    _Alignas(64) struct ring_header *header; /* NULL = no such ring */
    char *data;
    uint64_t capacity;
    uint64_t seen_tail; /* producer's last look at tail */
    uint64_t wake_at;   /* the head at which the producer looks whether the ring is half full */
    bool is_holding;    /* journal_has_room said no */
    bool is_damaged;
    const char *damage; /* why a left ring cannot be read at all, NULL = it can */
};

struct journal {
    char path[PATH_MAX]; /* of its folder */
    int folder_fd;
    uint32_t count;
    bool is_left_over; /* of a killed run: frames are checked */
    _Atomic bool is_given_up;
    sem_t half_full;
    struct ring *rings;
};

/* Changes when the record's layout does. */
static uint64_t record_layout(void)
{
    return sizeof(struct request_record) << 32 ^ offsetof(struct request_record, attempts) << 16 ^
           offsetof(struct request_record, error_message) ^ sizeof(struct record_attempt) << 48;
}

/* ---- a record as bytes ---- */

#define TEXT_COUNT 7

static void text_fields(struct request_record *record, struct record_text *ret[TEXT_COUNT])
{
    ret[0] = &record->gaps;
    ret[1] = &record->error_message;
    ret[2] = &record->modality_json;
    ret[3] = &record->tool_arguments;
    ret[4] = &record->reasoning;
    ret[5] = &record->content;
    ret[6] = &record->shared_chunks;
}

static uint64_t align8(uint64_t bytes)
{
    return (bytes + 7) & ~UINT64_C(7);
}

static size_t fixed_bytes(uint32_t attempts)
{
    return offsetof(struct request_record, attempts) + attempts * sizeof(struct record_attempt);
}

static size_t text_bytes(struct request_record *record)
{
    struct record_text *texts[TEXT_COUNT];
    size_t bytes = 0;
    text_fields(record, texts);
    for (int i = 0; i < TEXT_COUNT; i++)
        bytes += texts[i]->at ? texts[i]->len : 0;
    return bytes;
}

/* Both halves of the 128-bit product, joined. */
static inline uint64_t folded(uint64_t a, uint64_t b)
{
    __extension__ const unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Two lanes of folded products, so that they overlap in the processor. */
static uint32_t checksum_of(const char *data, size_t len)
{
    const uint64_t key[2] = {UINT64_C(0x9E3779B97F4A7C15), UINT64_C(0xD1B54A32D192ED03)};
    uint64_t lanes[2] = {len ^ key[1], len ^ key[0]}, words[4] = {0};
    size_t whole = len / sizeof words * sizeof words;
    for (size_t i = 0; i < whole; i += sizeof words) {
        memcpy(words, data + i, sizeof words);
        lanes[0] = folded(lanes[0] ^ words[0], key[0] ^ words[1]);
        lanes[1] = folded(lanes[1] ^ words[2], key[1] ^ words[3]);
    }
    memset(words, 0, sizeof words);
    memcpy(words, data + whole, len - whole);
    lanes[0] = folded(lanes[0] ^ words[0], key[0] ^ words[1]);
    lanes[1] = folded(lanes[1] ^ words[2], key[1] ^ words[3]);
    uint64_t sum = folded(lanes[0] ^ key[1], lanes[1] ^ key[0]);
    return (uint32_t)(sum ^ sum >> 32);
}

/* Drops texts, the largest kinds first, until the frame is at most half the ring. */
static void shorten(struct request_record *record, size_t room)
{
    struct record_text *texts[TEXT_COUNT];
    text_fields(record, texts);
    for (int i = TEXT_COUNT - 1; i >= 0 && fixed_bytes(record->attempt_count) + text_bytes(record) > room; i--) {
        if (texts[i]->at && texts[i]->len > 0)
            record->flags |= RECORD_FLAG_CONTENT_CUT;
        *texts[i] = (struct record_text){NULL, 0};
    }
}

static void encode(char *at, struct request_record *record, size_t padded)
{
    struct record_text *texts[TEXT_COUNT];
    size_t fixed = fixed_bytes(record->attempt_count), used = fixed;
    text_fields(record, texts);
    memcpy(at, record, fixed);
    for (int i = 0; i < TEXT_COUNT; i++) {
        if (!texts[i]->at)
            continue;
        memcpy(at + used, texts[i]->at, texts[i]->len);
        used += texts[i]->len;
    }
    memset(at + used, 0, padded - used);
}

/* False when the bytes are no record. */
static bool decode(const char *data, size_t len, struct request_record *ret)
{
    struct record_text *texts[TEXT_COUNT];
    if (len < offsetof(struct request_record, attempts))
        return false;
    memcpy(ret, data, offsetof(struct request_record, attempts));
    if (ret->attempt_count > RECORD_ATTEMPTS_MAX || fixed_bytes(ret->attempt_count) > len)
        return false;
    memcpy(ret->attempts, data + offsetof(struct request_record, attempts), ret->attempt_count * sizeof *ret->attempts);
    ret->gap_stats = NULL;
    size_t used = fixed_bytes(ret->attempt_count);
    text_fields(ret, texts);
    for (int i = 0; i < TEXT_COUNT; i++) {
        if (!texts[i]->at)
            continue;
        if (texts[i]->len > len - used)
            return false;
        texts[i]->at = data + used;
        used += texts[i]->len;
    }
    return true;
}

/* ---- producing ---- */

static bool has_room(struct ring *ring, uint64_t head, uint64_t bytes)
{
    if (head + bytes - ring->seen_tail <= ring->capacity)
        return true;
    ring->seen_tail = atomic_load_explicit(&ring->header->tail, memory_order_acquire);
    return head + bytes - ring->seen_tail <= ring->capacity;
}

/* False when there will be none. */
static bool wait_for_room(struct journal *journal, struct ring *ring, uint64_t head, uint64_t bytes)
{
    if (has_room(ring, head, bytes))
        return true;
    atomic_fetch_add_explicit(&ring->header->full_waits, 1, memory_order_relaxed);
    do {
        if (atomic_load_explicit(&journal->is_given_up, memory_order_acquire))
            return false;
        journal_wake(journal);
        mono_sleep_until(mono_add_ns(mono_now(), FULL_WAIT_NS));
    } while (!has_room(ring, head, bytes));
    return true;
}

bool journal_has_room(struct journal *journal, uint32_t thread)
{
    struct ring *ring = &journal->rings[thread];
    uint64_t head = atomic_load_explicit(&ring->header->head, memory_order_relaxed);
    if (has_room(ring, head, ring->capacity / 4) ||
        atomic_load_explicit(&journal->is_given_up, memory_order_acquire)) {
        ring->is_holding = false;
        return true;
    }
    if (!ring->is_holding)
        atomic_fetch_add_explicit(&ring->header->full_waits, 1, memory_order_relaxed);
    ring->is_holding = true;
    journal_wake(journal);
    return false;
}

void journal_give_up(struct journal *journal)
{
    atomic_store_explicit(&journal->is_given_up, true, memory_order_release);
    unlinkat(journal->folder_fd, RESERVE_FILE, 0);
}

/* Wakes the consumer when it is, and again each eighth of a ring as long as that lasts. */
static void look_whether_half_full(struct journal *journal, struct ring *ring, uint64_t head)
{
    ring->seen_tail = atomic_load_explicit(&ring->header->tail, memory_order_acquire);
    if (head - ring->seen_tail < ring->capacity / 2) {
        ring->wake_at = ring->seen_tail + ring->capacity / 2;
        return;
    }
    journal_wake(journal);
    ring->wake_at = head + ring->capacity / 8;
}

bool journal_put(struct journal *journal, uint32_t thread, const struct request_record *record)
{
    struct ring *ring = &journal->rings[thread];
    struct request_record shortened;
    struct request_record *source = (struct request_record *)(uintptr_t)record; /* only read */
    size_t room = ring->capacity / 2 - sizeof(struct frame) - 8;
    size_t len = fixed_bytes(record->attempt_count) + text_bytes(source);
    if (len > room) {
        memcpy(&shortened, record, fixed_bytes(record->attempt_count));
        shorten(&shortened, room);
        source = &shortened;
        len = fixed_bytes(record->attempt_count) + text_bytes(source);
    }
    size_t padded = align8(len);
    uint64_t head = atomic_load_explicit(&ring->header->head, memory_order_relaxed);
    uint64_t place = head & (ring->capacity - 1);
    uint64_t filler = ring->capacity - place < sizeof(struct frame) + padded ? ring->capacity - place : 0;
    if (!wait_for_room(journal, ring, head, filler + sizeof(struct frame) + padded))
        return false;
    if (filler > 0) {
        *(struct frame *)(void *)(ring->data + place) = (struct frame){FRAME_FILLER, 0};
        place = 0;
    }
    char *at = ring->data + place;
    encode(at + sizeof(struct frame), source, padded);
    *(struct frame *)(void *)at = (struct frame){(uint32_t)len, checksum_of(at + sizeof(struct frame), padded)};
    uint64_t after = head + filler + sizeof(struct frame) + padded;
    atomic_store_explicit(&ring->header->head, after, memory_order_release);
    if (after >= ring->wake_at)
        look_whether_half_full(journal, ring, after);
    return true;
}

/* ---- consuming ---- */

struct journal_place journal_tail(const struct journal *journal, uint32_t thread)
{
    const struct ring *ring = &journal->rings[thread];
    return (struct journal_place){ring->header ? atomic_load_explicit(&ring->header->tail, memory_order_acquire) : 0};
}

static bool damaged(struct ring *ring)
{
    ring->is_damaged = true;
    return false;
}

bool journal_next(struct journal *journal, uint32_t thread, struct journal_place *place, struct request_record *ret)
{
    struct ring *ring = &journal->rings[thread];
    if (!ring->header || ring->is_damaged)
        return false;
    uint64_t head = atomic_load_explicit(&ring->header->head, memory_order_acquire);
    while (place->at < head) {
        uint64_t at = place->at & (ring->capacity - 1);
        struct frame frame;
        memcpy(&frame, ring->data + at, sizeof frame);
        if (frame.len == FRAME_FILLER) {
            place->at += ring->capacity - at;
            continue;
        }
        uint64_t padded = align8(frame.len);
        const char *data = ring->data + at + sizeof frame;
        if (padded > ring->capacity - at - sizeof frame || place->at + sizeof frame + padded > head)
            return damaged(ring);
        bool is_sound = !journal->is_left_over || checksum_of(data, padded) == frame.checksum;
        if (!is_sound || !decode(data, frame.len, ret))
            return damaged(ring);
        place->at += sizeof frame + padded;
        return true;
    }
    return false;
}

void journal_release(struct journal *journal, uint32_t thread, struct journal_place place)
{
    atomic_store_explicit(&journal->rings[thread].header->tail, place.at, memory_order_release);
}

void journal_wait(struct journal *journal, int64_t timeout_ns)
{
    int64_t until_ns = mono_now().ns + timeout_ns;
    struct timespec until = {.tv_sec = (time_t)(until_ns / NS_PER_S), .tv_nsec = (long)(until_ns % NS_PER_S)};
    if (sem_clockwait(&journal->half_full, CLOCK_MONOTONIC, &until) == 0) {
        while (sem_trywait(&journal->half_full) == 0) {
        }
    }
}

void journal_wake(struct journal *journal)
{
    sem_post(&journal->half_full);
}

int64_t journal_full_waits(const struct journal *journal)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < journal->count; i++)
        sum += atomic_load_explicit(&journal->rings[i].header->full_waits, memory_order_relaxed);
    return (int64_t)sum;
}

/* ---- files ---- */

#define RING_NAME_BYTES 24

static void ring_name(uint32_t index, char ret[RING_NAME_BYTES])
{
    snprintf(ret, RING_NAME_BYTES, "%u.ring", index);
}

static as_status make_journal(const char *folder, uint32_t count, struct journal **ret, struct as_error *err)
{
    struct journal *journal = calloc(1, sizeof *journal);
    struct ring *rings = aligned_alloc(_Alignof(struct ring), count * sizeof *rings);
    if (!journal || !rings) {
        free(journal);
        free(rings);
        return error_set(err, AS_E_NOMEM, "no memory for a journal of %u rings", count);
    }
    memset(rings, 0, count * sizeof *rings);
    journal->rings = rings;
    journal->count = count;
    journal->folder_fd = -1;
    sem_init(&journal->half_full, 0, 0);
    if (!path_join(journal->path, sizeof journal->path, folder, JOURNAL_FOLDER)) {
        journal_close(journal, false);
        return error_set(err, AS_E_LIMIT, "the path of the folder '%.200s' is too long", folder);
    }
    *ret = journal;
    return AS_OK;
}

static void map_ring(struct ring *ring, void *memory, size_t capacity)
{
    ring->header = memory;
    ring->data = (char *)memory + RING_HEADER_BYTES;
    ring->capacity = capacity;
    ring->wake_at = capacity / 2;
}

static as_status create_ring(struct journal *journal, uint32_t index, size_t capacity, struct as_error *err)
{
    char name[RING_NAME_BYTES];
    size_t bytes = RING_HEADER_BYTES + capacity;
    ring_name(index, name);
    int fd = openat(journal->folder_fd, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0)
        return error_set_errno(err, errno, "cannot make '%s' in '%.300s'", name, journal->path);
    int errnum = posix_fallocate(fd, 0, (off_t)bytes);
    void *memory = errnum ? MAP_FAILED : mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED && !errnum)
        errnum = errno;
    close(fd);
    if (errnum)
        return error_set_errno(err, errnum, "cannot make '%s' of %zu bytes in '%.300s'", name, bytes, journal->path);
    map_ring(&journal->rings[index], memory, capacity);
    struct ring_header *header = journal->rings[index].header;
    header->layout = record_layout();
    header->capacity = capacity;
    header->magic = RING_MAGIC;
    return AS_OK;
}

static as_status create_reserve(const struct journal *journal, struct as_error *err)
{
    int fd = openat(journal->folder_fd, RESERVE_FILE, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    int errnum = fd < 0 ? errno : posix_fallocate(fd, 0, (off_t)JOURNAL_RESERVE_BYTES);
    if (fd >= 0)
        close(fd);
    return errnum ? error_set_errno(err, errnum, "cannot make '" RESERVE_FILE "' in '%.300s'", journal->path) : AS_OK;
}

static as_status make_folder(struct journal *journal, struct as_error *err)
{
    if (mkdir(journal->path, 0777) != 0) {
        if (errno == EEXIST)
            return error_set(err, AS_E_EXISTS, "'%.300s' is there already: another run writes here, or one was killed",
                             journal->path);
        return error_set_errno(err, errno, "cannot make the folder '%.300s'", journal->path);
    }
    journal->folder_fd = open(journal->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return journal->folder_fd < 0 ? error_set_errno(err, errno, "cannot open the folder '%.300s'", journal->path)
                                  : AS_OK;
}

as_status journal_open(const char *folder, uint32_t threads, size_t ring_bytes, struct journal **ret,
                       struct as_error *err)
{
    struct journal *journal = NULL;
    size_t capacity = ring_bytes ? ring_bytes : JOURNAL_RING_BYTES;
    if (capacity < RING_BYTES_MIN || (capacity & (capacity - 1)) || threads == 0 || threads > RINGS_MAX)
        return error_set(err, AS_E_INVALID, "a journal has 1 to %d rings of a power of two of bytes", RINGS_MAX);
    as_status status = make_journal(folder, threads, &journal, err);
    if (!journal)
        return status;
    status = make_folder(journal, err);
    bool is_ours = journal->folder_fd >= 0;
    for (uint32_t i = 0; status == AS_OK && i < threads; i++)
        status = create_ring(journal, i, capacity, err);
    if (status == AS_OK)
        status = create_reserve(journal, err);
    if (status != AS_OK) {
        journal_close(journal, is_ours);
        return status;
    }
    *ret = journal;
    return AS_OK;
}

void journal_close(struct journal *journal, bool remove)
{
    if (!journal)
        return;
    for (uint32_t i = 0; i < journal->count; i++) {
        char name[RING_NAME_BYTES];
        struct ring *ring = &journal->rings[i];
        if (ring->header)
            munmap(ring->header, RING_HEADER_BYTES + ring->capacity);
        ring_name(i, name);
        if (remove)
            unlinkat(journal->folder_fd, name, 0);
    }
    if (!journal->is_left_over && journal->folder_fd >= 0)
        unlinkat(journal->folder_fd, RESERVE_FILE, 0);
    if (remove)
        rmdir(journal->path);
    if (journal->folder_fd >= 0)
        close(journal->folder_fd);
    sem_destroy(&journal->half_full);
    free(journal->rings);
    free(journal);
}

/* ---- after a kill ---- */

static bool is_all_zero(const char *at, size_t len)
{
    return len == 0 || (at[0] == 0 && memcmp(at, at + 1, len - 1) == 0);
}

/* Why a ring cannot be read; NULL when it can, or never held a record. */
static const char *ring_damage(const struct ring_header *header, size_t bytes)
{
    size_t capacity = bytes - RING_HEADER_BYTES;
    if (is_all_zero((const char *)header, bytes))
        return NULL; /* of a run that was killed while it made its rings */
    if (header->magic != RING_MAGIC)
        return "its head is damaged";
    if (header->layout != record_layout())
        return "another version of this program wrote it; summarise with that one";
    if (capacity < RING_BYTES_MIN || header->capacity != capacity || (capacity & (capacity - 1)) != 0)
        return "it is cut short, or its head is damaged";
    uint64_t tail = atomic_load(&header->tail), head = atomic_load(&header->head);
    return tail % 8 != 0 || head - tail > capacity ? "its head is damaged" : NULL;
}

static void spoil(struct ring *ring, const char *why)
{
    ring->damage = why;
    ring->is_damaged = true;
}

static void open_left_ring(struct journal *journal, uint32_t index)
{
    char name[RING_NAME_BYTES];
    struct stat info;
    struct ring *ring = &journal->rings[index];
    ring_name(index, name);
    int fd = openat(journal->folder_fd, name, O_RDONLY | O_CLOEXEC);
    if (fd < 0 && errno != ENOENT)
        spoil(ring, "it cannot be opened");
    if (fd < 0)
        return;
    size_t bytes = fstat(fd, &info) == 0 ? (size_t)info.st_size : 0;
    void *memory = bytes > RING_HEADER_BYTES ? mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0) : MAP_FAILED;
    close(fd);
    if (memory == MAP_FAILED) {
        spoil(ring, bytes > RING_HEADER_BYTES ? "it cannot be read" : "it is cut short");
        return;
    }
    const struct ring_header *header = memory;
    ring->damage = ring_damage(header, bytes);
    ring->is_damaged = ring->damage != NULL;
    if (ring->is_damaged || header->magic == 0)
        munmap(memory, bytes);
    else
        map_ring(ring, memory, bytes - RING_HEADER_BYTES);
}

/* 1 + the highest ring number in the folder, 0 = none. */
static uint32_t count_rings(DIR *folder)
{
    uint32_t count = 0;
    const struct dirent *entry;
    while ((entry = readdir(folder)) != NULL) {
        char *end;
        unsigned long index = strtoul(entry->d_name, &end, 10);
        if (end != entry->d_name && strcmp(end, ".ring") == 0 && index < RINGS_MAX && index + 1 > count)
            count = (uint32_t)index + 1;
    }
    return count;
}

void journal_discard(const char *folder)
{
    char path[PATH_MAX], name[RING_NAME_BYTES];
    if (!path_join(path, sizeof path, folder, JOURNAL_FOLDER))
        return;
    DIR *rings = opendir(path);
    if (!rings)
        return;
    uint32_t count = count_rings(rings);
    for (uint32_t i = 0; i < count; i++) {
        ring_name(i, name);
        unlinkat(dirfd(rings), name, 0);
    }
    unlinkat(dirfd(rings), RESERVE_FILE, 0);
    closedir(rings);
    rmdir(path);
}

as_status journal_open_left(const char *folder, struct journal **ret, struct as_error *err)
{
    char path[PATH_MAX];
    struct journal *journal = NULL;
    if (!path_join(path, sizeof path, folder, JOURNAL_FOLDER))
        return error_set(err, AS_E_LIMIT, "the path of the folder '%.200s' is too long", folder);
    DIR *rings = opendir(path);
    if (!rings)
        return errno == ENOENT || errno == ENOTDIR
                   ? error_set(err, AS_E_NOTFOUND, "there is no '%.300s'", path)
                   : error_set_errno(err, errno, "cannot read the folder '%.300s'", path);
    uint32_t count = count_rings(rings);
    as_status status = make_journal(folder, count ? count : 1, &journal, err);
    if (journal)
        journal->folder_fd = fcntl(dirfd(rings), F_DUPFD_CLOEXEC, 0);
    closedir(rings);
    if (!journal)
        return status;
    journal->is_left_over = true;
    for (uint32_t i = 0; i < count; i++)
        open_left_ring(journal, i);
    *ret = journal;
    return AS_OK;
}

uint32_t journal_rings(const struct journal *journal)
{
    return journal->count;
}

uint32_t journal_damaged(const struct journal *journal)
{
    uint32_t damaged_rings = 0;
    for (uint32_t i = 0; i < journal->count; i++)
        damaged_rings += journal->rings[i].is_damaged;
    return damaged_rings;
}

bool journal_damage(const struct journal *journal, struct as_error *ret)
{
    for (uint32_t i = 0; i < journal->count; i++) {
        const struct ring *ring = &journal->rings[i];
        if (!ring->is_damaged)
            continue;
        error_set(ret, AS_E_INVALID, "%.300s/%u.ring: %s", journal->path, i,
                  ring->damage ? ring->damage : "a record in it is damaged; what came before it was read");
        return true;
    }
    return false;
}
