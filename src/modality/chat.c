/* SPDX-License-Identifier: Apache-2.0 */
#include "modality/chat.h"
#include "modality/text.h"

#include <string.h>

static inline bool key_is(const struct json_raw *key, const char *text, size_t len)
{
    if (key->escaped)
        return json_raw_equals(key, text);
    return key->len == len && memcmp(key->at, text, len) == 0;
}
#define KEY_IS(key, literal) key_is((key), (literal), sizeof(literal) - 1)

/* The value at `start`, an array or object nested deeper than the cursor itself follows. */
static void skip_deep(struct json_cursor *cursor, const char *start)
{
    uint64_t is_object[CHAT_DEPTH_MAX / 64] = {0};
    size_t depth = 0;
    for (const char *at = start; at < cursor->end;) {
        if (*at == '"') {
            struct json_cursor string = {.at = at, .end = cursor->end};
            struct json_raw raw;
            if (!json_take_string(&string, &raw))
                return;
            at = string.at;
            continue;
        }
        char c = *at++;
        if (c == '{' || c == '[') {
            if (depth == CHAT_DEPTH_MAX)
                return;
            uint64_t bit = UINT64_C(1) << depth % 64;
            is_object[depth / 64] = c == '{' ? is_object[depth / 64] | bit : is_object[depth / 64] & ~bit;
            depth++;
        } else if (c == '}' || c == ']') {
            if (depth == 0)
                return;
            depth--;
            if ((is_object[depth / 64] >> depth % 64 & 1) != (c == '}'))
                return;
            if (depth == 0) {
                *cursor = (struct json_cursor){.at = at, .end = cursor->end};
                return;
            }
        }
    }
}

/* Steps over the value at the cursor. */
static void skip_value(struct json_cursor *cursor)
{
    if (cursor->failed)
        return;
    const char *start = cursor->at;
    if (!json_skip(cursor) && start < cursor->end && (*start == '[' || *start == '{'))
        skip_deep(cursor, start);
}

/* A string; anything else is stepped over and gives at NULL. */
static struct json_raw take_text(struct json_cursor *cursor)
{
    struct json_raw raw;
    if (json_take_string(cursor, &raw))
        return raw;
    skip_value(cursor);
    return (struct json_raw){0};
}

static int64_t take_count(struct json_cursor *cursor)
{
    struct json_raw raw;
    int64_t count;
    if (!json_take_number(cursor, &raw)) {
        skip_value(cursor);
        return -1;
    }
    return json_text_int64(raw.at, raw.len, &count) && count >= 0 ? count : -1;
}

/* `key` of an object, a count; -1 when there is none. */
static int64_t take_detail(struct json_cursor *cursor, const char *name)
{
    struct json_raw key;
    int64_t count = -1;
    if (!json_enter_object(cursor)) {
        skip_value(cursor);
        return -1;
    }
    while (json_next_member(cursor, &key)) {
        if (json_raw_equals(&key, name))
            count = take_count(cursor);
        else
            skip_value(cursor);
    }
    return count;
}

static bool take_usage(struct json_cursor *cursor, struct chat_usage *ret)
{
    struct json_raw key;
    *ret = (struct chat_usage){-1, -1, -1, -1, -1};
    if (!json_enter_object(cursor)) {
        skip_value(cursor);
        return false;
    }
    while (json_next_member(cursor, &key)) {
        if (KEY_IS(&key, "prompt_tokens"))
            ret->prompt_tokens = take_count(cursor);
        else if (KEY_IS(&key, "completion_tokens"))
            ret->completion_tokens = take_count(cursor);
        else if (KEY_IS(&key, "total_tokens"))
            ret->total_tokens = take_count(cursor);
        else if (KEY_IS(&key, "completion_tokens_details"))
            ret->reasoning_tokens = take_detail(cursor, "reasoning_tokens");
        else if (KEY_IS(&key, "prompt_tokens_details"))
            ret->cached_tokens = take_detail(cursor, "cached_tokens");
        else
            skip_value(cursor);
    }
    return true;
}

/* A call's {"name":…, "arguments":…}. */
struct call {
    struct json_raw name, arguments;
};

static struct call take_call(struct json_cursor *cursor)
{
    struct call call = {0};
    struct json_raw key;
    if (!json_enter_object(cursor)) {
        skip_value(cursor);
        return call;
    }
    while (json_next_member(cursor, &key)) {
        if (KEY_IS(&key, "name"))
            call.name = take_text(cursor);
        else if (KEY_IS(&key, "arguments"))
            call.arguments = take_text(cursor);
        else
            skip_value(cursor);
    }
    return call;
}

/* An item of tool_calls: the call is its member `function`. */
static struct call take_tool_item(struct json_cursor *cursor)
{
    struct call call = {0};
    struct json_raw key;
    if (!json_enter_object(cursor)) {
        skip_value(cursor);
        return call;
    }
    while (json_next_member(cursor, &key)) {
        if (KEY_IS(&key, "function"))
            call = take_call(cursor);
        else
            skip_value(cursor);
    }
    return call;
}

/* Where arguments go; NULL = nowhere. */
struct arguments {
    struct strbuf *out;
    size_t max_bytes;
    bool is_cut;
};

static bool use_call(const struct call *call, struct arguments *arguments)
{
    if (arguments && !text_append(call->arguments.at, call->arguments.len, arguments->max_bytes, arguments->out))
        arguments->is_cut = true;
    return call->name.len > 0 || call->arguments.len > 0;
}

/* The value of tool_calls (a list) or function_call (one call); true when a call is named or filled. */
static bool take_tools(struct json_cursor *cursor, struct arguments *arguments)
{
    bool is_first = true, found = false;
    if (!json_enter_array(cursor)) {
        struct call call = take_call(cursor);
        return use_call(&call, arguments);
    }
    while (json_next_item(cursor, &is_first)) {
        struct call call = take_tool_item(cursor);
        found |= use_call(&call, arguments);
    }
    return found;
}

/* The text of one item of a list of parts, {"type":"text","text":…} or a bare string; other parts give at NULL. */
static struct json_raw take_part(struct json_cursor *cursor)
{
    struct json_raw key, type = {0}, text = {0};
    if (!json_enter_object(cursor))
        return take_text(cursor);
    while (json_next_member(cursor, &key)) {
        if (KEY_IS(&key, "text"))
            text = take_text(cursor);
        else if (KEY_IS(&key, "type"))
            type = take_text(cursor);
        else
            skip_value(cursor);
    }
    bool is_text = !type.at || json_raw_equals(&type, "text") || json_raw_equals(&type, "output_text");
    return is_text ? text : (struct json_raw){0};
}

/* The value of `content`. */
struct content {
    struct json_raw text; /* of the first part that is not empty, if it is a list */
    const char *more;     /* see chat_choice.more_content */
};

static struct content take_content(struct json_cursor *cursor)
{
    struct content content = {0};
    bool is_first = true;
    const char *behind = NULL; /* the part that gave the text */
    if (!json_enter_array(cursor)) {
        content.text = take_text(cursor);
        return content;
    }
    while (json_next_item(cursor, &is_first)) {
        struct json_raw text = take_part(cursor);
        if (content.text.len > 0) {
            content.more = text.len > 0 ? behind : content.more;
            continue;
        }
        content.text = text.at ? text : content.text;
        behind = cursor->at;
    }
    return content;
}

/* What a delta or message says, before the alternatives are weighed. */
struct message {
    struct content content;
    struct json_raw role, reasoning_content, reasoning, refusal;
    const char *tools, *function;
};

static void take_message(struct json_cursor *cursor, struct message *ret)
{
    struct json_raw key;
    *ret = (struct message){0};
    if (!json_enter_object(cursor)) {
        skip_value(cursor);
        return;
    }
    while (json_next_member(cursor, &key)) {
        const char *value = cursor->at;
        if (KEY_IS(&key, "content"))
            ret->content = take_content(cursor);
        else if (KEY_IS(&key, "role"))
            ret->role = take_text(cursor);
        else if (KEY_IS(&key, "reasoning_content"))
            ret->reasoning_content = take_text(cursor);
        else if (KEY_IS(&key, "reasoning"))
            ret->reasoning = take_text(cursor);
        else if (KEY_IS(&key, "refusal"))
            ret->refusal = take_text(cursor);
        else if (KEY_IS(&key, "tool_calls"))
            ret->tools = take_tools(cursor, NULL) ? value : NULL;
        else if (KEY_IS(&key, "function_call"))
            ret->function = take_tools(cursor, NULL) ? value : NULL;
        else
            skip_value(cursor);
    }
}

static struct json_raw either(struct json_raw first, struct json_raw second)
{
    return first.len > 0 || !second.at ? first : second;
}

static uint32_t take_index(struct json_cursor *cursor, uint32_t place)
{
    int64_t index = take_count(cursor);
    if (index < 0)
        return place;
    return index < CHAT_CHOICES_MAX ? (uint32_t)index : CHAT_CHOICES_MAX - 1;
}

static void take_choice(struct json_cursor *cursor, enum chat_form form, uint32_t place, struct chat_choice *ret)
{
    struct message message = {0};
    struct json_raw key, text = {0};
    place = place < CHAT_CHOICES_MAX ? place : CHAT_CHOICES_MAX - 1;
    *ret = (struct chat_choice){.index = place};
    if (!json_enter_object(cursor)) {
        skip_value(cursor);
        return;
    }
    while (json_next_member(cursor, &key)) {
        if (form == CHAT_EVENT ? KEY_IS(&key, "delta") : KEY_IS(&key, "message"))
            take_message(cursor, &message);
        else if (KEY_IS(&key, "finish_reason"))
            ret->finish_reason = take_text(cursor);
        else if (KEY_IS(&key, "index"))
            ret->index = take_index(cursor, place);
        else if (KEY_IS(&key, "text"))
            text = take_text(cursor);
        else
            skip_value(cursor);
    }
    ret->role = message.role;
    ret->content = either(message.content.text, text);
    ret->more_content = message.content.text.len > 0 ? message.content.more : NULL;
    ret->reasoning = either(message.reasoning_content, message.reasoning);
    ret->refusal = message.refusal;
    ret->tools = message.tools ? message.tools : message.function;
}

static void take_choices(struct json_cursor *cursor, enum chat_form form, struct chat_reading *ret)
{
    bool is_first = true;
    ret->choice_count = 0;
    ret->choices = cursor->at;
    ret->has_choices = json_enter_array(cursor);
    if (!ret->has_choices) {
        skip_value(cursor);
        return;
    }
    while (json_next_item(cursor, &is_first)) {
        struct chat_choice choice;
        take_choice(cursor, form, ret->choice_count, ret->choice_count == 0 ? &ret->first : &choice);
        ret->choice_count++;
    }
}

/* The whole value at the cursor; at NULL when it is null. */
static struct json_raw take_span(struct json_cursor *cursor)
{
    const char *start = cursor->at;
    if (json_take_null(cursor))
        return (struct json_raw){0};
    skip_value(cursor);
    return (struct json_raw){start, (size_t)(cursor->at - start), false};
}

static bool is_at_end(const struct json_cursor *cursor)
{
    const char *at = cursor->at;
    while (at < cursor->end && (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r'))
        at++;
    return at == cursor->end;
}

bool chat_read(const char *text, size_t len, enum chat_form form, struct chat_reading *ret)
{
    struct json_cursor cursor;
    struct json_raw key;
    ret->has_choices = ret->has_usage = false;
    ret->choice_count = 0;
    ret->end = text + len;
    ret->form = form;
    ret->error = (struct json_raw){0};
    json_cursor_init(&cursor, text, len);
    if (!json_enter_object(&cursor))
        return false;
    while (json_next_member(&cursor, &key)) {
        if (KEY_IS(&key, "choices"))
            take_choices(&cursor, form, ret);
        else if (KEY_IS(&key, "usage"))
            ret->has_usage = take_usage(&cursor, &ret->usage);
        else if (KEY_IS(&key, "error"))
            ret->error = take_span(&cursor);
        else
            skip_value(&cursor);
    }
    return !cursor.failed && is_at_end(&cursor);
}

void chat_walk_init(struct chat_walk *walk, const struct chat_reading *reading)
{
    *walk = (struct chat_walk){.form = reading->form, .is_first = true};
    walk->cursor.failed = true;
    if (!reading->has_choices)
        return;
    json_cursor_init(&walk->cursor, reading->choices, (size_t)(reading->end - reading->choices));
    json_enter_array(&walk->cursor);
}

bool chat_walk_next(struct chat_walk *walk, struct chat_choice *ret)
{
    if (!json_next_item(&walk->cursor, &walk->is_first))
        return false;
    take_choice(&walk->cursor, walk->form, walk->place++, ret);
    return !walk->cursor.failed;
}

bool chat_next_part(struct chat_choice *choice, const char *end, struct json_raw *ret)
{
    struct json_cursor cursor;
    bool is_first = false;
    if (!choice->more_content)
        return false;
    json_cursor_init(&cursor, choice->more_content, (size_t)(end - choice->more_content));
    while (json_next_item(&cursor, &is_first)) {
        struct json_raw text = take_part(&cursor);
        if (text.len == 0)
            continue;
        choice->more_content = cursor.at;
        *ret = text;
        return true;
    }
    choice->more_content = NULL;
    return false;
}

bool chat_append_arguments(const struct chat_choice *choice, const char *end, size_t max_bytes, struct strbuf *out)
{
    struct arguments arguments = {.out = out, .max_bytes = max_bytes};
    struct json_cursor cursor;
    if (!choice->tools)
        return true;
    json_cursor_init(&cursor, choice->tools, (size_t)(end - choice->tools));
    take_tools(&cursor, &arguments);
    return !arguments.is_cut;
}

bool chat_find_error(const char *text, size_t len, struct json_raw *ret)
{
    struct json_cursor cursor;
    struct json_raw key;
    json_cursor_init(&cursor, text, len);
    if (!json_enter_object(&cursor))
        return false;
    while (json_next_member(&cursor, &key)) {
        const char *value = cursor.at;
        if (KEY_IS(&key, "error") && *value != 'n') {
            *ret = (struct json_raw){value, (size_t)(cursor.end - value), false};
            return true;
        }
        skip_value(&cursor);
    }
    return false;
}
