/* SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"
#include "store/backend.h"

#include <unistd.h>

void store_die(const char *what)
{
    log_error("the store cannot be trusted any more: %s failed; ending, so that nothing is acknowledged that may be lost", what);
    _exit(status_exit_code(AS_E_IO));
}
