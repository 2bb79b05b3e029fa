/* SPDX-License-Identifier: Apache-2.0 */
#include "brief/model.h"

#include <string.h>

static bool reads(const struct model *model, const char *version)
{
    for (const char *const *word = model->reads; *word; word++)
        if (strcmp(*word, version) == 0)
            return true;
    return false;
}

const struct model *model_find(const char *version)
{
    if (reads(&model_0_2, version))
        return &model_0_2;
    return reads(&model_0_1, version) ? &model_0_1 : NULL;
}

const struct model_field *model_field(const struct model_object *object, const char *name)
{
    for (size_t i = 0; i < object->count; i++)
        if (strcmp(object->fields[i].name, name) == 0)
            return &object->fields[i];
    return NULL;
}
