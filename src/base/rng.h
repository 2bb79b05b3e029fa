/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_BASE_RNG_H
#define ASSAY_BASE_RNG_H

/*
 * Seeded random numbers, the same on every machine: xoshiro256** (Blackman & Vigna 2018), its
 * state filled by splitmix64. Not for secrets. One generator per user and purpose: streams of
 * one seed are independent.
 */

#include <stddef.h>
#include <stdint.h>

struct rng {
    uint64_t state[4];
};

/* `stream` separates purposes (prompts, arrivals, …) under one seed. */
void rng_init(struct rng *rng, uint64_t seed, uint64_t stream);
uint64_t rng_u64(struct rng *rng);
/* Uniform in [0, bound), without bias; bound ≥ 1. */
uint64_t rng_below(struct rng *rng, uint64_t bound);
/* Uniform in [0, 1). */
double rng_uniform(struct rng *rng);
/* Mean 1. */
double rng_exponential(struct rng *rng);
/* Mean 0, deviation 1. */
double rng_normal(struct rng *rng);
/* Gamma of shape `shape` > 0 and mean 1 (scale 1/shape); Marsaglia & Tsang 2000. */
double rng_gamma(struct rng *rng, double shape);
/* Fisher–Yates over `count` indexes. */
void rng_shuffle(struct rng *rng, uint32_t *items, size_t count);
/* A 64-bit hash of two words (splitmix64 finaliser): for choices that depend on (seed, index) alone. */
uint64_t rng_mix(uint64_t a, uint64_t b);

#endif
