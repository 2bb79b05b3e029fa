/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/truth.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/json_write.h"
#include "base/strbuf.h"
#include "sim/fault.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define RING_BYTES_DEFAULT ((size_t)64 << 20)
#define ID_BYTES_MAX       255
#define FLUSH_BYTES        ((size_t)256 << 10)
#define IDLE_WAIT_NS       (20 * NS_PER_MS)

/* What lies in a ring before the id and the instants, all padded to 8 bytes. bytes = 0: the rest of the ring is unused.
 */
struct entry {
    uint64_t bytes; /* of the whole entry */
    struct sim_truth_record record;
};

/* One producer, one consumer. head and tail only grow; place = value modulo size. */
struct ring {
    _Alignas(64) _Atomic uint64_t head; /* written by the serving thread */
    _Alignas(64) _Atomic uint64_t tail; /* written by the writer */
    _Atomic uint64_t lost;
    unsigned char *bytes;
};

struct sim_truth {
    struct ring *rings;
    uint32_t ring_count;
    size_t ring_bytes;
    int fd;
    pthread_t writer;
    _Atomic bool stop;
    as_status status; /* the writer's; read after it was joined */
    struct as_error error;
};

static const char *end_name(enum sim_end end)
{
    static const char *const names[] = {
#define SIM_END_NAME(name, text) text,
        SIM_END_MAP(SIM_END_NAME)
#undef SIM_END_NAME
    };
    return names[end];
}

static size_t padded(size_t bytes)
{
    return (bytes + 7) & ~(size_t)7;
}

bool sim_truth_put(struct sim_truth *truth, uint32_t thread, const struct sim_truth_record *record)
{
    struct ring *ring = &truth->rings[thread];
    size_t id_len = record->id_len < ID_BYTES_MAX ? record->id_len : ID_BYTES_MAX;
    size_t need = sizeof(struct entry) + padded(id_len) + record->chunk_count * sizeof(int64_t);
    uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
    uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_acquire);
    size_t place = (size_t)(head & (truth->ring_bytes - 1));
    size_t rest = truth->ring_bytes - place;
    size_t skip = need > rest ? rest : 0;
    if (head + skip + need - tail > truth->ring_bytes) {
        atomic_fetch_add_explicit(&ring->lost, 1, memory_order_relaxed);
        return false;
    }
    if (skip) {
        memset(ring->bytes + place, 0, sizeof(uint64_t));
        place = 0;
    }
    struct entry entry = {.bytes = need, .record = *record};
    entry.record.id_len = id_len;
    unsigned char *at = ring->bytes + place;
    memcpy(at, &entry, sizeof(entry));
    if (id_len)
        memcpy(at + sizeof(entry), record->id, id_len);
    if (record->chunk_count)
        memcpy(at + sizeof(entry) + padded(id_len), record->chunks_ns, record->chunk_count * sizeof(int64_t));
    atomic_store_explicit(&ring->head, head + skip + need, memory_order_release);
    return true;
}

static void put_instant(struct json_writer *json, const char *key, int64_t ns)
{
    if (ns < 0)
        json_member_null(json, key);
    else
        json_member_int(json, key, ns);
}

static void put_instants(struct json_writer *json, const char *key, const int64_t *ns, uint32_t count)
{
    json_key(json, key);
    json_open_array(json);
    for (uint32_t i = 0; i < count; i++)
        json_put_int(json, ns[i]);
    json_close_array(json);
}

static void put_line(struct strbuf *out, const struct sim_truth_record *record)
{
    struct json_writer json;
    uint32_t reasoning = record->reasoning_chunk_count;
    json_writer_init(&json, out, 0);
    json_open_object(&json);
    json_key(&json, "id");
    if (record->id_len)
        json_put_stringn(&json, record->id, record->id_len);
    else
        json_put_null(&json);
    json_member_int(&json, "number", record->number);
    put_instant(&json, "received_ns", record->received_ns);
    put_instant(&json, "begun_ns", record->begun_ns);
    put_instant(&json, "head_ns", record->head_ns);
    if (reasoning)
        put_instants(&json, "reasoning_ns", record->chunks_ns, reasoning);
    put_instants(&json, "chunks_ns", record->chunks_ns + reasoning, record->chunk_count - reasoning);
    put_instant(&json, "end_ns", record->end_ns);
    json_member_int(&json, "status", record->status);
    json_member_bool(&json, "stream", record->stream);
    json_member_int(&json, "choices", record->choices);
    json_member_int(&json, "prompt_tokens", record->prompt_tokens);
    json_member_int(&json, "tokens", record->tokens);
    json_member_int(&json, "reasoning_tokens", record->reasoning_tokens);
    json_member_string(&json, "fault", record->fault < 0 ? NULL : sim_fault_name((enum sim_fault_kind)record->fault));
    json_member_string(&json, "end", end_name(record->end));
    json_close_object(&json);
    strbuf_addc(out, '\n');
}

static void flush(struct sim_truth *truth, struct strbuf *out)
{
    if (truth->status == AS_OK)
        truth->status = strbuf_status(out);
    if (truth->status == AS_OK && out->len)
        truth->status = file_write_all(truth->fd, out->data, out->len);
    if (truth->status != AS_OK && truth->error.status == AS_OK)
        (void)error_set_errno(&truth->error, errno, "cannot write the truth log");
    strbuf_reset(out);
}

/* Takes all that is in one ring. */
static void drain(struct sim_truth *truth, struct ring *ring, struct strbuf *out)
{
    uint64_t head = atomic_load_explicit(&ring->head, memory_order_acquire);
    uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
    while (tail < head) {
        size_t place = (size_t)(tail & (truth->ring_bytes - 1));
        const unsigned char *at = ring->bytes + place;
        struct entry entry;
        memcpy(&entry.bytes, at, sizeof(entry.bytes));
        if (entry.bytes == 0) {
            tail += truth->ring_bytes - place;
            continue;
        }
        memcpy(&entry, at, sizeof(entry));
        entry.record.id = (const char *)at + sizeof(entry);
        entry.record.chunks_ns = (const int64_t *)(const void *)(at + sizeof(entry) + padded(entry.record.id_len));
        put_line(out, &entry.record);
        tail += entry.bytes;
        atomic_store_explicit(&ring->tail, tail, memory_order_release);
        if (out->len >= FLUSH_BYTES)
            flush(truth, out);
    }
    atomic_store_explicit(&ring->tail, tail, memory_order_release);
}

static void *writer_main(void *argument)
{
    struct sim_truth *truth = argument;
    struct strbuf out AS_AUTO_STRBUF;
    const struct sched_param none = {0};
    strbuf_init(&out, 0);
    (void)pthread_setschedparam(pthread_self(), SCHED_IDLE, &none); /* a courtesy; works without, too */
    for (bool last = false; !last;) {
        last = atomic_load_explicit(&truth->stop, memory_order_acquire);
        for (uint32_t i = 0; i < truth->ring_count; i++)
            drain(truth, &truth->rings[i], &out);
        flush(truth, &out);
        if (!last)
            mono_sleep_until(mono_add_ns(mono_now(), IDLE_WAIT_NS));
    }
    return NULL;
}

static void truth_free(struct sim_truth *truth)
{
    for (uint32_t i = 0; truth->rings && i < truth->ring_count; i++)
        if (truth->rings[i].bytes)
            (void)munmap(truth->rings[i].bytes, truth->ring_bytes);
    free(truth->rings);
    if (truth->fd >= 0)
        (void)close(truth->fd);
    free(truth);
}

static as_status make_rings(struct sim_truth *truth)
{
    truth->rings = aligned_alloc(64, truth->ring_count * sizeof(*truth->rings));
    if (!truth->rings)
        return AS_E_NOMEM;
    memset(truth->rings, 0, truth->ring_count * sizeof(*truth->rings));
    for (uint32_t i = 0; i < truth->ring_count; i++) {
        void *bytes =
            mmap(NULL, truth->ring_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (bytes == MAP_FAILED)
            return AS_E_NOMEM;
        truth->rings[i].bytes = bytes;
    }
    return AS_OK;
}

as_status sim_truth_open(const char *path, uint32_t threads, size_t ring_bytes, struct sim_truth **ret,
                         struct as_error *err)
{
    struct sim_truth *truth = calloc(1, sizeof(*truth));
    if (!truth)
        return error_set(err, AS_E_NOMEM, "no memory for the truth log");
    truth->ring_count = threads;
    truth->ring_bytes = ring_bytes ? ring_bytes : RING_BYTES_DEFAULT;
    truth->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (truth->fd < 0) {
        as_status status = error_set_errno(err, errno, "cannot write the truth log %s", path);
        truth_free(truth);
        return status;
    }
    as_status status = make_rings(truth);
    if (status == AS_OK && pthread_create(&truth->writer, NULL, writer_main, truth) != 0)
        status = AS_E_NOMEM;
    if (status != AS_OK) {
        truth_free(truth);
        return error_set(err, status, "no memory for the truth log");
    }
    *ret = truth;
    return AS_OK;
}

as_status sim_truth_close(struct sim_truth *truth, struct as_error *err)
{
    if (!truth)
        return AS_OK;
    atomic_store_explicit(&truth->stop, true, memory_order_release);
    (void)pthread_join(truth->writer, NULL);
    uint64_t lost = 0;
    for (uint32_t i = 0; i < truth->ring_count; i++)
        lost += atomic_load_explicit(&truth->rings[i].lost, memory_order_relaxed);
    as_status status = truth->status;
    if (status != AS_OK && err)
        *err = truth->error;
    else if (lost)
        status = error_set(err, AS_E_LIMIT, "the truth log lost %llu requests: the writer could not keep up",
                           (unsigned long long)lost);
    truth_free(truth);
    return status;
}
