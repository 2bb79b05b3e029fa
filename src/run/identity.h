/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_RUN_IDENTITY_H
#define ASSAY_RUN_IDENTITY_H

/* Names of a run: a random UUID (RFC 9562 version 4) and one that people can say, made of the time and two words of the UUID's. */

#include "base/clock.h"
#include "base/status.h"

#define UUID_TEXT_BYTES 37
#define HUMAN_ID_BYTES 64

struct identity {
    char uuid[UUID_TEXT_BYTES];
    char human[HUMAN_ID_BYTES];      /* "llm-20261130T190533Z-quiet-otter-3f2a" */
    char timestamp[WALL_TEXT_BYTES]; /* of `now` */
};

/* AS_E_IO when the system gives no random numbers. */
as_status identity_make(const char *tool, struct wall now, struct identity *ret, struct as_error *err) AS_NODISCARD;
/* The same from given random bytes. */
void identity_from(const char *tool, struct wall now, const unsigned char random[16], struct identity *ret);

#endif
