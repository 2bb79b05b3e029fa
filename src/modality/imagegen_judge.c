/* SPDX-License-Identifier: Apache-2.0 */
#include "modality/imagegen_judge.h"

#include "base/clock.h"
#include "base/json_write.h"
#include "media/image.h"
#include "modality/imagegen_answer.h"
#include "workload/digest.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Strings of a record that grew beyond a job of usual size are given back after it. */
#define SCRATCH_KEPT_BYTES ((size_t)32 * 1024 * 1024)

void imagegen_scratch_init(struct imagegen_scratch *scratch)
{
    strbuf_init(&scratch->bytes, 0);
    strbuf_init(&scratch->artifacts, 0);
    strbuf_init(&scratch->item_errors, 0);
    strbuf_init(&scratch->block, 0);
}

void imagegen_scratch_done(struct imagegen_scratch *scratch)
{
    strbuf_done(&scratch->bytes);
    strbuf_done(&scratch->artifacts);
    strbuf_done(&scratch->item_errors);
    strbuf_done(&scratch->block);
}

void imagegen_judging_take(struct imagegen_judging *judging, const struct request_record *take_record)
{
    size_t used =
        offsetof(struct request_record, attempts) + take_record->attempt_count * sizeof *take_record->attempts;
    memcpy(&judging->record, take_record, used);
    judging->answer = (char *)(uintptr_t)take_record->content.at;
    judging->answer_len = judging->answer ? take_record->content.len : 0;
    judging->record.content = (struct record_text){NULL, 0};
    judging->message.len = 0;
    judging->wait_ns = -1;
    const struct record_text *message = &take_record->error_message;
    size_t len = message->at ? (message->len < ERROR_TEXT_MAX ? message->len : ERROR_TEXT_MAX) : 0;
    if (len)
        memcpy(judging->message.text, message->at, len);
    judging->message.len = len;
    judging->record.error_message = (struct record_text){len ? judging->message.text : NULL, len};
}

void imagegen_judging_done(struct imagegen_judging *judging)
{
    free(judging->answer);
    judging->answer = NULL;
}

/* The spec's seven for what the engine found. */
static enum error_type spec_type(uint8_t type)
{
    switch ((enum error_type)type) {
    case ERROR_TYPE_RATE_LIMIT:
    case ERROR_TYPE_AUTH:
    case ERROR_TYPE_BAD_REQUEST:
    case ERROR_TYPE_SERVER_ERROR:
    case ERROR_TYPE_HTTP_OTHER:
    case ERROR_TYPE_REDIRECT:
        return ERROR_TYPE_IMG_HTTP;
    case ERROR_TYPE_CONNECTION:
    case ERROR_TYPE_BODY:
        return ERROR_TYPE_IMG_CONNECTION;
    case ERROR_TYPE_DECODE: /* a coding of the body that was not asked for */
    case ERROR_TYPE_SCHEMA:
    case ERROR_TYPE_SERVER_REPORTED:
        return ERROR_TYPE_IMG_SCHEMA;
    default:
        return (enum error_type)type;
    }
}

static void rename_errors(struct request_record *record)
{
    bool is_refused = record->outcome == OUTCOME_REFUSED;
    record->error_type = (uint8_t)(is_refused ? ERROR_TYPE_IMG_REQUEST : spec_type(record->error_type));
    for (uint32_t i = 0; i < record->attempt_count; i++)
        record->attempts[i].error_type = (uint8_t)spec_type(record->attempts[i].error_type);
}

/* ---- one answer ---- */

/* What is found while the answer is walked. */
struct finding {
    const struct imagegen_judge *judge;
    struct imagegen_scratch *scratch;
    struct imagegen_judging *judging;
    struct imagegen_wish wish;
    struct json_writer artifacts, item_errors;
    int64_t returned, by_url;
    double megapixels;
    char response_name[48]; /* "" = not saved */
    enum error_type type;   /* the worst so far */
};

/* A decode error weighs more than a file that could not be saved, a wrong shape more than both. */
static int weight(enum error_type type)
{
    return type == ERROR_TYPE_IMG_SCHEMA     ? 3
           : type == ERROR_TYPE_IMG_DECODE   ? 2
           : type == ERROR_TYPE_IMG_ARTIFACT ? 1
                                             : 0;
}

static void fail(struct finding *finding, enum error_type type, const char *sentence)
{
    if (weight(type) <= weight(finding->type))
        return;
    finding->type = type;
    error_text_from_plain(sentence, strlen(sentence), finding->judge->secrets, &finding->judging->message);
}

static void fail_item(struct finding *finding, int64_t index, enum error_type type, const char *sentence)
{
    char text[ERROR_TEXT_MAX];
    snprintf(text, sizeof text, "image %" PRId64 ": %.600s", index, sentence);
    fail(finding, type, text);
    json_open_object(&finding->item_errors);
    json_member_int(&finding->item_errors, "index", index);
    json_member_string(&finding->item_errors, "type", error_type_name(type));
    json_member_string(&finding->item_errors, "message", sentence);
    json_close_object(&finding->item_errors);
}

static const char *extension(enum image_format format)
{
    return format == IMAGE_JPEG ? "jpg" : image_format_name(format);
}

/* One whole image: saved, and listed. */
static void keep_image(struct finding *finding, int64_t index, const struct image_info *info)
{
    const struct imagegen_judge *judge = finding->judge;
    const struct strbuf *bytes = &finding->scratch->bytes;
    char name[64], digest[DIGEST_TEXT_BYTES] = "";
    struct as_error err = {.message = ""};
    as_status status = digest_bytes(bytes->data, bytes->len, digest);
    bool is_saved = judge->folder && judge->save_images;
    snprintf(name, sizeof name, "%06" PRId64 "-%" PRId64 ".%s", finding->judging->record.seq, index,
             extension(info->format));
    if (status == AS_OK && is_saved)
        status = artifact_folder_write(judge->folder, name, bytes->data, bytes->len, &err);
    if (status != AS_OK) {
        fail_item(finding, index, ERROR_TYPE_IMG_ARTIFACT, err.message[0] ? err.message : status_sentence(status));
        is_saved = false;
    }
    struct json_writer *writer = &finding->artifacts;
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s%s", judge->shown, name);
    json_open_object(writer);
    json_member_int(writer, "index", index);
    json_member_string(writer, "path", is_saved ? path : NULL);
    json_member_string(writer, "sha256", digest[0] ? digest : NULL);
    json_member_int(writer, "bytes", (int64_t)bytes->len);
    json_member_int(writer, "width", info->width);
    json_member_int(writer, "height", info->height);
    json_member_string(writer, "mime", image_mime(info->format));
    json_close_object(writer);
    finding->megapixels += (double)info->width * info->height / 1e6;
}

static void take_item(struct finding *finding, int64_t index, const struct imagegen_item *item)
{
    struct strbuf *bytes = &finding->scratch->bytes;
    struct image_info info;
    struct as_error err = {.message = ""};
    if (!item->base64.at && !item->url.at) {
        fail_item(finding, index, ERROR_TYPE_IMG_SCHEMA, "the item holds neither b64_json nor url");
        return;
    }
    if (!item->base64.at) {
        finding->by_url++;
        return;
    }
    as_status status = imagegen_decode(item, bytes, &err);
    if (status == AS_OK)
        status = image_verify(bytes->data, bytes->len, finding->judge->max_pixels, &info, &err);
    if (status == AS_OK)
        keep_image(finding, index, &info);
    else
        fail_item(finding, index, ERROR_TYPE_IMG_DECODE, err.message[0] ? err.message : status_sentence(status));
}

static void take_usage(const struct imagegen_reading *reading, struct request_record *record)
{
    record->prompt_tokens = reading->input_tokens;
    record->completion_tokens = reading->output_tokens;
    record->total_tokens = reading->total_tokens;
}

static void take_items(struct finding *finding, const struct imagegen_reading *reading)
{
    struct imagegen_walk walk;
    struct imagegen_item item;
    finding->returned = (int64_t)reading->items;
    imagegen_walk_init(&walk, reading);
    for (int64_t index = 0; index < finding->returned && imagegen_walk_next(&walk, &item); index++)
        take_item(finding, index, &item);
    struct request_record *record = &finding->judging->record;
    if (reading->items == 0)
        fail(finding, ERROR_TYPE_IMG_SCHEMA, "data is an empty list");
    if (finding->returned != finding->wish.count)
        record->flags |= RECORD_FLAG_COUNT_MISMATCH;
    if (finding->wish.by_url ? finding->by_url < finding->returned : finding->by_url > 0)
        record->flags |= RECORD_FLAG_FORMAT_MISMATCH;
}

/* An answer that the engine found whole, with a status of success. */
static void judge_success(struct finding *finding)
{
    static const char no_message[] = "the answer holds an error without a message";
    struct imagegen_judging *judging = finding->judging;
    struct imagegen_reading reading;
    imagegen_read(judging->answer ? judging->answer : "", judging->answer_len, &reading);
    take_usage(&reading, &judging->record);
    switch (reading.form) {
    case IMAGEGEN_ANSWER_SOUND:
        take_items(finding, &reading);
        break;
    case IMAGEGEN_ANSWER_NO_JSON:
        fail(finding, ERROR_TYPE_IMG_SCHEMA,
             judging->answer_len ? "the answer is no JSON object"
                                 : "the answer is empty, or there was no memory for it");
        break;
    case IMAGEGEN_ANSWER_NO_DATA:
        fail(finding, ERROR_TYPE_IMG_SCHEMA, "the answer has no list \"data\"");
        break;
    case IMAGEGEN_ANSWER_ERROR:
        finding->type = ERROR_TYPE_IMG_SCHEMA;
        error_text_from_body(judging->answer, judging->answer_len, finding->judge->secrets, &judging->message);
        if (judging->message.len == 0)
            error_text_from_plain(no_message, sizeof no_message - 1, NULL, &judging->message);
        judging->record.oom = judging->message.is_oom;
        break;
    }
}

static void apply_verdict(struct finding *finding)
{
    struct request_record *record = &finding->judging->record;
    const struct error_text *message = &finding->judging->message;
    if (finding->type == ERROR_TYPE_NONE)
        return;
    record->outcome = OUTCOME_FAILED;
    record->error_type = (uint8_t)finding->type;
    record->error_message = (struct record_text){message->len ? message->text : NULL, message->len};
    if (record->attempt_count)
        record->attempts[record->attempt_count - 1].error_type = record->error_type;
}

static void save_response(struct finding *finding)
{
    const struct imagegen_judging *judging = finding->judging;
    struct as_error err;
    if (!finding->judge->save_responses || !finding->judge->folder || !judging->answer)
        return;
    snprintf(finding->response_name, sizeof finding->response_name, "%06" PRId64 ".response.json", judging->record.seq);
    as_status status = artifact_folder_write(finding->judge->folder, finding->response_name, judging->answer,
                                             judging->answer_len, &err);
    if (status == AS_OK)
        return;
    finding->response_name[0] = '\0';
    if (judging->record.outcome == OUTCOME_OK)
        fail(finding, ERROR_TYPE_IMG_ARTIFACT, err.message);
}

/* ---- the block ---- */

static void member_known(struct json_writer *writer, const char *name, int64_t value)
{
    if (value < 0)
        json_member_null(writer, name);
    else
        json_member_int(writer, name, value);
}

static void put_list(struct json_writer *writer, const char *name, struct json_writer *list)
{
    json_close_array(list);
    json_key(writer, name);
    if (json_writer_status(list) == AS_OK)
        json_put_raw(writer, list->out->data, list->out->len);
    else
        json_put_null(writer);
}

static void put_request(const struct finding *finding, struct json_writer *writer)
{
    struct strbuf body AS_AUTO_STRBUF;
    strbuf_init(&body, 0);
    json_key(writer, "request");
    if (imagegen_body(finding->judge->imagegen, finding->judging->record.seq, &body) == AS_OK)
        json_put_raw(writer, body.data, body.len);
    else
        json_put_null(writer);
}

static void write_block(struct finding *finding, int64_t post_ns)
{
    struct imagegen_judging *judging = finding->judging;
    struct strbuf *block = &finding->scratch->block;
    struct json_writer writer;
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s%s", finding->judge->shown, finding->response_name);
    strbuf_reset(block);
    json_writer_init(&writer, block, 0);
    json_open_object(&writer);
    json_member_int(&writer, "images_requested", finding->wish.count);
    json_member_int(&writer, "images_returned", finding->returned);
    json_member_int(&writer, "images_by_url", finding->by_url);
    member_known(&writer, "response_bytes", judging->answer ? (int64_t)judging->answer_len : -1);
    json_member_double(&writer, "megapixels", finding->megapixels);
    put_list(&writer, "artifacts", &finding->artifacts);
    put_list(&writer, "item_errors", &finding->item_errors);
    json_member_string(&writer, "response_path", finding->response_name[0] ? path : NULL);
    put_request(finding, &writer);
    json_member_int(&writer, "post_ns", post_ns);
    member_known(&writer, "post_wait_ns", judging->wait_ns);
    json_close_object(&writer);
    if (json_writer_status(&writer) == AS_OK)
        judging->record.modality_json = (struct record_text){block->data, block->len};
}

static void shrink(struct strbuf *buf)
{
    if (buf->capacity <= SCRATCH_KEPT_BYTES)
        return;
    strbuf_done(buf);
    strbuf_init(buf, 0);
}

void imagegen_judge(const struct imagegen_judge *judge, struct imagegen_scratch *scratch,
                    struct imagegen_judging *judging)
{
    struct mono start = mono_now();
    struct finding finding = {
        .judge = judge,
        .scratch = scratch,
        .judging = judging,
        .wish = imagegen_wish_of(judge->imagegen, judging->record.seq),
        .type = ERROR_TYPE_NONE,
    };
    shrink(&scratch->bytes);
    strbuf_reset(&scratch->artifacts);
    strbuf_reset(&scratch->item_errors);
    json_writer_init(&finding.artifacts, &scratch->artifacts, 0);
    json_writer_init(&finding.item_errors, &scratch->item_errors, 0);
    json_open_array(&finding.artifacts);
    json_open_array(&finding.item_errors);
    rename_errors(&judging->record);
    judging->record.ttft_spec_ns = -1; /* there is no first token of an image */
    save_response(&finding);
    if (judging->record.outcome == OUTCOME_OK)
        judge_success(&finding);
    apply_verdict(&finding);
    write_block(&finding, mono_diff_ns(mono_now(), start));
}
