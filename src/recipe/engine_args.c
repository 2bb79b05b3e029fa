/* SPDX-License-Identifier: Apache-2.0 */
/* Rendering, GPUs and digests of sets; what is allowed in one stands in check_args.c. */
#include "recipe/engine_args.h"

#include "base/json_write.h"
#include "recipe/version.h"
#include "recipe/words.h"

#include <openssl/evp.h>
#include <stdlib.h>

static bool same_or_both_null(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

bool flag_is_for(const struct recipe_flag *flag, const struct recipe_flag_query *query)
{
    return same_or_both_null(flag->tool, query->tool) &&
           (!query->version || recipe_version_within(query->version, flag->since, flag->until));
}

const struct recipe_flag *recipe_flag(const struct recipe_framework *framework, const struct recipe_flag_query *query)
{
    for (size_t i = 0; i < framework->flag_count; i++) {
        const struct recipe_flag *flag = &framework->flags[i];
        if (strcmp(flag->key, query->key) == 0 && flag_is_for(flag, query))
            return flag;
    }
    return NULL;
}

const struct recipe_arg *recipe_set_arg(const struct recipe_set *set, const char *key)
{
    for (size_t i = 0; i < set->args.count; i++)
        if (strcmp(set->args.items[i].key, key) == 0)
            return &set->args.items[i];
    return NULL;
}

const char *recipe_set_role(const struct recipe_framework *framework, const struct recipe_set *set, const char *role)
{
    const char *key = recipe_pairs_get(&framework->roles, role);
    const struct recipe_arg *arg = key ? recipe_set_arg(set, key) : NULL;
    return arg ? arg->text : NULL;
}

const struct recipe_set *recipe_set_default(const struct recipe_data *data, const char *framework_code,
                                            const char *tool)
{
    for (size_t i = 0; i < data->set_count; i++) {
        const struct recipe_set *set = &data->sets[i];
        if (set->is_default && same_or_both_null(set->tool, tool) && strcmp(set->framework_code, framework_code) == 0)
            return set;
    }
    return NULL;
}

as_status recipe_set_check_tool(const struct recipe_set *set, const char *framework_code, const char *tool,
                                struct as_error *err)
{
    bool is_images = strcmp(tool, RECIPE_TOOL_IMAGEGEN) == 0;
    if (strcmp(set->framework_code, framework_code) != 0)
        return error_set(err, AS_E_INVALID, "the set %.100s is for %s, not for %s: choose a set of that framework",
                         set->code, set->framework_code, framework_code);
    if (set->tool && strcmp(set->tool, tool) != 0)
        return error_set(err, AS_E_INVALID, "the set %.100s is only for %s, not for %s", set->code, set->tool, tool);
    if (!set->tool && is_images)
        return error_set(err, AS_E_INVALID,
                         "the set %.100s starts a text server; %s takes sets made for it, such as %s-%s", set->code,
                         tool, framework_code, tool);
    return AS_OK;
}

/* One value of a list as a word. */
static const char *item_text(const struct json_value *item)
{
    return item->type == JSON_STRING || item->type == JSON_NUMBER ? item->text : NULL;
}

static as_status list_words(const struct recipe_arg *arg, const char *flag, struct words *words, struct as_error *err)
{
    const struct json_value *list = NULL;
    as_status status = json_parse(arg->text, strlen(arg->text), NULL, words->arena, &list, err);
    if (status != AS_OK)
        return error_prefix(err, "%.100s", arg->key);
    struct strbuf joined AS_AUTO_STRBUF;
    strbuf_init(&joined, RECIPE_TEXT_BYTES_MAX);
    bool is_joined = arg->join && arg->join[0] == '=';
    if (!is_joined)
        words_add(words, flag);
    for (const struct json_value *item = list->first; item; item = item->next) {
        const char *text = item_text(item);
        if (!text)
            return error_set(err, AS_E_INVALID, "%.100s holds %s: a list holds texts and numbers", arg->key,
                             json_type_name(item->type));
        if (!is_joined)
            words_add(words, text);
        strbuf_addf(&joined, "%s%s", item == list->first ? "" : ",", text);
    }
    if (is_joined)
        words_addf(words, "%s=%s", flag, strbuf_text(&joined));
    return strbuf_status(&joined);
}

static as_status arg_words(const struct recipe_flag *flag, const struct recipe_arg *arg, struct words *words,
                           struct as_error *err)
{
    bool is_false = flag->type == RECIPE_BOOL && strcmp(arg->text, "false") == 0;
    bool is_bare = flag->type == RECIPE_BOOL && !arg->raw && !flag->writes_bool;
    bool is_joined = arg->join ? arg->join[0] == '=' : flag->type == RECIPE_BOOL && flag->writes_bool;
    const char *spelled = arg->flag ? arg->flag : is_false && is_bare ? flag->false_flag : flag->flag;
    const char *text = arg->raw ? arg->raw : arg->text;
    if (!spelled)
        return AS_OK; /* leaving the flag out says false */
    if (flag->type == RECIPE_ARRAY && !arg->raw)
        return list_words(arg, spelled, words, err);
    if (flag->type == RECIPE_BOOL && !arg->raw)
        text = is_false ? "False" : "True";
    if (is_bare) {
        words_add(words, spelled);
    } else if (is_joined) {
        words_addf(words, "%s=%s", spelled, text);
    } else {
        words_add(words, spelled);
        words_add(words, text);
    }
    return AS_OK;
}

/* The words of argument `index`, added to `words`. */
static as_status set_arg_words(const struct recipe_framework *framework, const struct recipe_set *set, size_t index,
                               struct words *words, struct as_error *err)
{
    const struct recipe_arg *arg = &set->args.items[index];
    struct recipe_flag_query query = {.key = arg->key, .tool = set->tool};
    const struct recipe_flag *flag = recipe_flag(framework, &query);
    if (!flag)
        return error_set(err, AS_E_INVALID, "%.100s is no key of %s", arg->key, framework->name);
    return arg_words(flag, arg, words, err);
}

as_status recipe_set_render(const struct recipe_framework *framework, const struct recipe_set *set, struct arena *arena,
                            struct recipe_list *ret, struct as_error *err)
{
    struct words words;
    words_init(&words, arena);
    for (size_t i = 0; i < set->args.count; i++) {
        as_status status = set_arg_words(framework, set, i, &words, err);
        if (status != AS_OK)
            return status;
    }
    return words_finish(&words, ret, err);
}

/* The first of the space-separated keys of a parallelism that the set gives; NULL when none. */
static const struct recipe_arg *parallel_arg(const struct recipe_framework *framework, const struct recipe_set *set,
                                             const char *name)
{
    const char *keys = recipe_pairs_get(&framework->parallel, name);
    while (keys && *keys) {
        size_t len = strcspn(keys, " ");
        for (size_t i = 0; i < set->args.count; i++) {
            const char *key = set->args.items[i].key;
            if (strlen(key) == len && memcmp(key, keys, len) == 0)
                return &set->args.items[i];
        }
        keys += len + (keys[len] == ' ');
    }
    return NULL;
}

static as_status parallel_size(const struct recipe_arg *arg, int64_t *ret, struct as_error *err)
{
    int64_t value = 0;
    if (!arg)
        return AS_OK;
    if (!json_text_int64(arg->text, strlen(arg->text), &value) || value < 1 || value > 65536)
        return error_set(err, AS_E_INVALID, "%.100s is %.32s: a whole number from 1 to 65536 is needed", arg->key,
                         arg->text);
    *ret = value;
    return AS_OK;
}

static as_status expert_size(const struct recipe_arg *arg, struct recipe_parallel *parallel, struct as_error *err)
{
    if (!arg)
        return AS_OK;
    if (strcmp(arg->text, "true") == 0)
        parallel->expert = parallel->tensor * parallel->data;
    if (strcmp(arg->text, "true") == 0 || strcmp(arg->text, "false") == 0)
        return AS_OK;
    return parallel_size(arg, &parallel->expert, err);
}

as_status recipe_set_parallel(const struct recipe_framework *framework, const struct recipe_set *set,
                              struct recipe_parallel *ret, struct as_error *err)
{
    struct recipe_parallel result = {.tensor = 1, .pipeline = 1, .data = 1, .ulysses = 1, .ring = 1, .cfg = 1};
    const struct {
        const char *name;
        int64_t *size;
    } sizes[] = {{"tensor", &result.tensor},   {"pipeline", &result.pipeline}, {"data", &result.data},
                 {"ulysses", &result.ulysses}, {"ring", &result.ring},         {"cfg", &result.cfg}};
    as_status status = AS_OK;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]) && status == AS_OK; i++)
        status = parallel_size(parallel_arg(framework, set, sizes[i].name), sizes[i].size, err);
    if (status != AS_OK)
        return status;
    const struct recipe_arg *inside = parallel_arg(framework, set, "data_inside_tensor");
    result.attention = result.tensor;
    if (inside && strcmp(inside->text, "true") == 0) {
        result.attention = result.tensor % result.data == 0 ? result.tensor / result.data : 1;
        result.data = 1;
    }
    result.gpus = 1;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        result.gpus *= *sizes[i].size;
        if (result.gpus > 65536)
            return error_set(err, AS_E_LIMIT, "the set %.100s asks for more than 65536 GPUs", set->code);
    }
    status = expert_size(parallel_arg(framework, set, "expert"), &result, err);
    if (status == AS_OK)
        *ret = result;
    return status;
}

const char *recipe_vendor_build(enum recipe_vendor vendor)
{
    static const char *const builds[RECIPE_VENDOR_COUNT] = {"cuda", "rocm", "tpu", "hpu"};
    return builds[vendor];
}

const char *recipe_container_image(const struct recipe_framework *framework, const struct recipe_image_query *query,
                                   struct arena *arena)
{
    const char *pinned = query->set && query->gpu ? recipe_pairs_get(&query->set->images, query->gpu->code) : NULL;
    const char *build = query->gpu ? recipe_vendor_build(query->gpu->vendor) : "cuda";
    const char *image = recipe_pairs_get(&framework->images, build);
    const char *at = image ? strstr(image, "{version}") : NULL;
    if (pinned || !image || !at)
        return pinned ? pinned : image;
    if (!query->version)
        return NULL;
    /* Rolling tags have no "v" before them. */
    bool is_rolling = recipe_version_compare(query->version, "999999999") > 0;
    int len = (int)(at - image) - (is_rolling && at[-1] == 'v');
    return arena_printf(arena, "%.*s%s%s", len, image, query->version, at + strlen("{version}"));
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct recipe_pair *)a)->name, ((const struct recipe_pair *)b)->name);
}

bool put_sorted_pairs(struct json_writer *writer, struct arena *arena, const struct recipe_pairs *pairs)
{
    struct recipe_pair *sorted = arena_calloc(arena, pairs->count + 1, sizeof(*sorted));
    if (!sorted)
        return false;
    if (pairs->count > 0)
        memcpy(sorted, pairs->items, pairs->count * sizeof(*sorted));
    qsort(sorted, pairs->count, sizeof(*sorted), by_name);
    json_open_object(writer);
    for (size_t i = 0; i < pairs->count; i++)
        json_member_string(writer, sorted[i].name, sorted[i].value);
    json_close_object(writer);
    return true;
}

static as_status put_args(struct json_writer *writer, struct arena *arena, const struct recipe_framework *framework,
                          const struct recipe_set *set, struct as_error *err)
{
    json_open_array(writer);
    for (size_t i = 0; i < set->args.count; i++) {
        struct words words;
        struct recipe_list list = {0};
        words_init(&words, arena);
        as_status status = set_arg_words(framework, set, i, &words, err);
        if (status == AS_OK)
            status = words_finish(&words, &list, err);
        if (status != AS_OK)
            return status;
        json_open_object(writer);
        json_member_string(writer, "key", set->args.items[i].key);
        json_key(writer, "words");
        put_list(writer, &list);
        json_close_object(writer);
    }
    json_close_array(writer);
    return AS_OK;
}

void put_list(struct json_writer *writer, const struct recipe_list *list)
{
    json_open_array(writer);
    for (size_t i = 0; i < list->count; i++)
        json_put_string(writer, list->items[i]);
    json_close_array(writer);
}

as_status recipe_set_canonical(const struct recipe_framework *framework, const struct recipe_set *set,
                               struct strbuf *out, struct as_error *err)
{
    struct json_writer writer;
    struct arena arena;
    arena_init(&arena, 0, 0);
    json_writer_init(&writer, out, 0);
    json_open_object(&writer);
    json_key(&writer, "args");
    as_status status = put_args(&writer, &arena, framework, set, err);
    json_key(&writer, "env");
    bool is_whole = put_sorted_pairs(&writer, &arena, &set->env);
    json_member_string(&writer, "framework_code", set->framework_code);
    json_key(&writer, "images");
    is_whole = put_sorted_pairs(&writer, &arena, &set->images) && is_whole;
    json_member_string(&writer, "tool", set->tool);
    json_close_object(&writer);
    arena_done(&arena);
    if (status != AS_OK)
        return status;
    status = is_whole ? json_writer_status(&writer) : AS_E_NOMEM;
    return status == AS_OK ? AS_OK
                           : error_set(err, status, "the set %.100s is too large or memory is short", set->code);
}

as_status recipe_set_digest(const struct recipe_framework *framework, const struct recipe_set *set,
                            char ret[RECIPE_DIGEST_BYTES], struct as_error *err)
{
    struct strbuf text AS_AUTO_STRBUF;
    strbuf_init(&text, 0);
    as_status status = recipe_set_canonical(framework, set, &text, err);
    if (status != AS_OK)
        return status;
    status = recipe_digest(strbuf_text(&text), text.len, ret);
    return status == AS_OK ? AS_OK : error_set(err, status, "no SHA-256");
}

as_status recipe_digest(const void *data, size_t len, char ret[RECIPE_DIGEST_BYTES])
{
    static const char digits[] = "0123456789abcdef";
    unsigned char bytes[EVP_MAX_MD_SIZE];
    unsigned int count = 0;
    if (EVP_Digest(data, len, bytes, &count, EVP_sha256(), NULL) != 1 || count != 32)
        return AS_E_INTERNAL;
    for (size_t i = 0; i < 32; i++) {
        ret[2 * i] = digits[bytes[i] >> 4];
        ret[2 * i + 1] = digits[bytes[i] & 15];
    }
    ret[64] = '\0';
    return AS_OK;
}
