/* SPDX-License-Identifier: Apache-2.0 */
#include "plane/secret.h"

#include "base/file.h"

#include <argon2.h>
#include <errno.h>
#include <fcntl.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define ARGON_PASSES     2
#define ARGON_MEMORY_KIB 19456
#define ARGON_LANES      1
#define ARGON_SALT_BYTES 16
#define ARGON_HASH_BYTES 32
#define NONCE_BYTES      12
#define TAG_BYTES        16
#define PASSWORD_MIN     8
#define PASSWORD_MAX     128

static const char ALPHABET[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

as_status secret_random(void *ret, size_t len)
{
    unsigned char *at = ret;
    while (len > 0) {
        ssize_t got = getrandom(at, len, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return AS_E_IO;
        at += got;
        len -= (size_t)got;
    }
    return AS_OK;
}

static size_t put_base64url(char *ret, const unsigned char *data, size_t len)
{
    char *at = ret;
    for (size_t i = 0; i < len; i += 3) {
        const size_t left = len - i;
        const uint32_t bits =
            (uint32_t)data[i] << 16 | (uint32_t)(left > 1 ? data[i + 1] : 0) << 8 | (left > 2 ? data[i + 2] : 0);
        *at++ = ALPHABET[bits >> 18];
        *at++ = ALPHABET[bits >> 12 & 63];
        if (left > 1)
            *at++ = ALPHABET[bits >> 6 & 63];
        if (left > 2)
            *at++ = ALPHABET[bits & 63];
    }
    *at = '\0';
    return (size_t)(at - ret);
}

char *secret_base64url(struct arena *arena, const void *data, size_t len)
{
    char *ret = arena_alloc(arena, (len + 2) / 3 * 4 + 1);
    if (ret)
        put_base64url(ret, data, len);
    return ret;
}

unsigned char *secret_base64url_read(struct arena *arena, const char *text, size_t len, size_t *ret_len)
{
    unsigned char *ret = arena_alloc(arena, len / 4 * 3 + 3);
    uint32_t bits = 0;
    size_t count = 0;
    unsigned have = 0;
    if (!ret || len % 4 == 1)
        return NULL;
    for (size_t i = 0; i < len; i++) {
        const char *place = text[i] ? strchr(ALPHABET, text[i]) : NULL;
        if (!place)
            return NULL;
        bits = bits << 6 | (uint32_t)(place - ALPHABET);
        have += 6;
        if (have >= 8) {
            have -= 8;
            ret[count++] = (unsigned char)(bits >> have);
        }
    }
    *ret_len = count;
    return ret;
}

as_status secret_token(char ret[SECRET_TOKEN_BYTES])
{
    unsigned char bytes[32];
    as_status status = secret_random(bytes, sizeof bytes);
    if (status == AS_OK)
        put_base64url(ret, bytes, sizeof bytes);
    OPENSSL_cleanse(bytes, sizeof bytes);
    return status;
}

as_status secret_hash(const void *data, size_t len, char ret[SECRET_HASH_BYTES])
{
    static const char digits[] = "0123456789abcdef";
    unsigned char digest[32];
    unsigned count = 0;
    if (EVP_Digest(data, len, digest, &count, EVP_sha256(), NULL) != 1 || count != sizeof digest)
        return AS_E_INTERNAL;
    for (unsigned i = 0; i < count; i++) {
        ret[2 * i] = digits[digest[i] >> 4];
        ret[2 * i + 1] = digits[digest[i] & 15];
    }
    ret[SECRET_HASH_BYTES - 1] = '\0';
    return AS_OK;
}

bool secret_equals(const char *a, const char *b)
{
    size_t len = strlen(a);
    return len == strlen(b) && CRYPTO_memcmp(a, b, len) == 0;
}

as_status secret_password_hash(const char *password, char ret[SECRET_PASSWORD_BYTES])
{
    unsigned char salt[ARGON_SALT_BYTES];
    as_status status = secret_random(salt, sizeof salt);
    if (status != AS_OK)
        return status;
    int result = argon2id_hash_encoded(ARGON_PASSES, ARGON_MEMORY_KIB, ARGON_LANES, password, strlen(password), salt,
                                       sizeof salt, ARGON_HASH_BYTES, ret, SECRET_PASSWORD_BYTES);
    if (result == ARGON2_MEMORY_ALLOCATION_ERROR)
        return AS_E_NOMEM;
    return result == ARGON2_OK ? AS_OK : AS_E_INTERNAL;
}

bool secret_password_fits(const char *password, const char *hash)
{
    /* Of no password: what is compared when there is no user, so that both cases take as long. */
    static const char nobody[] = "$argon2id$v=19$m=19456,t=2,p=1$AAAAAAAAAAAAAAAAAAAAAA$"
                                 "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
    const bool is_hash = hash && strncmp(hash, "$argon2id$", 10) == 0;
    return argon2id_verify(is_hash ? hash : nobody, password, strlen(password)) == ARGON2_OK && is_hash;
}

/* The passwords that guessing tries first, those of fewer than eight characters left out. */
static const char *const USUAL[] = {
    "12345678",   "123456789", "1234567890", "password",    "password1",  "password123", "passw0rd",   "p@ssw0rd",
    "qwertyuiop", "qwerty123", "1q2w3e4r",   "1qaz2wsx",    "iloveyou",   "princess",    "sunshine",   "football",
    "baseball",   "superman",  "trustno1",   "welcome1",    "welcome123", "admin123",    "adminadmin", "administrator",
    "letmein1",   "changeme",  "changeme1",  "changeme123", "11111111",   "00000000",    "87654321",   "abcd1234",
    "asdfghjkl",  "starwars",  "whatever",   "computer",    "michelle",   "jennifer",    "internet",   "samsung1",
    "qwer1234",   "zaq12wsx",  "dragon123",  "monkey123",   "master123",  "shadow123",   "secret123",  "benchmark",
};

static bool is_one_character(const char *password)
{
    return strspn(password, (const char[]){password[0], '\0'}) == strlen(password);
}

const char *secret_password_refusal(const char *password, size_t len, const char *user_name)
{
    size_t count = 0;
    for (size_t i = 0; i < len; i++)
        count += ((unsigned char)password[i] & 0xC0) != 0x80;
    if (count < PASSWORD_MIN)
        return "has fewer than 8 characters";
    if (count > PASSWORD_MAX)
        return "has more than 128 characters";
    for (size_t i = 0; i < sizeof USUAL / sizeof USUAL[0]; i++)
        if (strcasecmp(password, USUAL[i]) == 0)
            return "is one of the most used passwords";
    if (is_one_character(password))
        return "is one character repeated";
    return user_name && strcasecmp(password, user_name) == 0 ? "is the user's name" : NULL;
}

static as_status make_key(const char *path, struct secret_key *ret, struct as_error *err)
{
    char text[2 * SECRET_KEY_BYTES + 2];
    as_status status = secret_random(ret->bytes, sizeof ret->bytes);
    if (status != AS_OK)
        return error_set(err, status, "no random bytes");
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return error_set_errno(err, errno, "%s", path);
    for (size_t i = 0; i < SECRET_KEY_BYTES; i++)
        (void)snprintf(text + 2 * i, 3, "%02x", ret->bytes[i]);
    text[sizeof text - 2] = '\n';
    status = file_write_all(fd, text, sizeof text - 1);
    if (status == AS_OK && fsync(fd) != 0)
        status = AS_E_IO;
    if (close(fd) != 0 && status == AS_OK)
        status = AS_E_IO;
    OPENSSL_cleanse(text, sizeof text);
    return status == AS_OK ? status : error_set(err, status, "%s: the key could not be written", path);
}

static int hex_value(char c)
{
    const char *place = c ? strchr("0123456789abcdef", c) : NULL;
    return place ? (int)(place - "0123456789abcdef") : -1;
}

static as_status read_key(const char *path, const struct strbuf *text, struct secret_key *ret, struct as_error *err)
{
    const size_t digits = (size_t)2 * SECRET_KEY_BYTES;
    bool fits = text->len == digits || (text->len == digits + 1 && text->data[digits] == '\n');
    for (size_t i = 0; fits && i < SECRET_KEY_BYTES; i++) {
        int high = hex_value(text->data[2 * i]), low = hex_value(text->data[2 * i + 1]);
        fits = high >= 0 && low >= 0;
        ret->bytes[i] = (unsigned char)(fits ? high << 4 | low : 0);
    }
    return fits ? AS_OK : error_set(err, AS_E_INVALID, "%s: is no key of 64 hexadecimal digits", path);
}

as_status secret_key_load(const char *path, struct secret_key *ret, struct as_error *err)
{
    struct strbuf text AS_AUTO_STRBUF = {.len = 0};
    struct stat about;
    if (stat(path, &about) != 0)
        return errno == ENOENT ? make_key(path, ret, err) : error_set_errno(err, errno, "%s", path);
    if (about.st_mode & 077)
        return error_set(err, AS_E_DENIED, "%s: others may read the key; chmod 600 it", path);
    strbuf_init(&text, 4096);
    as_status status = file_read(path, &text, err);
    if (status == AS_OK)
        status = read_key(path, &text, ret, err);
    if (text.data)
        OPENSSL_cleanse(text.data, text.len);
    return status;
}

as_status secret_seal(const struct secret_key *key, const char *purpose, const void *data, size_t len,
                      unsigned char *ret)
{
    int count = 0;
    as_status status = secret_random(ret, NONCE_BYTES);
    EVP_CIPHER_CTX *context = status == AS_OK ? EVP_CIPHER_CTX_new() : NULL;
    if (status != AS_OK || len > 1 << 20)
        status = status == AS_OK ? AS_E_LIMIT : status;
    else if (!context)
        status = AS_E_NOMEM;
    else if (EVP_EncryptInit_ex2(context, EVP_aes_256_gcm(), key->bytes, ret, NULL) != 1 ||
             EVP_EncryptUpdate(context, NULL, &count, (const unsigned char *)purpose, (int)strlen(purpose)) != 1 ||
             EVP_EncryptUpdate(context, ret + NONCE_BYTES, &count, data, (int)len) != 1 ||
             EVP_EncryptFinal_ex(context, ret + NONCE_BYTES + count, &count) != 1 ||
             EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, TAG_BYTES, ret + NONCE_BYTES + len) != 1)
        status = AS_E_INTERNAL;
    EVP_CIPHER_CTX_free(context);
    return status;
}

as_status secret_open(const struct secret_key *key, const char *purpose, const void *sealed, size_t len,
                      unsigned char *ret)
{
    const unsigned char *bytes = sealed;
    as_status status = AS_OK;
    int count = 0;
    if (len < SECRET_SEAL_EXTRA || len > (1 << 20) + SECRET_SEAL_EXTRA)
        return AS_E_INVALID;
    const size_t plain = len - SECRET_SEAL_EXTRA;
    unsigned char tag[TAG_BYTES];
    memcpy(tag, bytes + NONCE_BYTES + plain, TAG_BYTES);
    EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
    if (!context)
        status = AS_E_NOMEM;
    else if (EVP_DecryptInit_ex2(context, EVP_aes_256_gcm(), key->bytes, bytes, NULL) != 1 ||
             EVP_DecryptUpdate(context, NULL, &count, (const unsigned char *)purpose, (int)strlen(purpose)) != 1 ||
             EVP_DecryptUpdate(context, ret, &count, bytes + NONCE_BYTES, (int)plain) != 1 ||
             EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, TAG_BYTES, tag) != 1 ||
             EVP_DecryptFinal_ex(context, ret + count, &count) != 1)
        status = AS_E_INVALID;
    EVP_CIPHER_CTX_free(context);
    return status;
}
