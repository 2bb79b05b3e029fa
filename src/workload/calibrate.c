/* SPDX-License-Identifier: Apache-2.0 */
#include "workload/calibrate.h"

#include <string.h>

#define SHORT_WORDS 32
#define LONG_WORDS  256

static as_status ask(uint64_t seed, const struct token_counter *counter, struct token_probe *probe, struct as_error *err)
{
    struct strbuf text AS_AUTO_STRBUF;
    strbuf_init(&text, 0);
    synthetic_text(seed, UINT64_MAX - (uint64_t)probe->words, probe->words, &text);
    if (strbuf_status(&text) != AS_OK)
        return error_set(err, AS_E_NOMEM, "out of memory");
    return counter->count(counter->context, strbuf_text(&text), &probe->prompt_tokens, err);
}

as_status calibrate_synthetic(uint64_t seed, const struct token_counter *counter,
                              struct token_probe ret_probes[CALIBRATE_PROBES], struct token_ratio *ret,
                              struct as_error *err)
{
    struct token_probe probes[CALIBRATE_PROBES] = {{.words = SHORT_WORDS}, {.words = LONG_WORDS}};
    for (size_t i = 0; i < CALIBRATE_PROBES; i++) {
        as_status status = ask(seed, counter, &probes[i], err);
        if (status != AS_OK)
            return status;
    }
    if (token_ratio_fit(probes, CALIBRATE_PROBES, ret, err) != AS_OK) {
        error_prefix(err, "calibration of tokens per word");
        return AS_E_NETWORK;
    }
    memcpy(ret_probes, probes, sizeof probes);
    return AS_OK;
}
