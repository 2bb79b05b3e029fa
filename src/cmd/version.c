/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/version.h"

#include "generated/version_data.h"

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)

#if defined(__clang__)
#define COMPILER "clang " TEXT(__clang_major__) "." TEXT(__clang_minor__) "." TEXT(__clang_patchlevel__)
#else
#define COMPILER "gcc " TEXT(__GNUC__) "." TEXT(__GNUC_MINOR__) "." TEXT(__GNUC_PATCHLEVEL__)
#endif

const struct version *version_info(void)
{
    static const struct version version = {
        .version = ASSAY_VERSION_TEXT,
        .commit = ASSAY_COMMIT,
        .is_modified = ASSAY_IS_MODIFIED,
        .full = ASSAY_VERSION_TEXT "+" ASSAY_COMMIT ASSAY_MODIFIED_SUFFIX,
        .compiler = COMPILER,
        .build = ASSAY_BUILD,
        .flags = ASSAY_FLAGS,
    };
    return &version;
}
