# SPDX-License-Identifier: Apache-2.0
# Generated text: man pages, options page, completions.
