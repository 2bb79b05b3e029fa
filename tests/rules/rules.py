#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The rules of this repository's code. usage: rules.py RULE [ROOT]

Each rule prints one line a violation, as file:line: reason, then how much it looked at; it fails when it found something, or
when it found nothing to look at. Exceptions stand in tests/rules/exceptions.txt: RULE PATH[:FUNCTION] REASON; one that is not
needed is a violation too.
"""

import os
import re
import subprocess
import sys

FUNCTION_LINES_MAX = 100
FILE_LINES_MAX = 900
PARAMETERS_MAX = 5
NESTING_MAX = 3
HEADER_LINES_MAX = 250
COMMAND_LINES_MAX = 120  # src/cmd/*.c wire modules together; programs of their own (*_main.c) may be longer

BANNED_ANYWHERE = ("strcpy strcat sprintf vsprintf strtok atoi atol atof gets gmtime localtime setjmp longjmp sigsetjmp "
                   "siglongjmp alloca tmpnam mktemp system popen").split()
# Modules return errors; commands (and the module run, which is one command's steps) print and exit.
BANNED_IN_MODULES = "printf puts putchar perror exit _exit _Exit abort quick_exit log_error log_warning log_info".split()
LIKE_COMMANDS = {"cmd", "run"}
UNFINISHED = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b|\bfor now\b", re.IGNORECASE)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def blank(text):
    """The text with comments, strings and character constants replaced by spaces; line ends stay."""
    pattern = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)

    def spaces(match):
        piece = match.group(0)
        inside = re.sub(r"[^\n]", " ", piece)
        return '"' + inside[1:-1] + '"' if piece[0] == '"' else inside

    return pattern.sub(spaces, text)


class Checker:
    def __init__(self, root, rule):
        self.root = root
        self.rule = rule
        self.found = []
        self.looked_at = 0
        self.exceptions = {}
        path = os.path.join(root, "tests/rules/exceptions.txt")
        for number, line in enumerate(read(path).splitlines() if os.path.exists(path) else [], 1):
            if not line.strip() or line.startswith("#"):
                continue
            words = line.split(None, 2)
            if len(words) < 3:
                self.found.append(f"tests/rules/exceptions.txt:{number}: RULE PATH[:FUNCTION] REASON")
            elif words[0] == rule:
                self.exceptions[words[1]] = number
        self.used = set()

    def complain(self, path, line, reason, function=None):
        for key in (path, f"{path}:{function}"):
            if key in self.exceptions:
                self.used.add(key)
                return
        self.found.append(f"{path}:{line}: {reason}")

    def finish(self):
        for key, number in self.exceptions.items():
            if key not in self.used:
                self.found.append(f"tests/rules/exceptions.txt:{number}: the exception {self.rule} {key} is not needed")
        for line in self.found:
            print(line)
        print(f"{self.rule}: {self.looked_at} looked at, {len(self.found)} violations")
        return 1 if self.found or not self.looked_at else 0

    def files(self, folder, endings):
        """Paths relative to the root, sorted."""
        result = []
        for parent, folders, names in os.walk(os.path.join(self.root, folder)):
            folders.sort()
            for name in sorted(names):
                if name.endswith(endings):
                    result.append(os.path.relpath(os.path.join(parent, name), self.root))
        return result

    def text(self, path):
        return read(os.path.join(self.root, path))


def layers(checker):
    allowed = {}
    for line in checker.text("src/LAYERS").splitlines():
        if re.match(r"[a-z]+:", line):
            module, others = line.split(":", 1)
            for other in others.split():
                if other not in allowed:
                    checker.complain("src/LAYERS", 0, f"{module} may include {other}, which stands below it or nowhere")
            allowed[module] = set(others.split())
    for path in checker.files("src", (".c", ".h")):
        module = path.split("/")[1] if path.count("/") > 1 else None
        if module in (None, "cmd"):
            continue
        if module not in allowed:
            checker.complain(path, 1, f"module {module} is not in src/LAYERS")
            continue
        for number, line in enumerate(checker.text(path).splitlines(), 1):
            match = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
            if not match:
                continue
            checker.looked_at += 1
            other = match.group(1).split("/")[0]
            if "/" not in match.group(1):
                checker.complain(path, number, f'includes are written "module/header.h", not "{match.group(1)}"')
            elif other != module and other not in allowed[module]:
                checker.complain(path, number, f"{module} may not include {other} (src/LAYERS)")
            elif not os.path.exists(os.path.join(checker.root, "src", match.group(1))):
                checker.complain(path, number, f"{match.group(1)} does not exist")


def banned(checker):
    for path in checker.files("src", (".c", ".h")):
        if path == "src/base/banned.h":
            continue
        checker.looked_at += 1
        module = path.split("/")[1]
        names = BANNED_ANYWHERE + ([] if module in LIKE_COMMANDS or path == "src/base/log.h" else BANNED_IN_MODULES)
        pattern = re.compile(r"(?<![\w.>])(" + "|".join(names) + r")\s*\(")
        for number, line in enumerate(blank(checker.text(path)).splitlines(), 1):
            for match in pattern.finditer(line):
                checker.complain(path, number, f"{match.group(1)} is banned here")


def functions(text):
    """(name, first line, last line, parameters, nesting) of each function: its brace stands alone in column 0."""
    lines = blank(text).splitlines()
    start = None
    for index, line in enumerate(lines):
        if line.rstrip() == "{":
            start = index
        elif line.startswith("}") and start is not None:
            head, first = [], start - 1
            while first >= 0 and lines[first].strip() and not lines[first].startswith(("}", "#")) and not lines[first].rstrip().endswith(";"):
                head.insert(0, lines[first])
                first -= 1
            signature = " ".join(head)
            match = re.search(r"([A-Za-z_]\w*)\s*\(", signature)
            if match and "=" not in signature.split("(")[0]:
                depth, nesting, commas = 0, 0, 0
                for char in signature[match.end():]:
                    if char == "(":
                        depth += 1
                    elif char == ")":
                        if depth == 0:
                            break
                        depth -= 1
                    elif char == "," and depth == 0:
                        commas += 1
                arguments = signature[match.end():]
                parameters = 0 if re.match(r"\s*void\s*\)", arguments) else commas + 1
                parameters -= bool(re.search(r",\s*\.\.\.\s*\)", arguments))
                depth = 0
                for body in lines[start:index + 1]:
                    # blocks only: initialisers ("= {…}") do not nest
                    for piece in re.finditer(r"[{}]", body):
                        if piece.group(0) == "}":
                            depth -= 1
                        else:
                            depth += 1
                            before = body[:piece.start()].rstrip()
                            if not before.endswith(("=", ",", "{", "(", ")")) or re.search(r"\b(if|for|while|switch)\b.*\)$", before):
                                nesting = max(nesting, depth - 1)
                yield match.group(1), first + 2, index + 1, parameters, nesting
            start = None


def sizes(checker):
    for path in checker.files("src", (".c", ".h")):
        text = checker.text(path)
        count = text.count("\n")
        checker.looked_at += 1
        if count > FILE_LINES_MAX:
            checker.complain(path, count, f"{count} lines, at most {FILE_LINES_MAX}")
        if re.match(r"src/cmd/(?!\w*_main)\w+\.c$", path) and count > COMMAND_LINES_MAX:
            checker.complain(path, count, f"a command of {count} lines, at most {COMMAND_LINES_MAX}")
        if path.endswith(".h"):
            if count > HEADER_LINES_MAX:
                checker.complain(path, count, f"a header of {count} lines, at most {HEADER_LINES_MAX}")
            for number, name, parameters in declarations(text):
                if parameters > PARAMETERS_MAX:
                    checker.complain(path, number, f"{name} takes {parameters} parameters, at most {PARAMETERS_MAX}", name)
        for name, first, last, parameters, nesting in functions(text):
            if last - first + 1 > FUNCTION_LINES_MAX:
                checker.complain(path, first, f"{name} has {last - first + 1} lines, at most {FUNCTION_LINES_MAX}", name)
            if parameters > PARAMETERS_MAX:
                checker.complain(path, first, f"{name} takes {parameters} parameters, at most {PARAMETERS_MAX}", name)
            if nesting > NESTING_MAX:
                checker.complain(path, first, f"{name} is nested {nesting} deep, at most {NESTING_MAX}", name)


def declarations(text):
    """(line, name, parameters) of function declarations at the start of a line."""
    plain = blank(text)
    for match in re.finditer(r"^(?!static|typedef|#|\s)[A-Za-z_][\w\s*]*?\b([A-Za-z_]\w*)\s*\(([^()]*(?:\([^()]*\)[^()]*)*)\)[^;{]*;", plain, re.MULTILINE):
        arguments = re.sub(r"\([^()]*\)", "", match.group(2)).strip()
        parameters = 0 if arguments in ("", "void") else arguments.count(",") + 1 - arguments.endswith("...")
        yield plain.count("\n", 0, match.start()) + 1, match.group(1), parameters


def headers(checker):
    compiler = os.environ.get("CC", "cc")
    # Debian keeps libpq's headers in a folder of their own.
    outside = subprocess.run(["pkg-config", "--cflags-only-I", "libpq"], capture_output=True, text=True).stdout.split()
    for path in checker.files("src", (".h",)):
        checker.looked_at += 1
        done = subprocess.run([compiler, "-std=c17", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-fsyntax-only", "-I", os.path.join(checker.root, "src"), *outside, "-x", "c",
                               os.path.join(checker.root, path)], capture_output=True, text=True)
        errors = [line for line in done.stderr.splitlines() if ": error:" in line or ": fatal error:" in line]
        if done.returncode:
            checker.complain(path, 1, "does not compile alone: " + (errors or ["?"])[0].split("error: ")[-1])


def text_rules(checker):
    for folder, endings in (("src", (".c", ".h")), ("tests", (".c", ".h", ".py", ".sh")), ("cmake", (".cmake",)), ("bench", (".c", ".py"))):
        for path in checker.files(folder, endings):
            lines = checker.text(path).splitlines()
            checker.looked_at += 1
            if not any("SPDX-License-Identifier: Apache-2.0" in line for line in lines[:2]):
                checker.complain(path, 1, "the first line is no SPDX line")
            if path.startswith("tests/rules/"):
                continue
            for number, line in enumerate(lines, 1):
                if UNFINISHED.search(line):
                    checker.complain(path, number, "an unfinished thing: " + line.strip()[:80])


RULES = {"layers": layers, "banned": banned, "sizes": sizes, "headers": headers, "text": text_rules}


def main():
    if len(sys.argv) < 2 or sys.argv[1] not in RULES:
        sys.exit("usage: rules.py " + "|".join(RULES) + " [ROOT]")
    root = sys.argv[2] if len(sys.argv) > 2 else os.environ.get("ASSAY_SOURCE_DIR", ".")
    checker = Checker(root, sys.argv[1])
    RULES[sys.argv[1]](checker)
    sys.exit(checker.finish())


if __name__ == "__main__":
    main()
