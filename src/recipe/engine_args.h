/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_RECIPE_ENGINE_ARGS_H
#define ASSAY_RECIPE_ENGINE_ARGS_H

/*
 * What is done with an engine-argument set: held against the flags of its framework's version, rendered to the words of
 * a command line, counted in GPUs, and given a digest. Pure: no files, no database; revisions are the store's business.
 * Errors: AS_E_INVALID with a sentence that names the key, what is known nearest to it and the type, and the remedy;
 * AS_E_NOMEM. Memory is in the caller's arena.
 */

#include "base/strbuf.h"
#include "recipe/data.h"

/* Longest key, text, flag and raw value, in bytes; most arguments and environment names of a set. */
#define RECIPE_KEY_BYTES_MAX  128
#define RECIPE_TEXT_BYTES_MAX 65536
#define RECIPE_ARGS_MAX       256

/* SHA-256 as lower-case hexadecimal digits and a NUL. */
#define RECIPE_DIGEST_BYTES 65

/* The flag of this key that `version` has (NULL: in any version) and that servers of `tool` take; NULL when there is
 * none. */
struct recipe_flag_query {
    const char *key;
    const char *version;
    const char *tool; /* NULL = text, vision and speech servers */
};
const struct recipe_flag *recipe_flag(const struct recipe_framework *framework, const struct recipe_flag_query *query);
/* The known key nearest to `key`, NULL when none is near. */
const char *recipe_flag_nearest(const struct recipe_framework *framework, const char *key);

/*
 * Checks a set: its framework, every key known to that version, every value of its type and choices, no key twice,
 * environment names well-formed, no secret (API keys, tokens and passwords are given as names of environment variables,
 * never as values), parallelism no smaller than 1, no environment variable that decides which code runs (PATH, LD_…),
 * no value that would be read as an option. `version` NULL: any version. The first mistake is told.
 */
as_status recipe_set_check(const struct recipe_framework *framework, const char *version, const struct recipe_set *set,
                           struct as_error *err) AS_NODISCARD;
/* Checks one value; the store calls it for a single edited value. */
as_status recipe_arg_check(const struct recipe_framework *framework, const struct recipe_flag_query *query,
                           const struct recipe_arg *arg, struct as_error *err) AS_NODISCARD;
/* Refuses a set of another tool or framework: text sets for image generation and the reverse. */
as_status recipe_set_check_tool(const struct recipe_set *set, const char *framework_code, const char *tool,
                                struct as_error *err) AS_NODISCARD;
/* The framework's default set for the tool, NULL when it has none. */
const struct recipe_set *recipe_set_default(const struct recipe_data *data, const char *framework_code,
                                            const char *tool);

/*
 * The words of the set, in its order: a bool without raw is its flag alone (false: the flag that says so, or nothing
 * where leaving out says it); with join "=" flag=value in one word; else flag, value; a list is its flag and one word
 * an item (with "=": items joined by commas). Placeholders stay as they are. The set must have passed recipe_set_check.
 */
as_status recipe_set_render(const struct recipe_framework *framework, const struct recipe_set *set, struct arena *arena,
                            struct recipe_list *ret, struct as_error *err) AS_NODISCARD;

/* GPUs of one server by the values of the set. */
struct recipe_parallel {
    int64_t tensor;
    int64_t attention; /* GPUs that share the attention heads: tensor, less where DP attention lies inside it */
    int64_t pipeline;
    int64_t data; /* replicas of the model inside the server; 1 where they lie inside the tensor group (DP attention) */
    int64_t ulysses; /* sequence parallel, image generation */
    int64_t ring;    /* the same */
    int64_t cfg;     /* classifier-free guidance parallel, image generation */
    int64_t expert;  /* 0 = off; lies inside tensor × data */
    int64_t gpus;    /* product: text tensor × pipeline × data, image generation tensor × ulysses × ring × cfg */
};
as_status recipe_set_parallel(const struct recipe_framework *framework, const struct recipe_set *set,
                              struct recipe_parallel *ret, struct as_error *err) AS_NODISCARD;

/* The set's text of a role or key ("context_length"); NULL when it does not set it. */
const char *recipe_set_role(const struct recipe_framework *framework, const struct recipe_set *set, const char *role);
const struct recipe_arg *recipe_set_arg(const struct recipe_set *set, const char *key);

/*
 * Everything that decides the launch, as canonical JSON (RFC 8785: members sorted, no white space): framework_code,
 * tool, args in order, env. Two sets with one digest start the same server, whatever they are called.
 */
as_status recipe_set_canonical(const struct recipe_framework *framework, const struct recipe_set *set,
                               struct strbuf *out, struct as_error *err) AS_NODISCARD;
as_status recipe_set_digest(const struct recipe_framework *framework, const struct recipe_set *set,
                            char ret[RECIPE_DIGEST_BYTES], struct as_error *err) AS_NODISCARD;
/* SHA-256 of any bytes, for digests of templates and commands. AS_E_INTERNAL when OpenSSL has none. */
as_status recipe_digest(const void *data, size_t len, char ret[RECIPE_DIGEST_BYTES]) AS_NODISCARD;

/*
 * The container image with its tag: what the set pins for the GPU class, else the framework's for the vendor's build
 * and version; NULL when neither is known or memory is short. `set`, `gpu` and `version` may be NULL.
 */
struct recipe_image_query {
    const struct recipe_set *set;
    const struct recipe_gpu *gpu;
    const char *version;
};
const char *recipe_container_image(const struct recipe_framework *framework, const struct recipe_image_query *query,
                                   struct arena *arena);
/* The build of a framework for a vendor: "cuda", "rocm", "tpu", "hpu". */
const char *recipe_vendor_build(enum recipe_vendor vendor);

/* True for names that hold a secret by their words: HF_TOKEN, api_key, DB_PASSWORD; false for max_tokens, api_key_env.
 */
bool recipe_is_secret_name(const char *name);

#endif
