/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"
#include "base/log.h"
#include "cmd/commands.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define WIDTH_DEFAULT 80
#define WIDTH_MAX 120

const struct command *const *command_list(size_t *ret_count)
{
#define COMMAND_ADDRESS(name) &command_##name,
    static const struct command *const all[] = {COMMAND_MAP(COMMAND_ADDRESS)};
#undef COMMAND_ADDRESS
    static const struct command *present[COMMANDS_MAX];
    size_t count = 0;
    for (size_t i = 0; i < sizeof all / sizeof all[0] && count < COMMANDS_MAX; i++)
        if (all[i])
            present[count++] = all[i];
    *ret_count = count;
    return present;
}

const struct command *command_find(const char *name)
{
    size_t count;
    const struct command *const *list = command_list(&count);
    for (size_t i = 0; i < count; i++)
        if (strcmp(list[i]->line->name, name) == 0)
            return list[i];
    return NULL;
}

int command_fail(const char *name, const struct as_error *err)
{
    fprintf(stderr, "assay %s: %s\n", name, err->message[0] ? err->message : status_sentence(err->status));
    return status_exit_code(err->status);
}

static size_t terminal_width(void)
{
    struct winsize size;
    const char *columns = getenv("COLUMNS");
    long width = columns ? strtol(columns, NULL, 10) : 0;
    if (width <= 0 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
        width = size.ws_col;
    if (width <= 0)
        width = WIDTH_DEFAULT;
    return (size_t)(width < WIDTH_MAX ? width : WIDTH_MAX);
}

int command_print(const char *name, const struct strbuf *text)
{
    as_status status = strbuf_status(text);
    if (status == AS_OK)
        status = file_write_all(STDOUT_FILENO, strbuf_text(text), text->len);
    if (status == AS_OK)
        return 0;
    struct as_error err;
    if (status == AS_E_IO)
        (void)error_set_errno(&err, errno, "standard output");
    else
        (void)error_set(&err, status, "what was to be printed: %s", status_sentence(status));
    return command_fail(name, &err);
}

int command_print_help(const struct opt_command *line)
{
    struct strbuf text AS_AUTO_STRBUF;
    strbuf_init(&text, 0);
    options_help(line, terminal_width(), &text);
    return command_print(line->name, &text);
}

void command_notes(const struct opt_parsed *parsed)
{
    for (size_t i = 0; i < parsed->note_count; i++)
        log_info("%s", parsed->notes[i]);
}
