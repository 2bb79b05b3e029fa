/* SPDX-License-Identifier: Apache-2.0 */
#include "brief/hash.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#define BLOCK_BYTES 64

static uint32_t rotate_left(uint32_t word, unsigned bits)
{
    return word << bits | word >> (32 - bits);
}

static uint32_t rotate_right(uint32_t word, unsigned bits)
{
    return word >> bits | word << (32 - bits);
}

static uint32_t load_word(const uint8_t *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static void store_words(const uint32_t *words, size_t count, uint8_t *ret)
{
    for (size_t i = 0; i < count; i++)
        for (size_t byte = 0; byte < 4; byte++)
            ret[4 * i + byte] = (uint8_t)(words[i] >> (24 - 8 * byte));
}

static void sha256_block(uint32_t state[8], const uint8_t *block)
{
    static const uint32_t rounds[64] = {
        0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
        0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
        0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
        0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
        0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
        0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
        0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
        0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};
    uint32_t w[64], s[8];
    for (size_t i = 0; i < 16; i++)
        w[i] = load_word(block + 4 * i);
    for (size_t i = 16; i < 64; i++) {
        uint32_t low = rotate_right(w[i - 15], 7) ^ rotate_right(w[i - 15], 18) ^ w[i - 15] >> 3;
        uint32_t high = rotate_right(w[i - 2], 17) ^ rotate_right(w[i - 2], 19) ^ w[i - 2] >> 10;
        w[i] = w[i - 16] + low + w[i - 7] + high;
    }
    memcpy(s, state, sizeof s);
    for (size_t i = 0; i < 64; i++) {
        uint32_t high = rotate_right(s[4], 6) ^ rotate_right(s[4], 11) ^ rotate_right(s[4], 25);
        uint32_t first = s[7] + high + ((s[4] & s[5]) ^ (~s[4] & s[6])) + rounds[i] + w[i];
        uint32_t low = rotate_right(s[0], 2) ^ rotate_right(s[0], 13) ^ rotate_right(s[0], 22);
        uint32_t second = low + ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
        memmove(s + 1, s, 7 * sizeof s[0]);
        s[4] += first;
        s[0] = first + second;
    }
    for (size_t i = 0; i < 8; i++)
        state[i] += s[i];
}

static void sha1_block(uint32_t state[5], const uint8_t *block)
{
    static const uint32_t constants[] = {0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6};
    uint32_t w[80], s[5];
    for (size_t i = 0; i < 16; i++)
        w[i] = load_word(block + 4 * i);
    for (size_t i = 16; i < 80; i++)
        w[i] = rotate_left(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
    memcpy(s, state, sizeof s);
    for (size_t i = 0; i < 80; i++) {
        uint32_t choice = (s[1] & s[2]) | (~s[1] & s[3]), parity = s[1] ^ s[2] ^ s[3];
        uint32_t majority = (s[1] & s[2]) | (s[1] & s[3]) | (s[2] & s[3]);
        uint32_t mixed = i < 20 ? choice : i >= 40 && i < 60 ? majority : parity;
        uint32_t next = rotate_left(s[0], 5) + mixed + s[4] + constants[i / 20] + w[i];
        memmove(s + 1, s, 4 * sizeof s[0]);
        s[2] = rotate_left(s[2], 30);
        s[0] = next;
    }
    for (size_t i = 0; i < 5; i++)
        state[i] += s[i];
}

/* Both hashes pad alike: 0x80, zeros, the number of bits in 8 bytes. */
static void digest(void (*take_block)(uint32_t *state, const uint8_t *block), uint32_t *state, const uint8_t *data,
                   size_t len)
{
    uint8_t last[2 * BLOCK_BYTES] = {0};
    size_t whole = len - len % BLOCK_BYTES, rest = len - whole;
    for (size_t at = 0; at < whole; at += BLOCK_BYTES)
        take_block(state, data + at);
    if (rest > 0)
        memcpy(last, data + whole, rest);
    last[rest] = 0x80;
    size_t padded = rest + 9 <= BLOCK_BYTES ? BLOCK_BYTES : 2 * BLOCK_BYTES;
    for (size_t byte = 0; byte < 8; byte++)
        last[padded - 1 - byte] = (uint8_t)((uint64_t)len * 8 >> (8 * byte));
    for (size_t at = 0; at < padded; at += BLOCK_BYTES)
        take_block(state, last + at);
}

static void put_hex(const uint8_t *bytes, size_t count, char *ret)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < count; i++) {
        ret[2 * i] = digits[bytes[i] >> 4];
        ret[2 * i + 1] = digits[bytes[i] & 15];
    }
    ret[2 * count] = '\0';
}

void sha256_hex(const void *data, size_t len, char ret[SHA256_HEX_BYTES])
{
    uint32_t state[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    uint8_t bytes[32];
    digest(sha256_block, state, data, len);
    store_words(state, 8, bytes);
    put_hex(bytes, sizeof bytes, ret);
}

void sha1_digest(const void *data, size_t len, uint8_t ret[20])
{
    uint32_t state[5] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
    digest(sha1_block, state, data, len);
    store_words(state, 5, ret);
}

static void print_uuid(uint8_t bytes[16], int version, char ret[UUID_TEXT_BYTES])
{
    static const size_t lens[] = {4, 2, 2, 2, 6};
    char *at = ret;
    bytes[6] = (uint8_t)((bytes[6] & 0x0F) | version << 4);
    bytes[8] = (uint8_t)((bytes[8] & 0x3F) | 0x80);
    for (size_t part = 0; part < sizeof lens / sizeof lens[0]; part++) {
        if (part > 0)
            *at++ = '-';
        put_hex(bytes, lens[part], at);
        at += 2 * lens[part];
        bytes += lens[part];
    }
}

void uuid5_text(enum uuid_namespace space, const char *name, size_t len, char ret[UUID_TEXT_BYTES])
{
    /* RFC 9562 section 6.6; DNS and URL differ in the last bit of the first word. */
    static const uint8_t dns[16] = {0x6b, 0xa7, 0xb8, 0x10, 0x9d, 0xad, 0x11, 0xd1,
                                    0x80, 0xb4, 0x00, 0xc0, 0x4f, 0xd4, 0x30, 0xc8};
    uint8_t text[16 + 4096], bytes[20];
    size_t kept = len < sizeof text - sizeof dns ? len : sizeof text - sizeof dns;
    memcpy(text, dns, sizeof dns);
    text[3] = (uint8_t)(text[3] | (space == UUID_URL));
    memcpy(text + sizeof dns, name, kept);
    sha1_digest(text, sizeof dns + kept, bytes);
    print_uuid(bytes, 5, ret);
}

as_status uuid4_text(char ret[UUID_TEXT_BYTES])
{
    uint8_t bytes[16];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        return AS_E_IO;
    print_uuid(bytes, 4, ret);
    return AS_OK;
}
