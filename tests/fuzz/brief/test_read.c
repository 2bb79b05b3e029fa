/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes through the readers, the checks and the writers: what is read is written to text that reads back equal,
 * what is a report stays the same report, and skipping parts changes no verdict on the syntax of JSON.
 */
#include "brief/brief.h"
#include "brief/write.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define DEMAND(condition)                                                                                              \
    do {                                                                                                               \
        if (!(condition))                                                                                              \
            abort();                                                                                                   \
    } while (0)

#define INPUT_BYTES_MAX 65536

static void check_text(const struct value *value, const struct strbuf *text)
{
    struct tree tree;
    struct value *back = NULL;
    tree_init(&tree, READ_TREE_BYTES_MAX);
    as_status status = read_text(text->data, text->len, &tree, &back, NULL);
    DEMAND(status == AS_OK);
    DEMAND(value_equal(value, back));
    tree_done(&tree);
}

static void check_report_again(const struct brief_report *report)
{
    struct strbuf yaml AS_AUTO_STRBUF, json AS_AUTO_STRBUF;
    strbuf_init(&yaml, 0);
    strbuf_init(&json, 0);
    brief_write_yaml(report, &yaml);
    brief_write_json(report, &json);
    check_text(report->root, &yaml);
    check_text(report->root, &json);
    struct brief_report again;
    brief_init(&again);
    DEMAND(brief_read_text(&again, yaml.data, yaml.len, NULL) == AS_OK);
    DEMAND(value_equal(report->root, again.root));
    brief_done(&again);
}

static void check_skipping(const char *text, size_t size, as_status expected)
{
    static const char *const skip[] = {"*", NULL};
    struct tree tree;
    struct value *value;
    tree_init(&tree, READ_TREE_BYTES_MAX);
    as_status status = read_parts(&(struct read_parts){text, size, skip}, &tree, &value, NULL);
    DEMAND(expected != AS_OK || status == AS_OK);
    tree_done(&tree);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    struct brief_report report;
    struct tree tree;
    struct value *value = NULL;
    struct as_error err = {0};
    if (size > INPUT_BYTES_MAX)
        return 0;
    tree_init(&tree, READ_TREE_BYTES_MAX);
    as_status status = read_text(text, size, &tree, &value, &err);
    DEMAND(status == AS_OK || err.message[0] != '\0');
    check_skipping(text, size, status);
    tree_done(&tree);
    brief_init(&report);
    status = brief_read_text(&report, text, size, &err);
    DEMAND(status != AS_OK || report.root);
    if (status == AS_OK)
        check_report_again(&report);
    brief_done(&report);
    return 0;
}
