/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_REPORT_TEXT_H
#define ASSAY_REPORT_TEXT_H

/* Numbers for people, of a width that fits columns. Pure; internal to report. */

#include <stddef.h>
#include <stdint.h>

#define REPORT_NUMBER_BYTES 32

/* Milliseconds with two to four significant places ("0.042", "50.12", "1234.5"); "-" when undefined. Returns `ret`. */
const char *text_ms(double value, char ret[REPORT_NUMBER_BYTES]);
/* A rate or count that may be undefined, likewise. */
const char *text_rate(double value, char ret[REPORT_NUMBER_BYTES]);
/* "75 ms", "12.3 s", "4:05", "1:02:03"; "-" when negative. */
const char *text_duration(double seconds, char ret[REPORT_NUMBER_BYTES]);

#endif
