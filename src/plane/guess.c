/* SPDX-License-Identifier: Apache-2.0 */
#include "plane/guess.h"

#include "base/rng.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define SETS 1024
#define WAYS 4

/* Wrong tries of one account from one address; known by a hash of 64 bits. */
struct entry {
    uint64_t key; /* 0 = free */
    uint32_t count;
    struct mono first; /* of the window */
};

struct guess {
    pthread_mutex_t lock;
    uint64_t seed;
    struct entry entries[SETS][WAYS];
};

as_status guess_new(struct guess **ret)
{
    struct guess *guess = calloc(1, sizeof *guess);
    if (!guess)
        return AS_E_NOMEM;
    (void)pthread_mutex_init(&guess->lock, NULL);
    guess->seed = rng_mix((uint64_t)wall_now().ns, (uint64_t)mono_now().ns);
    *ret = guess;
    return AS_OK;
}

void guess_free(struct guess *guess)
{
    if (!guess)
        return;
    (void)pthread_mutex_destroy(&guess->lock);
    free(guess);
}

static uint64_t key_of(const struct guess *guess, const char *account, const char *address)
{
    uint64_t key = guess->seed;
    for (const char *at = account; *at; at++)
        key = rng_mix(key, (unsigned char)*at);
    key = rng_mix(key, 256);
    for (const char *at = address; *at; at++)
        key = rng_mix(key, (unsigned char)*at);
    return key ? key : 1;
}

static bool is_over(const struct entry *entry, struct mono now)
{
    return mono_diff_ns(now, entry->first) >= GUESS_WINDOW_NS;
}

static struct entry *find(struct guess *guess, uint64_t key)
{
    struct entry *set = guess->entries[key % SETS];
    for (size_t i = 0; i < WAYS; i++)
        if (set[i].key == key)
            return &set[i];
    return NULL;
}

int guess_wait_s(struct guess *guess, const char *account, const char *address, struct mono now)
{
    int wait_s = 0;
    const uint64_t key = key_of(guess, account, address);
    pthread_mutex_lock(&guess->lock);
    const struct entry *entry = find(guess, key);
    if (entry && entry->count >= GUESS_MAX && !is_over(entry, now))
        wait_s = (int)((GUESS_WINDOW_NS - mono_diff_ns(now, entry->first)) / NS_PER_S) + 1;
    pthread_mutex_unlock(&guess->lock);
    return wait_s;
}

void guess_failed(struct guess *guess, const char *account, const char *address, struct mono now)
{
    const uint64_t key = key_of(guess, account, address);
    pthread_mutex_lock(&guess->lock);
    struct entry *entry = find(guess, key), *set = guess->entries[key % SETS];
    if (!entry) {
        entry = &set[0];
        for (size_t i = 1; i < WAYS && entry->key; i++)
            if (!set[i].key || set[i].first.ns < entry->first.ns)
                entry = &set[i];
        *entry = (struct entry){.key = key, .first = now};
    }
    if (is_over(entry, now))
        *entry = (struct entry){.key = key, .first = now};
    entry->count++;
    pthread_mutex_unlock(&guess->lock);
}

void guess_succeeded(struct guess *guess, const char *account, const char *address)
{
    const uint64_t key = key_of(guess, account, address);
    pthread_mutex_lock(&guess->lock);
    struct entry *entry = find(guess, key);
    if (entry)
        *entry = (struct entry){.key = 0};
    pthread_mutex_unlock(&guess->lock);
}
