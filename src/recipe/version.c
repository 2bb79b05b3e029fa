/* SPDX-License-Identifier: Apache-2.0 */
#include "recipe/version.h"

#include <ctype.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

#define PARTS_MAX  8
#define NUMBER_MAX 1000000000

/* Order of what follows the release numbers. */
enum stage { STAGE_DEV, STAGE_ALPHA, STAGE_BETA, STAGE_CANDIDATE, STAGE_FINAL, STAGE_POST };

struct version {
    bool is_rolling; /* nightly */
    int64_t parts[PARTS_MAX];
    enum stage stage;
    int64_t stage_number;
    bool is_dev; /* of the stage: 1.0rc1.dev2 */
    int64_t dev_number;
};

static const struct {
    const char *word;
    enum stage stage;
} STAGES[] = {{"dev", STAGE_DEV}, {"alpha", STAGE_ALPHA},  {"a", STAGE_ALPHA},     {"beta", STAGE_BETA},
              {"b", STAGE_BETA},  {"rc", STAGE_CANDIDATE}, {"c", STAGE_CANDIDATE}, {"post", STAGE_POST}};

static bool take_number(const char **at, int64_t *ret)
{
    int64_t value = 0;
    if (!isdigit((unsigned char)**at))
        return false;
    for (; isdigit((unsigned char)**at); (*at)++)
        value = value < NUMBER_MAX ? value * 10 + (**at - '0') : NUMBER_MAX;
    *ret = value;
    return true;
}

/* "rc2", ".post1", "-dev": false when there is no such word. */
static bool take_stage(const char **at, enum stage *ret_stage, int64_t *ret_number)
{
    const char *word = *at + (**at == '.' || **at == '-' || **at == '_');
    for (size_t i = 0; i < sizeof(STAGES) / sizeof(STAGES[0]); i++) {
        size_t len = strlen(STAGES[i].word);
        if (strncasecmp(word, STAGES[i].word, len) != 0 || isalpha((unsigned char)word[len]))
            continue;
        *at = word + len;
        *at += **at == '.' && isdigit((unsigned char)(*at)[1]);
        *ret_stage = STAGES[i].stage;
        *ret_number = 0;
        (void)take_number(at, ret_number);
        return true;
    }
    return false;
}

static bool is_rolling_name(const char *text)
{
    static const char *const names[] = {"nightly", "main", "latest"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcasecmp(text, names[i]) == 0)
            return true;
    return false;
}

static bool version_read(const char *text, struct version *ret)
{
    struct version version = {.stage = STAGE_FINAL};
    const char *at = text;
    size_t count = 0;
    if (!text)
        return false;
    if (is_rolling_name(text)) {
        version.is_rolling = true;
        *ret = version;
        return true;
    }
    at += *at == 'v' || *at == 'V';
    do {
        if (count == PARTS_MAX || !take_number(&at, &version.parts[count++]))
            return false;
    } while (*at == '.' && isdigit((unsigned char)at[1]) && *at++);
    if (take_stage(&at, &version.stage, &version.stage_number) && version.stage != STAGE_DEV) {
        enum stage stage = STAGE_FINAL;
        if (take_stage(&at, &stage, &version.dev_number) && stage != STAGE_DEV)
            return false;
        version.is_dev = stage == STAGE_DEV;
    }
    if (*at != '\0' && !(*at == '+' && at[1] != '\0'))
        return false;
    *ret = version;
    return true;
}

bool recipe_version_is_valid(const char *text)
{
    struct version version;
    return version_read(text, &version);
}

static int compare_numbers(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

int recipe_version_compare(const char *a, const char *b)
{
    struct version left, right;
    bool has_left = version_read(a, &left), has_right = version_read(b, &right);
    if (!has_left || !has_right)
        return (int)has_left - (int)has_right;
    if (left.is_rolling || right.is_rolling)
        return (int)left.is_rolling - (int)right.is_rolling;
    int order = 0;
    for (size_t i = 0; i < PARTS_MAX && order == 0; i++)
        order = compare_numbers(left.parts[i], right.parts[i]);
    if (order == 0)
        order = (int)left.stage - (int)right.stage;
    if (order == 0)
        order = compare_numbers(left.stage_number, right.stage_number);
    if (order == 0)
        order = (int)right.is_dev - (int)left.is_dev;
    return order != 0 ? order : compare_numbers(left.dev_number, right.dev_number);
}

bool recipe_version_within(const char *version, const char *since, const char *until)
{
    return (!since || recipe_version_compare(version, since) >= 0) &&
           (!until || recipe_version_compare(version, until) < 0);
}
