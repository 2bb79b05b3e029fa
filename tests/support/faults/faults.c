/* SPDX-License-Identifier: Apache-2.0 */
#include "support/faults.h"

#include "support/check.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

/* Open addressing; more blocks than half of this at a time fail the test. */
#define BLOCK_SLOTS ((size_t)1 << 16)
/* Marks a slot whose block was freed. */
#define BLOCK_GONE UINTPTR_MAX

struct fault_plan {
    size_t calls;
    size_t hits; /* calls that were made to fail */
    size_t nth;
    bool all_later;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct fault_plan plans[FAULT_KINDS];
static bool watching;
static size_t live_blocks;
static uintptr_t blocks[BLOCK_SLOTS];

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *old, size_t bytes);
void *__real_aligned_alloc(size_t alignment, size_t bytes);
void __real_free(void *block);
ssize_t __real_read(int fd, void *data, size_t len);
ssize_t __real_pread(int fd, void *data, size_t len, off_t offset);
ssize_t __real_write(int fd, const void *data, size_t len);
ssize_t __real_pwrite(int fd, const void *data, size_t len, off_t offset);
ssize_t __real_writev(int fd, const struct iovec *parts, int count);
int __real_fsync(int fd);
int __real_fdatasync(int fd);
int __real_ftruncate(int fd, off_t len);
int __real_rename(const char *from, const char *to);

void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *old, size_t bytes);
void *__wrap_aligned_alloc(size_t alignment, size_t bytes);
void __wrap_free(void *block);
ssize_t __wrap_read(int fd, void *data, size_t len);
ssize_t __wrap_pread(int fd, void *data, size_t len, off_t offset);
ssize_t __wrap_write(int fd, const void *data, size_t len);
ssize_t __wrap_pwrite(int fd, const void *data, size_t len, off_t offset);
ssize_t __wrap_writev(int fd, const struct iovec *parts, int count);
int __wrap_fsync(int fd);
int __wrap_fdatasync(int fd);
int __wrap_ftruncate(int fd, off_t len);
int __wrap_rename(const char *from, const char *to);

static void arm(enum fault_kind kind, size_t nth, bool all_later)
{
    pthread_mutex_lock(&lock);
    plans[kind] = (struct fault_plan){.nth = nth, .all_later = all_later};
    pthread_mutex_unlock(&lock);
}

void fault_arm(enum fault_kind kind, size_t nth)
{
    arm(kind, nth, false);
}

void fault_arm_from(enum fault_kind kind, size_t nth)
{
    arm(kind, nth, true);
}

void fault_disarm(void)
{
    pthread_mutex_lock(&lock);
    for (int kind = 0; kind < FAULT_KINDS; kind++)
        plans[kind].nth = 0;
    pthread_mutex_unlock(&lock);
}

size_t fault_calls(enum fault_kind kind)
{
    pthread_mutex_lock(&lock);
    size_t calls = plans[kind].calls;
    pthread_mutex_unlock(&lock);
    return calls;
}

/* Counts a call; true when it has to fail. */
static bool fault_hits(enum fault_kind kind)
{
    pthread_mutex_lock(&lock);
    struct fault_plan *plan = &plans[kind];
    plan->calls++;
    bool hits = plan->nth && (plan->calls == plan->nth || (plan->all_later && plan->calls > plan->nth));
    plan->hits += hits;
    pthread_mutex_unlock(&lock);
    return hits;
}

static size_t block_slot(uintptr_t block)
{
    return (size_t)((uint64_t)block * UINT64_C(0x9e3779b97f4a7c15) >> 48) % BLOCK_SLOTS;
}

static void block_add(void *at)
{
    uintptr_t block = (uintptr_t)at;
    pthread_mutex_lock(&lock);
    if (watching && block && live_blocks < BLOCK_SLOTS / 2) {
        size_t slot = block_slot(block);
        while (blocks[slot] != 0 && blocks[slot] != BLOCK_GONE)
            slot = (slot + 1) % BLOCK_SLOTS;
        blocks[slot] = block;
        live_blocks++;
    }
    pthread_mutex_unlock(&lock);
}

static void block_remove(uintptr_t block)
{
    pthread_mutex_lock(&lock);
    size_t slot = block_slot(block);
    for (size_t tried = 0; watching && block && tried < BLOCK_SLOTS && blocks[slot] != 0; tried++) {
        if (blocks[slot] == block) {
            blocks[slot] = BLOCK_GONE;
            live_blocks--;
            break;
        }
        slot = (slot + 1) % BLOCK_SLOTS;
    }
    pthread_mutex_unlock(&lock);
}

void fault_blocks_watch(void)
{
    pthread_mutex_lock(&lock);
    memset(blocks, 0, sizeof blocks);
    live_blocks = 0;
    watching = true;
    pthread_mutex_unlock(&lock);
}

size_t fault_blocks_left(void)
{
    pthread_mutex_lock(&lock);
    watching = false;
    size_t left = live_blocks;
    pthread_mutex_unlock(&lock);
    return left;
}

size_t fault_each(enum fault_kind kind, as_status expected, as_status (*body)(void *context), void *context)
{
    for (size_t nth = 1;; nth++) {
        fault_blocks_watch();
        fault_arm(kind, nth);
        as_status status = body(context);
        fault_disarm();
        size_t left = fault_blocks_left();
        bool was_hit = plans[kind].hits > 0;
        if (left > 0)
            fail_msg("failing call %zu: %zu blocks are not freed", nth, left);
        if (status != (was_hit ? expected : AS_OK))
            fail_msg("failing call %zu: status is %s", nth, status_name(status));
        if (!was_hit)
            return nth - 1;
    }
}

static void *alloc_fails(void)
{
    errno = ENOMEM;
    return NULL;
}

void *__wrap_malloc(size_t bytes)
{
    void *at = fault_hits(FAULT_ALLOC) ? alloc_fails() : __real_malloc(bytes);
    block_add(at);
    return at;
}

void *__wrap_calloc(size_t count, size_t bytes)
{
    void *at = fault_hits(FAULT_ALLOC) ? alloc_fails() : __real_calloc(count, bytes);
    block_add(at);
    return at;
}

void *__wrap_realloc(void *old, size_t bytes)
{
    if (fault_hits(FAULT_ALLOC))
        return alloc_fails();
    uintptr_t old_block = (uintptr_t)old;
    void *at = __real_realloc(old, bytes);
    if (at || bytes == 0)
        block_remove(old_block);
    block_add(at);
    return at;
}

void *__wrap_aligned_alloc(size_t alignment, size_t bytes)
{
    void *at = fault_hits(FAULT_ALLOC) ? alloc_fails() : __real_aligned_alloc(alignment, bytes);
    block_add(at);
    return at;
}

void __wrap_free(void *block)
{
    block_remove((uintptr_t)block);
    __real_free(block);
}

static int call_fails(int errnum)
{
    errno = errnum;
    return -1;
}

/* 0, or the error number with which a transfer of this kind has to fail. */
static int transfer_error(enum fault_kind kind, int errnum)
{
    if (fault_hits(FAULT_EINTR))
        return EINTR;
    return fault_hits(kind) ? errnum : 0;
}

static size_t cut_length(size_t len)
{
    return fault_hits(FAULT_SHORT) && len > 1 ? len / 2 : len;
}

ssize_t __wrap_read(int fd, void *data, size_t len)
{
    int errnum = transfer_error(FAULT_READ, EIO);
    return errnum ? call_fails(errnum) : __real_read(fd, data, len);
}

ssize_t __wrap_pread(int fd, void *data, size_t len, off_t offset)
{
    int errnum = transfer_error(FAULT_READ, EIO);
    return errnum ? call_fails(errnum) : __real_pread(fd, data, len, offset);
}

ssize_t __wrap_write(int fd, const void *data, size_t len)
{
    int errnum = transfer_error(FAULT_WRITE, ENOSPC);
    return errnum ? call_fails(errnum) : __real_write(fd, data, cut_length(len));
}

ssize_t __wrap_pwrite(int fd, const void *data, size_t len, off_t offset)
{
    int errnum = transfer_error(FAULT_WRITE, ENOSPC);
    return errnum ? call_fails(errnum) : __real_pwrite(fd, data, cut_length(len), offset);
}

/* The first part with bytes, cut in half. */
static ssize_t writev_short(int fd, const struct iovec *parts, int count)
{
    int first = 0;
    while (first < count - 1 && parts[first].iov_len == 0)
        first++;
    size_t len = parts[first].iov_len;
    return __real_write(fd, parts[first].iov_base, len > 1 ? len / 2 : len);
}

ssize_t __wrap_writev(int fd, const struct iovec *parts, int count)
{
    int errnum = transfer_error(FAULT_WRITE, ENOSPC);
    if (errnum)
        return call_fails(errnum);
    return fault_hits(FAULT_SHORT) ? writev_short(fd, parts, count) : __real_writev(fd, parts, count);
}

int __wrap_fsync(int fd)
{
    return fault_hits(FAULT_SYNC) ? call_fails(EIO) : __real_fsync(fd);
}

int __wrap_fdatasync(int fd)
{
    return fault_hits(FAULT_SYNC) ? call_fails(EIO) : __real_fdatasync(fd);
}

int __wrap_ftruncate(int fd, off_t len)
{
    return fault_hits(FAULT_TRUNCATE) ? call_fails(EIO) : __real_ftruncate(fd, len);
}

int __wrap_rename(const char *from, const char *to)
{
    return fault_hits(FAULT_RENAME) ? call_fails(EACCES) : __real_rename(from, to);
}
