# SPDX-License-Identifier: Apache-2.0
"""Requests made from the contract at random: no route fails, every answer fits the contract. ASSAY_GENERATED: how many a route."""

import os
import random
import unittest
import urllib.parse

from plane import Case, define

COUNT = int(os.environ.get("ASSAY_GENERATED", "25"))
TEXTS = ["", "a", "x" * 300, "ä☃𝄞", "\x1b[31m", "a\nb", "%00", "../..", "'; --", "<b>", "=1+1", "w1", "p1", "c8", "w1-r1", "default", "vllm", "h100", "metrumbench-llm",
         "2026-11-30T19:05:33Z", "9223372036854775808", "1e400", "true", "null", "{url}", "lib1", "dgx1", "gpu1"]
NUMBERS = [0, 1, -1, 2, 64, 10 ** 9, 2 ** 53, 2 ** 63, -2 ** 63, 0.5, 1e300, 10 ** 40]


class Generated(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        define(cls.admin)
        cls.schemas = cls.plane.contract.document["components"]["schemas"]

    def value(self, rng, schema, depth=0):
        """Mostly what the schema allows, now and then anything."""
        if "$ref" in schema:
            return self.value(rng, self.schemas[schema["$ref"].split("/")[-1]], depth)
        if rng.random() < 0.08 or depth > 5:
            return rng.choice([None, True, rng.choice(TEXTS), rng.choice(NUMBERS), [], {}, [rng.choice(TEXTS)], {rng.choice(TEXTS): 1}])
        if "anyOf" in schema:
            return self.value(rng, rng.choice(schema["anyOf"]), depth + 1)
        if "enum" in schema:
            return rng.choice(schema["enum"])
        types = schema.get("type", "object")
        kind = rng.choice(types) if isinstance(types, list) else types
        if kind == "object":
            required = schema.get("required", [])
            return {name: self.value(rng, part, depth + 1) for name, part in schema.get("properties", {}).items()
                    if rng.random() < (0.95 if name in required else 0.4)}
        if kind == "array":
            return [self.value(rng, schema.get("items", {}), depth + 1) for _ in range(rng.randrange(4))]
        return {"string": lambda: rng.choice(TEXTS), "integer": lambda: rng.choice(NUMBERS[:9]), "number": lambda: rng.choice(NUMBERS),
                "boolean": lambda: rng.random() < 0.5, "null": lambda: None}[kind]()

    def address(self, rng, path, operation):
        while "{" in path:
            name = path[path.index("{"):path.index("}") + 1]
            text = rng.choice([text for text in TEXTS if text])
            path = path.replace(name, urllib.parse.quote(text, safe=""), 1)
        query = [(parameter["name"], rng.choice(TEXTS)) for parameter in operation["parameters"] if parameter["in"] == "query" and rng.random() < 0.15]
        return path + ("?" + urllib.parse.urlencode(query) if query else "")

    def test_no_route_fails_whatever_is_sent(self):
        rng = random.Random(11)
        statuses = {}
        for path, operations in self.plane.contract.document["paths"].items():
            for method, operation in operations.items():
                # A stream that does not end; what would end this caller's own rights.
                if path in ("/api/v1/events", "/api/v1/logout", "/api/v1/login", "/api/v1/me/password") or operation["x-right"] == "agent":
                    continue
                body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
                for _ in range(COUNT):
                    address = self.address(rng, path, operation)
                    sent = self.value(rng, body) if body else None
                    answer = self.admin.call(method.upper(), address, sent)
                    self.assertTrue(answer.status < 500 or answer.status == 501, f"{method} {address} {sent}: {answer.status} {answer.body[:300]}")
                    statuses[answer.status] = statuses.get(answer.status, 0) + 1
        self.assertGreater(statuses.get(200, 0) + statuses.get(201, 0), 50)
        self.assertGreater(statuses.get(422, 0), 50)
        self.assertEqual(self.admin.call("GET", "/api/v1/health").status, 200)


if __name__ == "__main__":
    unittest.main()
