/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_PLANE_FRONT_H
#define ASSAY_PLANE_FRONT_H

/* The loops' side of the control plane, for plane.c: the server's callbacks; their context is the struct plane. */

#include "http/server.h"

/* Longest answer. */
#define PLANE_ANSWER_MAX ((size_t)32 * 1024 * 1024)

extern const struct http_handler plane_handler;

#endif
