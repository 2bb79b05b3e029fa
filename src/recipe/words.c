/* SPDX-License-Identifier: Apache-2.0 */
#include "recipe/words.h"

#include "recipe/command.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <strings.h>

void words_init(struct words *words, struct arena *arena)
{
    *words = (struct words){.arena = arena};
}

static bool words_grow(struct words *words)
{
    size_t capacity = words->capacity ? words->capacity * 2 : 16;
    if (words->count >= RECIPE_WORDS_MAX) {
        words->status = AS_E_LIMIT;
        return false;
    }
    const char **items = arena_calloc(words->arena, capacity, sizeof(*items));
    if (!items) {
        words->status = AS_E_NOMEM;
        return false;
    }
    for (size_t i = 0; i < words->count; i++)
        items[i] = words->items[i];
    words->items = items;
    words->capacity = capacity;
    return true;
}

void words_add(struct words *words, const char *word)
{
    if (words->status != AS_OK)
        return;
    if (!word) {
        words->status = AS_E_NOMEM;
        return;
    }
    if (words->count == words->capacity && !words_grow(words))
        return;
    words->items[words->count++] = word;
}

void words_addf(struct words *words, const char *fmt, ...)
{
    va_list args, again;
    va_start(args, fmt);
    va_copy(again, args);
    int len = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    char *text = len >= 0 ? arena_alloc(words->arena, (size_t)len + 1) : NULL;
    if (text)
        (void)vsnprintf(text, (size_t)len + 1, fmt, again);
    va_end(again);
    words_add(words, text);
}

as_status words_finish(struct words *words, struct recipe_list *ret, struct as_error *err)
{
    if (words->status == AS_E_LIMIT)
        return error_set(err, AS_E_LIMIT, "more than %d words", RECIPE_WORDS_MAX);
    if (words->status != AS_OK)
        return error_set(err, words->status, "no memory");
    *ret = (struct recipe_list){words->items, words->count};
    return AS_OK;
}

bool is_placeholder_name(const char *text, size_t len)
{
    if (len == 0 || text[0] < 'a' || text[0] > 'z')
        return false;
    for (size_t i = 1; i < len; i++)
        if (!(text[i] >= 'a' && text[i] <= 'z') && !(text[i] >= '0' && text[i] <= '9') && text[i] != '_')
            return false;
    return true;
}

const char *find_placeholder(const char *text, size_t *ret_name_len)
{
    for (const char *at = strchr(text, '{'); at; at = strchr(at + 1, '{')) {
        size_t len = strcspn(at + 1, "{}");
        if (at[1 + len] != '}' || !is_placeholder_name(at + 1, len))
            continue;
        *ret_name_len = len;
        return at;
    }
    return NULL;
}

bool is_environment_name(const char *text)
{
    if (!isalpha((unsigned char)*text) && *text != '_')
        return false;
    for (; *text; text++)
        if (!isalnum((unsigned char)*text) && *text != '_')
            return false;
    return true;
}

/* Words between _, -, . and changes to capitals are not looked for: names are snake_case or SNAKE_CASE. */
bool recipe_is_secret_name(const char *name)
{
    static const char *const secrets[] = {"token",  "password",   "passwd",      "secret",       "apikey",
                                          "bearer", "credential", "credentials", "authorization"};
    bool was_api = false, found = false;
    for (const char *at = name; *at;) {
        size_t len = strcspn(at, "_-.");
        for (size_t i = 0; i < sizeof(secrets) / sizeof(secrets[0]); i++)
            found = found || (strlen(secrets[i]) == len && strncasecmp(at, secrets[i], len) == 0);
        bool is_key = len == 3 && strncasecmp(at, "key", 3) == 0;
        found = found || (is_key && (was_api || at[len] == '\0'));
        was_api = len == 3 && strncasecmp(at, "api", 3) == 0;
        if (at[len] == '\0' && found && (strncasecmp(at, "env", 4) == 0 || strncasecmp(at, "file", 5) == 0))
            return false; /* api_key_env: the name of a variable; api_key_file: a path */
        at += len + (at[len] != '\0');
    }
    return found;
}
