/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_RUN_IMAGE_REPORT_H
#define ASSAY_RUN_IMAGE_REPORT_H

/* What `assay imagegen verify` and `compare` print: lines for people, or one JSON object. AS_E_NOMEM. */

#include "base/strbuf.h"
#include "run/image_log.h"

/* Hashes all images of a log. *ret_is_sound: each that was saved is there and has its digest. */
as_status image_report_check(const struct image_log *log, bool is_json, struct strbuf *out,
                             bool *ret_is_sound) AS_NODISCARD;
/* *ret_is_equal: there are pairs, and the images of each are equal. */
as_status image_report_compare(const struct image_log *a, const struct image_log *b, bool is_json, struct strbuf *out,
                               bool *ret_is_equal) AS_NODISCARD;

#endif
