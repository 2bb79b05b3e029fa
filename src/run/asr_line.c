/* SPDX-License-Identifier: Apache-2.0 */
#include "run/config.h"
#include "run/exits.h"

/* Names of enum asr_format and enum normalizer, in their order. */
static const char *const FORMATS[] = {"verbose_json", "json", "text", "srt", "vtt", NULL};
static const char *const NORMALIZERS[] = {"none", "lowercase", "basic", "english", NULL};
static const char *const GRANULARITIES[] = {"word", "segment", "none", NULL};

static as_status check_language(const char *text, struct as_error *err)
{
    for (const char *at = text; *at; at++)
        if (!((*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') || *at == '-'))
            return error_set(err, AS_E_USAGE, "holds a character that is no letter");
    return *text ? AS_OK : error_set(err, AS_E_USAGE, "is empty");
}

#define AT(field) .at = offsetof(struct audio_config, field)
#define GROUP     .group = "Audio"

static const struct opt AUDIO_OPTIONS[] = {
    {.name = "input",
     .aliases = "input-file dataset-path manifest",
     .type = OPT_FILE,
     AT(manifest),
     GROUP,
     .value = "FILE|URL|-",
     .secrecy = OPT_URL,
     .example = "manifest.jsonl",
     .sentence = "Manifest, JSONL: `id`, `path` or `url`, `format` (mp3, wav, webm, ogg, m4a, mp4, flac), `duration` "
                 "in seconds. "
                 "Samples are sent in this order, and again from the start."},
    {.name = "ground-truth",
     .type = OPT_FILE,
     AT(ground_truth),
     GROUP,
     .example = "ground_truth.jsonl",
     .sentence = "Reference transcripts, JSONL: `id`, `transcript`. Gives word and character error rates."},
    {.name = "normalizer",
     .aliases = "normaliser",
     .type = OPT_ENUM,
     AT(normalizer),
     GROUP,
     .choices = NORMALIZERS,
     .initial = "lowercase",
     .needs = "ground-truth",
     .sentence = "What both texts go through before they are compared; the raw rates are kept beside. basic drops "
                 "punctuation, english also writes "
                 "contractions out and drops fillers."},
    {.name = "skip-bad-lines",
     .type = OPT_FLAG,
     AT(skip_bad_lines),
     GROUP,
     .sentence = "Count and report lines that cannot be used instead of refusing the file."},
    {.name = "probe-duration",
     .type = OPT_FLAG,
     AT(probe_duration),
     GROUP,
     .initial = "true",
     .sentence = "Measure the files: the length of samples without `duration`, and a check of the others. Without it "
                 "RTF needs a stated duration."},
    {.name = "audio-cache",
     .type = OPT_FILE,
     AT(cache),
     GROUP,
     .value = "FOLDER",
     .example = "audio-cache",
     .initial_note = "$XDG_CACHE_HOME/assay/audio or ~/.cache/assay/audio",
     .sentence = "Where downloaded samples are kept, by the digest of their URL."},
    {.name = "audio-memory",
     .type = OPT_SIZE,
     AT(memory_bytes),
     GROUP,
     .initial = "2GiB",
     .min = 0,
     .max = 1e13,
     .sentence = "Files are held in memory up to so much together; those beyond it are read just before they are sent, "
                 "off the clock."},
};
const struct opt_table AUDIO_TABLE = OPT_TABLE(AUDIO_OPTIONS, offsetof(struct run_config, audio));

#undef GROUP
#define GROUP .group = "Requests"

static const struct opt TRANSCRIPTION_OPTIONS[] = {
    {.name = "response-format",
     .type = OPT_ENUM,
     AT(format),
     GROUP,
     .choices = FORMATS,
     .initial = "verbose_json",
     .sentence = "Format of the answers: verbose_json, json, text, srt or vtt."},
    {.name = "language",
     .type = OPT_STRING,
     AT(language),
     GROUP,
     .value = "CODE",
     .initial = "en",
     .check = check_language,
     .allowed = "a code such as en, or auto",
     .example = "auto",
     .sentence = "Language sent with every request; auto leaves it to the server."},
    {.name = "timestamp-granularity",
     .type = OPT_ENUM,
     AT(granularity),
     GROUP,
     .choices = GRANULARITIES,
     .initial = "word",
     .modes = RUN_JSON_ANSWERS,
     .sentence = "Time stamps asked for in JSON answers; none leaves the field out."},
    {.name = "prompt",
     .type = OPT_STRING,
     AT(prompt),
     GROUP,
     .example = "\"Names: Ann, Bo\"",
     .sentence = "Text that guides the transcription, sent with every request."},
    {.name = "temperature",
     .type = OPT_DOUBLE,
     AT(temperature),
     GROUP,
     .min = 0,
     .max = 100,
     .example = "0",
     .initial_note = "not sent",
     .sentence = "Sampling temperature."},
    {.name = "streaming",
     .aliases = "stream",
     .type = OPT_FLAG,
     AT(streaming),
     GROUP,
     .sentence = "Ask for a stream of events (stream=true), for servers that know it."},
    {.name = "extra-body",
     .type = OPT_JSON,
     AT(extra_body),
     GROUP,
     .sentence = "JSON object whose members become fields of every form, in place of ours of the same name."},
};
const struct opt_table TRANSCRIPTION_TABLE = OPT_TABLE(TRANSCRIPTION_OPTIONS, offsetof(struct run_config, audio));

#define AXIS_LOOP    (RUN_CLOSED | RUN_OPEN)
#define AXIS_SERVERS (RUN_ONE_SERVER | RUN_MANY_SERVERS)
#define AXIS_TLS     (RUN_TLS | RUN_PLAIN)
#define AXIS_FORMAT  (RUN_JSON_ANSWERS | RUN_TEXT_ANSWERS)

static const struct opt_mode MODES[] = {
    {RUN_CLOSED, AXIS_LOOP, "a closed loop", "no --request-rate, or inf with a concurrency"},
    {RUN_OPEN, AXIS_LOOP, "an open loop", "--request-rate R"},
    {RUN_ONE_SERVER, AXIS_SERVERS, "a run with one server", "one --url"},
    {RUN_MANY_SERVERS, AXIS_SERVERS, "a run with several servers", "several --url or --endpoints-file"},
    {RUN_TLS, AXIS_TLS, "a run over TLS", "an https:// URL"},
    {RUN_PLAIN, AXIS_TLS, "a run without TLS", "no https:// URL"},
    {RUN_JSON_ANSWERS, AXIS_FORMAT, "a JSON response format", "--response-format verbose_json"},
    {RUN_TEXT_ANSWERS, AXIS_FORMAT, "a text response format", "--response-format text"},
};

static const struct opt_table *const TABLES[] = {
    &ENDPOINT_TABLE,   &BALANCE_TABLE,       &MODEL_TABLE,    &AUDIO_TABLE,   &TRANSCRIPTION_TABLE, &LOAD_TABLE,
    &CONNECTION_TABLE, &PLAIN_CONSOLE_TABLE, &DATA_LOG_TABLE, &CONTENT_TABLE, &RESULT_TABLE};

const struct opt_command ASR_LINE = {
    .name = "asr",
    .summary = "Measure audio transcription of OpenAI-compatible servers",
    .description = "Uploads audio files to one or several servers in a closed loop (--concurrency) or at planned times "
                   "(--request-rate): response and "
                   "inference times, real-time factor, words and audio seconds per second, and word and character "
                   "error rates against references.\n\n"
                   "`assay asr import-librispeech DIR` makes manifest and ground truth from a LibriSpeech folder.\n\n"
                   "Results: requests.jsonl (a record a request), summary.json, data.jsonl (the summary in one line), "
                   "run.json, command.txt and request.http (the first request as sent) "
                   "in the result folder.",
    .tables = TABLES,
    .table_count = sizeof TABLES / sizeof TABLES[0],
    .foreign = RUN_FOREIGN_COMMON,
    .modes = MODES,
    .mode_count = sizeof MODES / sizeof MODES[0],
    .exits = RUN_EXITS,
    .exit_count = RUN_EXIT_COUNT,
    .examples = "  assay asr --url http://127.0.0.1:8000 --input manifest.jsonl --concurrency 8 --num-requests 200\n"
                "  assay asr --url http://127.0.0.1:8000 --input manifest.jsonl --ground-truth ground_truth.jsonl "
                "--normalizer english\n"
                "  assay asr import-librispeech LibriSpeech/test-clean\n",
};
