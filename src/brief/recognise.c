/* SPDX-License-Identifier: Apache-2.0 */
#include "brief/convert.h"

#include <string.h>

/* Members at the root that together only one generator writes. */
static const struct {
    struct convert_kind kind;
    const char *members[3];
} MARKS[] = {
    {{"guidellm", false}, {"benchmarks", NULL}},
    {{"inference-perf", false}, {"load_summary", "successes", NULL}},
    {{"inference-perf", true}, {"num_sessions", "total_events", NULL}},
    {{"aiperf", false}, {"input_config", "request_count", NULL}},
    {{"vllm-benchmark", false}, {"num_prompts", "completed", NULL}},
    {{"nop", false}, {"scenario", "vllm_metrics", NULL}},
};

static bool has_all(const struct value *root, const char *const members[3])
{
    for (size_t i = 0; i < 3 && members[i]; i++)
        if (!value_get(root, members[i]))
            return false;
    return true;
}

static struct convert_kind kind_of(const struct value *root)
{
    const char *schema = value_string(value_get(root, "schema"));
    if (schema && strncmp(schema, CONVERT_OWN_SCHEMA, strlen(CONVERT_OWN_SCHEMA)) == 0)
        return (struct convert_kind){"assay", false};
    for (size_t i = 0; value_is(root, VALUE_MAP) && i < sizeof MARKS / sizeof MARKS[0]; i++)
        if (has_all(root, MARKS[i].members))
            return MARKS[i].kind;
    return (struct convert_kind){NULL, false};
}

struct convert_kind convert_recognise(const char *path)
{
    static const char *const below_the_root[] = {"*.*", NULL};
    struct convert_kind kind = {NULL, false};
    struct tree tree;
    struct value *root = NULL;
    struct as_error ignored;
    tree_init(&tree, READ_TREE_BYTES_MAX);
    if (read_path(path, below_the_root, &tree, &root, &ignored) == AS_OK)
        kind = kind_of(root);
    tree_done(&tree);
    return kind;
}
