#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A second renderer of engine-argument sets, written from the rules in data/recipes/README.md.

usage: render.py FOLDER. Prints one JSON array a set, in the order of the file: code, digest, words.
"""

import hashlib
import json
import os
import sys


def numbers_as_text(folder, name):
    """The file with numbers kept as they are written."""
    with open(os.path.join(folder, name), encoding="utf-8") as file:
        return json.load(file, parse_int=str, parse_float=str)


def words_of(arg, flags):
    template = flags[arg["key"]]
    value, raw = arg["value"], arg.get("raw")
    if isinstance(value, bool):
        flag = arg.get("flag") or (template["flag"] if value or raw or template.get("writes_bool") else template.get("false_flag"))
        if raw is None and not template.get("writes_bool"):
            return [flag] if flag else []
        raw = raw or str(value)
        join = arg.get("join", "=" if template.get("writes_bool") else " ")
        return [flag + "=" + raw] if join == "=" else [flag, raw]
    flag = arg.get("flag", template["flag"])
    if isinstance(value, list) and raw is None:
        return [flag + "=" + ",".join(value)] if arg.get("join") == "=" else [flag, *value]
    text = raw if raw is not None else value
    return [flag + "=" + text] if arg.get("join") == "=" else [flag, text]


def canonical(item):
    return json.dumps(item, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def main(folder):
    flags = {}
    for framework in numbers_as_text(folder, "frameworks.json")["frameworks"]:
        for flag in framework["flags"]:
            flags.setdefault((framework["framework_code"], flag.get("tool")), {})[flag["key"]] = flag
    for item in numbers_as_text(folder, "engine_args.json")["sets"]:
        known = flags[(item["framework_code"], item.get("tool"))]
        args = [{"key": arg["key"], "words": words_of(arg, known)} for arg in item["args"]]
        text = canonical({"args": args, "env": item.get("env", {}), "framework_code": item["framework_code"],
                          "images": item.get("images", {}), "tool": item.get("tool")})
        digest = hashlib.sha256(text.encode()).hexdigest()
        print(canonical([item["set_code"], digest, *[word for arg in args for word in arg["words"]]]))


if __name__ == "__main__":
    main(sys.argv[1])
