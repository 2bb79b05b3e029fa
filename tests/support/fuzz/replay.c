/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The main of fuzz targets where there is no libFuzzer: runs the target over every file of the folders named on the
 * command line (one that does not exist counts as empty), every prefix of short files, and fixed mutations.
 * ASSAY_FUZZ_MUTATIONS in the environment sets how many of these each file gets.
 */
#include "base/file.h"
#include "base/rng.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MUTATIONS_DEFAULT 300
#define PREFIXES_MAX      ((size_t)2048)
#define FILE_BYTES_MAX    ((size_t)4 * 1024 * 1024)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t inputs;

/* The target gets a block of exactly this size, so that a sanitizer sees one byte too far. */
static void run_one(const uint8_t *data, size_t len)
{
    uint8_t *copy = malloc(len ? len : 1);
    if (!copy)
        abort();
    if (len)
        memcpy(copy, data, len);
    LLVMFuzzerTestOneInput(copy, len);
    free(copy);
    inputs++;
}

/* One change of `len` bytes that have room for as many again; returns the new length. */
static size_t mutate(struct rng *rng, uint8_t *data, size_t len)
{
    static const char interesting[] = "\"\\{}[]:,0-e.\n\r \x80\xFF";
    if (len == 0)
        return 0;
    size_t at = (size_t)rng_below(rng, len);
    size_t span = 1 + (size_t)rng_below(rng, len - at < 16 ? len - at : 16);
    switch (rng_below(rng, 5)) {
    case 0:
        data[at] ^= (uint8_t)(1u << rng_below(rng, 8));
        return len;
    case 1:
        data[at] = (uint8_t)interesting[rng_below(rng, sizeof interesting)];
        return len;
    case 2:
        memmove(data + at, data + at + span, len - at - span);
        return len - span;
    case 3:
        memmove(data + at + span, data + at, len - at);
        return len + span;
    default:
        return at;
    }
}

static void run_mutations(const char *data, size_t len, size_t mutations)
{
    struct rng rng;
    rng_init(&rng, len, 0);
    uint8_t *work = malloc(2 * len + 64);
    if (!work)
        abort();
    for (size_t i = 0; i < mutations; i++) {
        memcpy(work, data, len);
        size_t now = len;
        for (uint64_t changes = 1 + rng_below(&rng, 3); changes > 0 && now <= len + 32; changes--)
            now = mutate(&rng, work, now);
        run_one(work, now);
    }
    free(work);
}

static void run_file(const char *path, size_t mutations)
{
    AS_AUTO_STRBUF struct strbuf buf;
    struct as_error err;
    strbuf_init(&buf, FILE_BYTES_MAX);
    if (file_read(path, &buf, &err) != AS_OK) {
        fprintf(stderr, "%s\n", err.message);
        exit(1);
    }
    const uint8_t *data = (const uint8_t *)strbuf_text(&buf);
    run_one(data, buf.len);
    for (size_t len = 0; len < buf.len && len < PREFIXES_MAX; len++)
        run_one(data, len);
    run_mutations(strbuf_text(&buf), buf.len, mutations);
}

static void run_folder(const char *folder, size_t mutations)
{
    DIR *dir = opendir(folder);
    if (!dir)
        return;
    for (struct dirent *entry; (entry = readdir(dir));) {
        char path[PATH_MAX];
        if (entry->d_name[0] != '.' && path_join(path, sizeof path, folder, entry->d_name))
            run_file(path, mutations);
    }
    closedir(dir);
}

int main(int argc, char **argv)
{
    const char *wanted = getenv("ASSAY_FUZZ_MUTATIONS");
    size_t mutations = wanted ? (size_t)strtoul(wanted, NULL, 10) : MUTATIONS_DEFAULT;
    run_one((const uint8_t *)"", 0);
    for (int i = 1; i < argc; i++)
        run_folder(argv[i], mutations);
    printf("%zu inputs\n", inputs);
    return 0;
}
