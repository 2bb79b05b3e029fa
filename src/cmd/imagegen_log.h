/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_CMD_IMAGEGEN_LOG_H
#define ASSAY_CMD_IMAGEGEN_LOG_H

/* `assay imagegen verify FOLDER` and `assay imagegen compare A B`; argv[0] is the word after imagegen. */

int imagegen_verify(int argc, char **argv);
int imagegen_compare(int argc, char **argv);

#endif
