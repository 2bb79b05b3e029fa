/* SPDX-License-Identifier: Apache-2.0 */
#include "base/rng.h"

#include <math.h>

static uint64_t splitmix64(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

void rng_init(struct rng *rng, uint64_t seed, uint64_t stream)
{
    uint64_t state = rng_mix(seed, stream);
    for (int i = 0; i < 4; i++)
        rng->state[i] = splitmix64(&state);
}

static uint64_t rotl(uint64_t x, int k)
{
    return (x << k) | (x >> (64 - k));
}

uint64_t rng_u64(struct rng *rng)
{
    uint64_t *s = rng->state;
    uint64_t result = rotl(s[1] * 5, 7) * 9;
    uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotl(s[3], 45);
    return result;
}

uint64_t rng_below(struct rng *rng, uint64_t bound)
{
    uint64_t threshold = (0 - bound) % bound;
    for (;;) {
        uint64_t r = rng_u64(rng);
        if (r >= threshold)
            return r % bound;
    }
}

double rng_uniform(struct rng *rng)
{
    return (double)(rng_u64(rng) >> 11) * 0x1.0p-53;
}

double rng_exponential(struct rng *rng)
{
    return -log1p(-rng_uniform(rng));
}

double rng_normal(struct rng *rng)
{
    for (;;) {
        double u = 2 * rng_uniform(rng) - 1;
        double v = 2 * rng_uniform(rng) - 1;
        double s = u * u + v * v;
        if (s > 0 && s < 1)
            return u * sqrt(-2 * log(s) / s);
    }
}

double rng_gamma(struct rng *rng, double shape)
{
    double boost = 1;
    double k = shape;
    if (k < 1) {
        boost = pow(1 - rng_uniform(rng), 1 / k);
        k += 1;
    }
    double d = k - 1.0 / 3;
    double c = 1 / sqrt(9 * d);
    for (;;) {
        double x = rng_normal(rng);
        double v = 1 + c * x;
        if (v <= 0)
            continue;
        v = v * v * v;
        double u = 1 - rng_uniform(rng);
        if (log(u) < 0.5 * x * x + d - d * v + d * log(v))
            return boost * d * v / shape;
    }
}

void rng_shuffle(struct rng *rng, uint32_t *items, size_t count)
{
    for (size_t i = count; i > 1; i--) {
        size_t j = (size_t)rng_below(rng, i);
        uint32_t swap = items[i - 1];
        items[i - 1] = items[j];
        items[j] = swap;
    }
}

uint64_t rng_mix(uint64_t a, uint64_t b)
{
    uint64_t state = a ^ (b * UINT64_C(0xda942042e4dd58b5));
    uint64_t first = splitmix64(&state);
    state ^= b;
    return first ^ splitmix64(&state);
}
