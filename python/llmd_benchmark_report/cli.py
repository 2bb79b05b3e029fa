# SPDX-License-Identifier: Apache-2.0
"""`python -m llmd_benchmark_report.cli`: the program benchmark-report, of the same installation where there is one, else of the PATH."""
import os
import sys


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    installed = os.path.abspath(os.path.join(here, *[os.pardir] * 4, "bin", "benchmark-report"))
    program = os.environ.get("ASSAY_REPORT_PROGRAM") or (installed if os.access(installed, os.X_OK) else "benchmark-report")
    try:
        os.execvp(program, ["benchmark-report", *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"{program}: {error.strerror}")


if __name__ == "__main__":
    main()
