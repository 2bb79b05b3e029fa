/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_MEASURE_JOURNAL_H
#define ASSAY_MEASURE_JOURNAL_H

/*
 * Finished requests on their way to the record file: one ring a thread, each a file mapped MAP_SHARED in
 * `<folder>/journal/`, so that a killed process leaves them to the kernel. One producer (the engine thread) and one
 * consumer (the record writer) a ring, no locks. The blocks of a ring are reserved when it is opened: a full disk is
 * met there, not by a signal later.
 *
 * Beside the rings lies a file of reserved blocks, given up when the disk has stayed full, so that there is room to say
 * how the run ended.
 *
 * A ring holds frames: length, checksum, the record without pointers, its tries, its texts. A frame counts once the
 * ring's head has passed it; it is kept until the consumer has moved the tail, which it does only after the record is
 * in the file. So after a kill a record is in the file, in the ring, or (for a moment) in both; `seq` tells.
 *
 * Rings are read back by the same build only (the layout is checked).
 */

#include "base/status.h"
#include "engine/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JOURNAL_FOLDER     "journal"
#define JOURNAL_RING_BYTES ((size_t)4 * 1024 * 1024)
#define JOURNAL_RESERVE_BYTES ((size_t)512 * 1024)

struct journal;

/* ---- writing side ---- */

/*
 * Makes `<folder>/journal/` with `threads` rings of ring_bytes (a power of two ≥ 64 KiB; 0 = JOURNAL_RING_BYTES).
 * AS_E_EXISTS when there is a journal already, AS_E_IO when the folder cannot be written or the disk is full.
 */
as_status journal_open(const char *folder, uint32_t threads, size_t ring_bytes, struct journal **ret,
                       struct as_error *err) AS_NODISCARD;
/* Takes NULL. `remove` deletes the files; else the rings stay. */
void journal_close(struct journal *journal, bool remove);
/*
 * Copies the record into the ring of `thread`; only that thread may call. When the ring is full it waits for the
 * consumer, which is counted; false, and the record is not kept, when there is no room and the consumer has given up.
 * Texts of a record that would fill more than half of the ring are left out (flag content_cut).
 */
bool journal_put(struct journal *journal, uint32_t thread, const struct request_record *record);
/*
 * Whether another request should be begun by `thread`, which alone may call: a quarter of its ring is left for the
 * records of those in flight, or there is nothing to wait for. Each time that it becomes false is counted as a wait.
 */
bool journal_has_room(struct journal *journal, uint32_t thread);

/* ---- consuming side: one thread ---- */

/* A place in a ring, bytes since it was opened. */
struct journal_place {
    uint64_t at;
};

/* Where reading of ring `thread` starts. */
struct journal_place journal_tail(const struct journal *journal, uint32_t thread);
/*
 * The next finished record at *place, which is moved past it; false when there is none. The record points into the
 * ring, valid until the tail passes it.
 */
bool journal_next(struct journal *journal, uint32_t thread, struct journal_place *place, struct request_record *ret);
/* Everything before `place` is in the file. */
void journal_release(struct journal *journal, uint32_t thread, struct journal_place place);
/* Sleeps until a ring is half full, journal_wake is called, or timeout_ns has passed. */
void journal_wait(struct journal *journal, int64_t timeout_ns);
void journal_wake(struct journal *journal);
/* The consumer releases nothing any more: what finds its ring full is not kept from now on. Frees the reserve. */
void journal_give_up(struct journal *journal);
/* How often journal_put had to wait or a request was held back, all rings. */
int64_t journal_full_waits(const struct journal *journal);

/* ---- after a kill ---- */

/* Deletes `<folder>/journal/` of a run that never began; what else lies in it stays. */
void journal_discard(const char *folder);

/*
 * Opens what is left of `<folder>/journal/` for reading (journal_tail, journal_next); nothing is changed. A ring that
 * cannot be read (its head is damaged, it was cut, another build wrote it) is empty and counts as damaged.
 * AS_E_NOTFOUND when there is no journal.
 */
as_status journal_open_left(const char *folder, struct journal **ret, struct as_error *err) AS_NODISCARD;
uint32_t journal_rings(const struct journal *journal);
/* Rings that could not be read, or whose reading stopped at a frame that is not whole. */
uint32_t journal_damaged(const struct journal *journal);
/* What is wrong with the first of them, with the name of its file; false when there is none. */
bool journal_damage(const struct journal *journal, struct as_error *ret);

#endif
