/* SPDX-License-Identifier: Apache-2.0 */
#include "workload/digest.h"

#include <openssl/evp.h>

as_status digest_init(struct digest *digest)
{
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    if (!context || EVP_DigestInit_ex(context, EVP_sha256(), NULL) != 1) {
        EVP_MD_CTX_free(context);
        return AS_E_NOMEM;
    }
    digest->context = context;
    return AS_OK;
}

as_status digest_add(struct digest *digest, const void *data, size_t len)
{
    return EVP_DigestUpdate(digest->context, data, len) == 1 ? AS_OK : AS_E_NOMEM;
}

as_status digest_add_length(struct digest *digest, size_t len)
{
    unsigned char bytes[8];
    for (int i = 0; i < 8; i++)
        bytes[i] = (unsigned char)((unsigned long long)len >> 8 * i);
    return digest_add(digest, bytes, sizeof bytes);
}

as_status digest_finish(struct digest *digest, char ret_text[DIGEST_TEXT_BYTES])
{
    static const char digits[] = "0123456789abcdef";
    unsigned char sum[EVP_MAX_MD_SIZE];
    unsigned int len = 0;
    int ok = EVP_DigestFinal_ex(digest->context, sum, &len);
    digest_abandon(digest);
    if (ok != 1)
        return AS_E_NOMEM;
    for (unsigned int i = 0; i < len && i < DIGEST_TEXT_BYTES / 2; i++) {
        ret_text[2 * i] = digits[sum[i] >> 4];
        ret_text[2 * i + 1] = digits[sum[i] & 15];
    }
    ret_text[DIGEST_TEXT_BYTES - 1] = '\0';
    return AS_OK;
}

void digest_abandon(struct digest *digest)
{
    EVP_MD_CTX_free(digest->context);
    digest->context = NULL;
}

as_status digest_bytes(const void *data, size_t len, char ret_text[DIGEST_TEXT_BYTES])
{
    struct digest digest;
    as_status status = digest_init(&digest);
    if (status != AS_OK)
        return status;
    status = digest_add(&digest, data, len);
    if (status != AS_OK) {
        digest_abandon(&digest);
        return status;
    }
    return digest_finish(&digest, ret_text);
}
