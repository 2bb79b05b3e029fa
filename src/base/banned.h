/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_BASE_BANNED_H
#define ASSAY_BASE_BANNED_H

/* Included by the compiler before every source file of ours: these functions do not compile. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BANNED(function, instead) function##_is_banned_use_##instead
#undef strcpy
#define strcpy(...) BANNED(strcpy, memcpy)
#undef strcat
#define strcat(...) BANNED(strcat, strbuf)
#undef sprintf
#define sprintf(...) BANNED(sprintf, snprintf)
#undef vsprintf
#define vsprintf(...) BANNED(vsprintf, vsnprintf)
#undef strtok
#define strtok(...) BANNED(strtok, memchr)
#undef atoi
#define atoi(...) BANNED(atoi, strtoll)
#undef gmtime
#define gmtime(...) BANNED(gmtime, wall_format)
#undef localtime
#define localtime(...) BANNED(localtime, wall_format)

#endif
