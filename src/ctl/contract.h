/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_CTL_CONTRACT_H
#define ASSAY_CTL_CONTRACT_H

/* What the served contract (OpenAPI) says of a member, so that a wrong file is refused before anything is written. Pure. */

#include "base/json.h"
#include "ctl/definition.h"

/* AS_E_INVALID with a sentence when a member is unknown or of another type, or, for things to be made, when a needed
 * one is missing. A kind that the contract does not describe passes: the server judges it. */
as_status contract_check(const struct json_value *contract, const struct definition_object *object, bool is_new,
                         struct as_error *err) AS_NODISCARD;

#endif
