/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_PLANE_PIECES_H
#define ASSAY_PLANE_PIECES_H

/*
 * Long answers in bounded memory: a worker makes a piece (call.h, struct call_pieces), the loop sends it, and the next
 * one is made when the kernel has it. No transaction is open in between, so that a slow reader holds nothing but one
 * piece. When a piece cannot be made the connection is reset: the answer has no end, and the reader knows that it is
 * not whole.
 */

#include "plane/call.h"

/* In the loop's thread, with the first piece in the call's answer: the exchange owns the call from now on. */
void pieces_begin(struct plane_call *take_call);

#endif
