/* SPDX-License-Identifier: Apache-2.0 */
#include "modality/vlm.h"

#include "base/json_write.h"
#include "modality/llm_request.h"

#include <stdlib.h>
#include <string.h>

struct vlm {
    struct llm *llm;
    struct image_prompts *prompts;
    const char *detail;
    int64_t shard, shard_count;
    struct vlm_text_probe probe;
    bool is_unique; /* every request has a text of its own */
};

struct vlm_answer {
    struct llm_answer llm;
    int64_t seq, wait_ns;
    bool is_holding;      /* images were taken and not given back */
    struct strbuf joined; /* body of a request with many images */
    struct strbuf block;  /* JSON of the record's own block */
};

static struct llm_answer *llm_answer(void *answer)
{
    return &((struct vlm_answer *)answer)->llm;
}

static uint32_t image_count(const void *context, int64_t seq)
{
    uint32_t numbers[IMAGES_A_REQUEST_MAX];
    return image_prompts_of(context, seq, numbers);
}

as_status vlm_new(const struct vlm_config *config, struct vlm **ret, struct as_error *err)
{
    struct vlm *vlm = calloc(1, sizeof *vlm);
    if (!vlm)
        return error_set(err, AS_E_NOMEM, "no memory for the requests");
    const struct llm_images images = {config->prompts, image_count, config->detail};
    struct llm_config llm = config->llm;
    llm.images = &images;
    *vlm = (struct vlm){NULL,          config->prompts,           config->detail, config->shard, config->shard_count,
                        config->probe, config->llm.unique_prompts};
    as_status status = llm_new(&llm, &config->prompts->prompts, &vlm->llm, err);
    if (status != AS_OK) {
        free(vlm);
        return status;
    }
    *ret = vlm;
    return AS_OK;
}

void vlm_free(struct vlm *vlm)
{
    if (!vlm)
        return;
    llm_free(vlm->llm);
    free(vlm);
}

static int64_t place_of(const struct vlm *vlm, int64_t seq)
{
    return (seq - vlm->shard) / vlm->shard_count;
}

static void give_back(const struct vlm *vlm, struct vlm_answer *answer)
{
    if (answer->is_holding)
        images_give_back(vlm->prompts->images, place_of(vlm, answer->seq));
    answer->is_holding = false;
}

/* ---- the body ---- */

/* The images of a request, all of them made. */
struct request_images {
    uint32_t numbers[IMAGES_A_REQUEST_MAX];
    const struct image_payload *payloads[IMAGES_A_REQUEST_MAX];
    uint32_t count;
};

static as_status find_images(const struct vlm *vlm, int64_t seq, struct request_images *ret, struct as_error *err)
{
    const struct images *images = vlm->prompts->images;
    ret->count = image_prompts_of(vlm->prompts, seq, ret->numbers);
    for (uint32_t i = 0; i < ret->count; i++) {
        ret->payloads[i] = images_get(images, ret->numbers[i]);
        if (!ret->payloads[i])
            return error_set(err, AS_E_NOMEM, "the image %.200s could not be prepared: no memory",
                             images_shown(images, ret->numbers[i]));
        if (!ret->payloads[i]->text)
            return error_set(err, AS_E_INVALID, "the image %.200s cannot be sent: %.280s",
                             images_shown(images, ret->numbers[i]), ret->payloads[i]->error);
    }
    return AS_OK;
}

/* Puts the images into the last part of the payload, at the request's places. */
static void splice(const struct llm_request *request, const struct request_images *images, struct payload *payload)
{
    struct iovec *last = &payload->parts[payload->part_count - 1];
    char *at = last->iov_base, *end = at + last->iov_len;
    for (uint32_t i = 0; i < images->count; i++) {
        char *gap = request->body + request->gaps[i];
        payload->parts[payload->part_count - 1] = (struct iovec){at, (size_t)(gap - at)};
        payload->parts[payload->part_count++] = (struct iovec){images->payloads[i]->text, images->payloads[i]->len};
        payload->parts[payload->part_count++] = (struct iovec){gap, (size_t)(end - gap)};
        at = gap;
    }
}

static void add_spliced(const struct llm_request *request, const struct request_images *images, size_t from,
                        struct strbuf *out)
{
    for (uint32_t i = 0; i < images->count; i++) {
        strbuf_add(out, request->body + from, request->gaps[i] - from);
        if (images->payloads[i] && images->payloads[i]->text)
            strbuf_add(out, images->payloads[i]->text, images->payloads[i]->len);
        from = request->gaps[i];
    }
    strbuf_add(out, request->body + from, request->len - from);
}

/* The same in one piece. */
static as_status join(const struct llm_request *request, const struct request_images *images, struct vlm_answer *answer,
                      struct payload *payload)
{
    struct iovec *last = &payload->parts[payload->part_count - 1];
    strbuf_reset(&answer->joined);
    add_spliced(request, images, (size_t)((char *)last->iov_base - request->body), &answer->joined);
    *last = (struct iovec){answer->joined.data, answer->joined.len};
    return strbuf_status(&answer->joined);
}

static as_status build(void *context, void *memory, int64_t seq, struct payload *ret, struct as_error *err)
{
    struct vlm *vlm = context;
    struct vlm_answer *answer = memory;
    struct request_images images;
    give_back(vlm, answer);
    answer->seq = seq;
    as_status status = llm_modality()->build(vlm->llm, llm_answer(answer), seq, ret, err);
    if (status != AS_OK)
        return status;
    status = images_take(vlm->prompts->images, place_of(vlm, seq), &answer->wait_ns);
    if (status != AS_OK)
        return error_set(err, status, "an image could not be prepared: no memory");
    answer->is_holding = true;
    status = find_images(vlm, seq, &images, err);
    if (status == AS_OK) {
        const struct llm_request *request = llm_request_of(vlm->llm, seq);
        if (images.count <= VLM_IMAGES_BY_REFERENCE)
            splice(request, &images, ret);
        else if (join(request, &images, answer, ret) != AS_OK)
            status = error_set(err, AS_E_NOMEM, "no memory for a body with %u images", images.count);
    }
    if (status != AS_OK)
        give_back(vlm, answer);
    return status;
}

/* ---- the answer ---- */

static void begin(void *context, void *answer, const struct http_response_head *head, bool is_stream)
{
    const struct vlm *vlm = context;
    llm_modality()->begin(vlm->llm, llm_answer(answer), head, is_stream);
}

static bool event(void *context, void *answer, const struct sse_event *event, const struct arrival *arrival)
{
    const struct vlm *vlm = context;
    return llm_modality()->event(vlm->llm, llm_answer(answer), event, arrival);
}

static void body(void *context, void *answer, const char *data, size_t len, const struct arrival *arrival)
{
    const struct vlm *vlm = context;
    llm_modality()->body(vlm->llm, llm_answer(answer), data, len, arrival);
}

static void read_end(void *context, void *answer, bool last_is_exact)
{
    const struct vlm *vlm = context;
    llm_modality()->read_end(vlm->llm, llm_answer(answer), last_is_exact);
}

static void put_count(struct json_writer *writer, const char *name, int64_t value)
{
    if (value < 0)
        json_member_null(writer, name);
    else
        json_member_int(writer, name, value);
}

static void put_size(struct json_writer *writer, const char *name, uint32_t pixels)
{
    put_count(writer, name, pixels ? (int64_t)pixels : -1);
}

static void put_image(const struct vlm *vlm, uint32_t number, struct json_writer *writer)
{
    const struct image_payload *payload = images_get(vlm->prompts->images, number);
    json_open_object(writer);
    json_member_string(writer, "source", images_shown(vlm->prompts->images, number));
    json_member_string(writer, "mime", payload->format == IMAGE_UNKNOWN ? NULL : image_mime(payload->format));
    json_member_bool(writer, "by_url", payload->is_by_url);
    put_count(writer, "bytes", payload->bytes);
    put_count(writer, "source_bytes", payload->source_bytes);
    put_size(writer, "width", payload->width);
    put_size(writer, "height", payload->height);
    put_size(writer, "source_width", payload->source_width);
    put_size(writer, "source_height", payload->source_height);
    json_member_bool(writer, "resized", payload->is_resized);
    json_member_bool(writer, "encoded", payload->is_encoded);
    put_count(writer, "load_ns", payload->load_ns);
    put_count(writer, "processing_ns", payload->processing_ns);
    json_member_string(writer, "sha256", payload->sha256[0] ? payload->sha256 : NULL);
    json_member_string(writer, "detail", vlm->detail);
    json_close_object(writer);
}

/* -1 = unknown: it was another text. */
static int64_t text_tokens(const struct vlm *vlm, int64_t seq)
{
    const struct prompts *prompts = &vlm->prompts->prompts;
    bool is_same = seq == vlm->probe.seq;
    if (!vlm->is_unique)
        is_same |= prompts_index(prompts, seq) == prompts_index(prompts, vlm->probe.seq);
    return is_same ? vlm->probe.prompt_tokens : -1;
}

static void write_block(const struct vlm *vlm, struct vlm_answer *answer, struct request_record *record)
{
    uint32_t numbers[IMAGES_A_REQUEST_MAX];
    uint32_t count = image_prompts_of(vlm->prompts, answer->seq, numbers);
    struct json_writer writer;
    int64_t bytes = 0;
    for (uint32_t i = 0; i < count; i++)
        bytes += (int64_t)images_get(vlm->prompts->images, numbers[i])->len;
    strbuf_reset(&answer->block);
    json_writer_init(&writer, &answer->block, 0);
    json_open_object(&writer);
    json_member_int(&writer, "image_count", count);
    json_member_int(&writer, "payload_bytes", bytes);
    json_member_int(&writer, "wait_ns", answer->wait_ns);
    put_count(&writer, "text_prompt_tokens", text_tokens(vlm, answer->seq));
    json_key(&writer, "images");
    json_open_array(&writer);
    for (uint32_t i = 0; i < count; i++)
        put_image(vlm, numbers[i], &writer);
    json_close_array(&writer);
    json_close_object(&writer);
    if (json_writer_status(&writer) == AS_OK)
        record->modality_json = (struct record_text){answer->block.data, answer->block.len};
}

static void end(void *context, void *memory, const struct answer_close *close, const struct sse_reader *sse,
                struct request_record *record)
{
    struct vlm *vlm = context;
    struct vlm_answer *answer = memory;
    llm_modality()->end(vlm->llm, llm_answer(answer), close, sse, record);
    write_block(vlm, answer, record);
    give_back(vlm, answer);
}

static void answer_done(void *context, void *memory)
{
    struct vlm *vlm = context;
    struct vlm_answer *answer = memory;
    give_back(vlm, answer);
    strbuf_done(&answer->joined);
    strbuf_done(&answer->block);
    llm_modality()->answer_done(vlm->llm, llm_answer(answer));
}

const struct modality *vlm_modality(void)
{
    static const struct modality modality = {
        .tool = "vlm",
        .answer_bytes = sizeof(struct vlm_answer),
        .max_body_bytes = LLM_ANSWER_MAX_BYTES,
        .build = build,
        .begin = begin,
        .event = event,
        .body = body,
        .read_end = read_end,
        .end = end,
        .answer_done = answer_done,
    };
    return &modality;
}
