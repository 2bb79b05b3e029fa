/* SPDX-License-Identifier: Apache-2.0 */
#include "run/identity.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

static const char *const QUALITIES[] = {"amber", "brave", "brisk", "calm",  "clear", "crisp", "deft",  "eager", "early", "fair",  "fleet",
                                        "frank", "glad",  "grand", "keen",  "kind",  "level", "light", "lucid", "mild",  "neat",  "noble",
                                        "plain", "prime", "quick", "quiet", "sharp", "solid", "spry",  "still", "vivid", "warm"};
static const char *const ANIMALS[] = {"badger", "bison", "crane", "curlew", "dingo", "eland", "falcon", "finch", "gecko", "heron", "ibex",
                                      "jackal", "kestrel", "lapwing", "lemur", "lynx", "marten", "merlin", "newt", "ocelot", "otter", "plover",
                                      "puffin", "quail", "raven", "robin", "shrew", "stoat", "swift", "tapir", "vole", "wren"};

void identity_from(const char *tool, struct wall now, const unsigned char random[16], struct identity *ret)
{
    unsigned char b[16];
    memcpy(b, random, sizeof b);
    b[6] = (unsigned char)((b[6] & 0x0f) | 0x40);
    b[8] = (unsigned char)((b[8] & 0x3f) | 0x80);
    snprintf(ret->uuid, sizeof ret->uuid, "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", b[0], b[1], b[2], b[3], b[4],
             b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15]);
    wall_format(now, ret->timestamp);
    const char *t = ret->timestamp; /* 2026-11-30T19:05:33.… */
    snprintf(ret->human, sizeof ret->human, "%.12s-%.4s%.2s%.2sT%.2s%.2s%.2sZ-%s-%s-%02x%02x", tool, t, t + 5, t + 8, t + 11, t + 14, t + 17,
             QUALITIES[b[0] % 32], ANIMALS[b[1] % 32], b[2], b[3]);
}

as_status identity_make(const char *tool, struct wall now, struct identity *ret, struct as_error *err)
{
    unsigned char random[16];
    if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random)
        return error_set_errno(err, errno, "no random numbers for the run's id");
    identity_from(tool, now, random, ret);
    return AS_OK;
}
