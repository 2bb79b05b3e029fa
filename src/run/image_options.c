/* SPDX-License-Identifier: Apache-2.0 */
#include "run/config.h"

static const char *const FORMATS[] = {"keep", "png", "jpeg", "webp", NULL};
static const char *const DETAILS[] = {"unset", "low", "high", NULL};

#define GROUP     .group = "Images"
#define AT(field) .at = offsetof(struct image_config, field)

static const struct opt OPTIONS[] = {
    {.name = "server-side-download",
     .type = OPT_FLAG,
     AT(by_url),
     GROUP,
     .sentence = "Send http(s) references as they are: the server fetches the images. What lies on this machine is "
                 "sent as base64 all the same."},
    {.name = "image-detail",
     .type = OPT_ENUM,
     AT(detail),
     GROUP,
     .choices = DETAILS,
     .initial = "unset",
     .sentence = "Detail asked for with each image; unset sends none."},
    {.name = "num-images-batch",
     .type = OPT_INT,
     AT(batch),
     GROUP,
     .min = 1,
     .max = 64,
     .example = "2",
     .initial_note = "as many as the line of the prompt has",
     .sentence = "Images of every request: those of the prompt's line, then of the lines after it; the first ones "
                 "where the line has more."},
    {.name = "max-image-dimension",
     .type = OPT_INT,
     AT(max_dimension),
     GROUP,
     .min = 1,
     .max = 65535,
     .unit = "pixels",
     .example = "1024",
     .initial_note = "images are sent as they are",
     .sentence =
         "Shrink images whose longer side is longer than this, keeping aspect and format. None is ever enlarged."},
    {.name = "image-format",
     .type = OPT_ENUM,
     AT(format),
     GROUP,
     .choices = FORMATS,
     .initial = "keep",
     .sentence = "Encode images of another format anew in this one; keep sends each in its own."},
    {.name = "image-quality",
     .type = OPT_INT,
     AT(quality),
     GROUP,
     .initial = "90",
     .min = 1,
     .max = 100,
     .modes = RUN_LOSSY_IMAGES,
     .sentence = "Quality of JPEG and WebP that is encoded anew; 100 is lossless WebP."},
    {.name = "check-images",
     .type = OPT_FLAG,
     AT(decode),
     GROUP,
     .initial = "true",
     .sentence =
         "Decode every image before the run, so that a cut or corrupt one is refused here and not by the server."},
    {.name = "text-probe",
     .type = OPT_FLAG,
     AT(text_probe),
     GROUP,
     .initial = "true",
     .sentence = "Ask the first server once, before the run, how many tokens a prompt is without its images: a server "
                 "that leaves images out is told apart so. Runs of fewer than 10 requests do not ask."},
    {.name = "image-cache-size",
     .type = OPT_SIZE,
     AT(cache_bytes),
     GROUP,
     .initial = "2GiB",
     .min = 1048576,
     .max = 1e15,
     .sentence = "Memory for prepared images. When they do not all fit, they are prepared ahead of the requests and "
                 "the least recently used "
                 "are dropped."},
    {.name = "image-threads",
     .type = OPT_INT,
     AT(threads),
     GROUP,
     .min = 1,
     .max = 16,
     .example = "4",
     .initial_note = "one a processor",
     .sentence = "Threads that prepare images."},
    {.name = "max-image-bytes",
     .type = OPT_SIZE,
     AT(max_bytes),
     GROUP,
     .initial = "64MiB",
     .min = 1,
     .max = 1e9,
     .sentence = "Largest image file that is read."},
    {.name = "max-image-pixels",
     .type = OPT_INT,
     AT(max_pixels),
     GROUP,
     .initial = "100000000",
     .min = 1,
     .max = 1e9,
     .sentence = "Largest image that is decoded, width × height; more is taken for a decompression bomb."},
};
const struct opt_table IMAGE_TABLE = OPT_TABLE(OPTIONS, offsetof(struct run_config, image));

static const struct opt PROMPT_OPTIONS[] = {
    {.name = "prompts",
     .type = OPT_FILE,
     .at = offsetof(struct prompt_config, source),
     .group = "Prompts",
     .value = "FILE|URL",
     .secrecy = OPT_URL,
     .example = "prompts.jsonl",
     .sentence = "JSONL file or http(s) URL, - for standard input: `prompt` and `image_urls` (or `image_url`) a line, "
                 "optional `id` and "
                 "`expected_output_tokens`. An image is a path (from the file's folder), file://, http(s):// or data: "
                 "URL. Shuffled with --seed, "
                 "then taken in a cycle."},
    {.name = "skip-bad-lines",
     .type = OPT_FLAG,
     .at = offsetof(struct prompt_config, skip_bad_lines),
     .group = "Prompts",
     .sentence = "Count and report lines that cannot be used instead of refusing the file."},
};
const struct opt_table IMAGE_PROMPT_TABLE = OPT_TABLE(PROMPT_OPTIONS, offsetof(struct run_config, prompt));
