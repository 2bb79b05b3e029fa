/* SPDX-License-Identifier: Apache-2.0 */
/* Whatever a server sends with an error becomes one bounded line of valid UTF-8 without the key. */
#include "engine/error_text.h"

#include "base/json_write.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define SECRET "sk-secret-0001"

static void must(bool holds)
{
    if (!holds)
        abort();
}

static void check(const struct error_text *text)
{
    struct strbuf escaped;
    must(text->len <= ERROR_TEXT_MAX && text->text[text->len] == '\0' && strlen(text->text) == text->len);
    must(strstr(text->text, SECRET) == NULL);
    for (size_t i = 0; i < text->len; i++)
        must((unsigned char)text->text[i] >= 0x20 && text->text[i] != 0x7F);
    must(text->len == 0 || (text->text[0] != ' ' && text->text[text->len - 1] != ' '));
    /* Valid UTF-8 is what the JSON writer leaves as it is, but for escapes. */
    strbuf_init(&escaped, 0);
    json_escape(&escaped, text->text, text->len);
    size_t quotes = 0;
    for (size_t i = 0; i < text->len; i++)
        quotes += text->text[i] == '"' || text->text[i] == '\\';
    must(escaped.len == text->len + quotes);
    strbuf_done(&escaped);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const secrets[] = {SECRET, "", NULL};
    struct error_text text, again;
    error_text_from_body((const char *)data, size, secrets, &text);
    check(&text);
    error_text_from_plain(text.text, text.len, secrets, &again);
    check(&again);
    must(strcmp(text.text, again.text) == 0);
    error_text_from_plain((const char *)data, size, secrets, &text);
    check(&text);
    return 0;
}
