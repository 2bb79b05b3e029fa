/* SPDX-License-Identifier: Apache-2.0 */
#include "workload/image_prompts.h"

#include "base/file.h"
#include "fetch/fetch.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static as_status add_number(struct image_prompts *prompts, uint32_t number)
{
    if (prompts->number_count == prompts->number_capacity) {
        size_t capacity = prompts->number_capacity ? prompts->number_capacity * 2 : 256;
        uint32_t *numbers = realloc(prompts->numbers, capacity * sizeof *numbers);
        if (!numbers)
            return AS_E_NOMEM;
        prompts->numbers = numbers;
        prompts->number_capacity = capacity;
    }
    prompts->numbers[prompts->number_count++] = number;
    return AS_OK;
}

static as_status set_list(struct image_prompts *prompts, size_t index, struct image_list list)
{
    if (index >= prompts->list_capacity) {
        size_t capacity = prompts->list_capacity ? prompts->list_capacity * 2 : 256;
        struct image_list *lists = realloc(prompts->lists, capacity * sizeof *lists);
        if (!lists)
            return AS_E_NOMEM;
        prompts->lists = lists;
        prompts->list_capacity = capacity;
    }
    prompts->lists[index] = list;
    return AS_OK;
}

static as_status add_reference(struct image_prompts *prompts, const struct json_value *value, const char *member,
                               struct as_error *err)
{
    uint32_t number;
    if (value->type != JSON_STRING)
        return error_set(err, AS_E_INVALID, "\"%s\" holds a JSON %s: an image is named by a string", member,
                         json_type_name(value->type));
    if (value->len == 0 || memchr(value->text, '\0', value->len))
        return error_set(err, AS_E_INVALID, "\"%s\" holds an empty reference or one with a NUL", member);
    if (prompts->is_remote && !fetch_is_url(value->text) && strncasecmp(value->text, "data:", 5) != 0)
        return error_set(
            err, AS_E_INVALID,
            "\"%s\" names a file of this machine: prompts that come from a URL name images by URL or data:", member);
    as_status status = images_add(prompts->images, value->text, &number);
    return status == AS_OK ? add_number(prompts, number) : status;
}

/* The members image_urls and image_url of a line: exactly one of them. */
static as_status choose_member(const struct json_value *line, const struct json_value **ret_list,
                               const struct json_value **ret_one, struct as_error *err)
{
    const struct json_value *list = json_get(line, "image_urls"), *one = json_get(line, "image_url");
    list = json_is_null(list) ? NULL : list;
    one = json_is_null(one) ? NULL : one;
    if (list && one)
        return error_set(err, AS_E_INVALID, "\"image_urls\" and \"image_url\" are both there: give one of them");
    if (!list && !one)
        return error_set(err, AS_E_INVALID, "the member \"image_urls\" is missing: an array with at least one image");
    if (list && list->type != JSON_ARRAY)
        return error_set(err, AS_E_INVALID, "\"image_urls\" is a JSON %s: it must be an array",
                         json_type_name(list->type));
    if (list && (list->len == 0 || list->len > IMAGES_A_REQUEST_MAX))
        return error_set(err, AS_E_INVALID, "\"image_urls\" holds %zu images: 1 to %d are possible", list->len,
                         IMAGES_A_REQUEST_MAX);
    *ret_list = list;
    *ret_one = one;
    return AS_OK;
}

static as_status take(void *context, size_t index, const struct json_value *line, struct as_error *err)
{
    struct image_prompts *prompts = context;
    const struct json_value *list = NULL, *one = NULL;
    size_t first = prompts->number_count;
    as_status status = choose_member(line, &list, &one, err);
    if (status == AS_OK && one)
        status = add_reference(prompts, one, "image_url", err);
    for (const struct json_value *each = list ? list->first : NULL; each && status == AS_OK; each = each->next)
        status = add_reference(prompts, each, "image_urls", err);
    if (status == AS_OK)
        status =
            set_list(prompts, index, (struct image_list){(uint32_t)first, (uint32_t)(prompts->number_count - first)});
    if (status != AS_OK)
        prompts->number_count = first;
    return status;
}

static as_status find_folder(struct image_prompts *prompts, const char *source)
{
    char folder[PATH_MAX];
    prompts->is_remote = fetch_is_url(source);
    if (prompts->is_remote)
        return AS_OK;
    if (strcmp(source, "-") == 0)
        source = ".";
    else if (!path_dir(folder, sizeof folder, source))
        return AS_E_LIMIT;
    else
        source = folder;
    prompts->folder = strdup(source);
    return prompts->folder ? AS_OK : AS_E_NOMEM;
}

/* Frees all but the prompts, which are not there yet. */
static void abandon(struct image_prompts *prompts)
{
    images_free(prompts->images);
    free(prompts->numbers);
    free(prompts->lists);
    free(prompts->folder);
}

/* From memory when there is a text, else from the source. */
static as_status read_prompts(const char *text, size_t len, const struct image_prompts_options *options,
                              struct image_prompts *ret, struct as_error *err)
{
    static const char *const members[] = {"image_urls", "image_url", NULL};
    struct image_prompts prompts = {.batch = options->batch};
    const struct prompt_extension extension = {members, &prompts, take};
    struct prompts_options reading = options->prompts;
    struct images_options images = options->images;
    reading.extension = &extension;
    as_status status = text ? AS_OK : find_folder(&prompts, options->source);
    images.folder = prompts.folder;
    if (status == AS_OK)
        status = images_new(&images, &prompts.images);
    if (status != AS_OK)
        error_set(err, status, "the prompts: %s", status_sentence(status));
    else if (text)
        status = prompts_parse(text, len, &reading, &prompts.prompts, err);
    else
        status = prompts_load(options->source, &reading, &prompts.prompts, err);
    if (status != AS_OK)
        abandon(&prompts);
    else
        *ret = prompts;
    return status;
}

as_status image_prompts_load(const struct image_prompts_options *options, struct image_prompts *ret,
                             struct as_error *err)
{
    return read_prompts(NULL, 0, options, ret, err);
}

as_status image_prompts_parse(const char *text, size_t len, const struct image_prompts_options *options,
                              struct image_prompts *ret, struct as_error *err)
{
    return read_prompts(text, len, options, ret, err);
}

void image_prompts_done(struct image_prompts *prompts)
{
    abandon(prompts); /* first: its threads may still read the prompts */
    prompts_done(&prompts->prompts);
    *prompts = (struct image_prompts){0};
}

uint32_t image_prompts_of(const struct image_prompts *prompts, int64_t seq, uint32_t *ret_images)
{
    size_t index = prompts_index(&prompts->prompts, seq);
    uint32_t wanted = prompts->batch ? prompts->batch : prompts->lists[index].count, found = 0;
    for (; found < wanted; index = (index + 1) % prompts->prompts.count) {
        const struct image_list *list = &prompts->lists[index];
        for (uint32_t i = 0; i < list->count && found < wanted; i++)
            ret_images[found++] = prompts->numbers[list->at + i];
    }
    return found;
}
