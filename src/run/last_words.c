/* SPDX-License-Identifier: Apache-2.0 */
#include "run/last_words.h"

#include "report/files.h"
#include "run/signals.h"
#include "summary/run_file.h"

#include <string.h>

/* run.json, summary.json, data.jsonl, --data-log */
#define FILES_MAX 4

static as_status add(struct run *run, struct signals_words *words, const char *path, const struct strbuf *text, bool appends)
{
    struct signals_file *file = &words->files[words->count];
    *file = (struct signals_file){.path = arena_strdup(&run->arena, path),
                                  .text = arena_strndup(&run->arena, strbuf_text(text), text->len),
                                  .len = text->len,
                                  .appends = appends};
    if (strbuf_status(text) != AS_OK || !file->path || !file->text)
        return AS_E_NOMEM;
    words->count++;
    return AS_OK;
}

static as_status add_facts(struct run *run, struct signals_words *words)
{
    struct strbuf text AS_AUTO_STRBUF;
    char path[PATH_MAX];
    strbuf_init(&text, 0);
    as_status status = run_facts_format(&run->facts, &text);
    folder_file(&run->folder, RUN_FILE_NAME, path);
    return status == AS_OK ? add(run, words, path, &text, false) : status;
}

static as_status add_summary(struct run *run, struct signals_words *words, const struct summary *summary)
{
    struct strbuf text AS_AUTO_STRBUF, line AS_AUTO_STRBUF;
    char path[PATH_MAX];
    const char *data_log = run->config.result.data_log;
    strbuf_init(&text, 0);
    strbuf_init(&line, 0);
    as_status status = report_summary_text(summary, 2, &text, NULL);
    if (status == AS_OK)
        status = report_summary_text(summary, 0, &line, NULL);
    strbuf_addc(&line, '\n');
    folder_file(&run->folder, "summary.json", path);
    if (status == AS_OK)
        status = add(run, words, path, &text, false);
    folder_file(&run->folder, "data.jsonl", path);
    if (status == AS_OK)
        status = add(run, words, path, &line, true);
    if (status == AS_OK && data_log)
        status = add(run, words, data_log, &line, true);
    return status;
}

void last_words_prepare(struct run *run)
{
    const struct run_facts *shards[] = {&run->facts};
    struct summary_builder *builder = NULL;
    struct summary summary;
    struct signals_words *words = arena_calloc(&run->arena, 1, sizeof *words);
    struct signals_file *files = arena_calloc(&run->arena, FILES_MAX, sizeof *files);
    if (!words || !files || summary_builder_new(shards, 1, NULL, &builder) != AS_OK)
        return;
    words->files = files;
    words->sentence =
        arena_printf(&run->arena, "\nassay %s: stopped before the first request; %s says so\n", run->tool->name, run->folder.path);
    as_status status = summary_finish(builder, &summary, NULL);
    summary_builder_free(builder);
    if (status != AS_OK)
        return;
    status = add_facts(run, words);
    if (status == AS_OK)
        status = add_summary(run, words, &summary);
    summary_done(&summary);
    if (status == AS_OK)
        signals_set_last_words(words);
}
