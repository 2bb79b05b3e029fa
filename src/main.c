/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/front.h"

/* The commands are listed in cmd/commands.h. */
int main(int argc, char **argv)
{
    return front_run(argc, argv);
}
