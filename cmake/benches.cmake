# SPDX-License-Identifier: Apache-2.0
# Benchmark programs (bench/), built on demand: not part of `all`.
