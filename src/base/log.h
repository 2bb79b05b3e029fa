/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_BASE_LOG_H
#define ASSAY_BASE_LOG_H

/*
 * Lines for people on stderr: "assay: warning: text". Commands print; modules return errors and
 * use only log_debug. Whole lines in one write. Any thread.
 */

#include "base/status.h"

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARNING, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG };

/* What is printed: this level and the ones above it. Default LOG_LEVEL_INFO. */
void log_set_level(enum log_level level);
/* The word before the colon, default "assay". The pointer is kept. */
void log_set_program(const char *name);
void log_line(enum log_level level, const char *fmt, ...) AS_PRINTF(2, 3);

#define log_error(...) log_line(LOG_LEVEL_ERROR, __VA_ARGS__)
#define log_warning(...) log_line(LOG_LEVEL_WARNING, __VA_ARGS__)
#define log_info(...) log_line(LOG_LEVEL_INFO, __VA_ARGS__)
#define log_debug(...) log_line(LOG_LEVEL_DEBUG, __VA_ARGS__)

#endif
