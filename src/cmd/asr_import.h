/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ASSAY_CMD_ASR_IMPORT_H
#define ASSAY_CMD_ASR_IMPORT_H

/* `assay asr import-librispeech DIR`; argv[0] is "import-librispeech". Returns the exit status. */
int asr_import(int argc, char **argv);

#endif
