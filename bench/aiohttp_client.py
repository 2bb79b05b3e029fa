#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A peer for the client benchmarks: what Python benchmark clients do, at its smallest.

    aiohttp_client.py PORT CONNECTIONS REQUESTS BODY-FILE [PATH]

Reads event streams line by line, decodes each event with json and stamps it; reads other answers whole. Prints one JSON line.
"""
import asyncio, json, sys, time
import aiohttp


async def worker(session, url, body, state):
    while state["left"] > 0:
        state["left"] -= 1
        async with session.post(url, data=body, headers={"Content-Type": "application/json"}) as answer:
            if answer.headers.get("Content-Type", "").startswith("text/event-stream"):
                async for line in answer.content:
                    if line.startswith(b"data: ") and not line.startswith(b"data: [DONE]"):
                        stamp = time.perf_counter_ns()
                        event = json.loads(line[6:])
                        if event["choices"] and event["choices"][0].get("delta", {}).get("content"):
                            state["content_events"] += 1
                            state["last"] = stamp
            else:
                json.loads(await answer.read())


async def main():
    port, connections, requests, body_file = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    path = sys.argv[5] if len(sys.argv) > 5 else "/v1/chat/completions"
    body = open(body_file, "rb").read()
    state = {"left": requests, "content_events": 0}
    connector = aiohttp.TCPConnector(limit=0)
    timeout = aiohttp.ClientTimeout(total=None)
    async with aiohttp.ClientSession(connector=connector, timeout=timeout) as session:
        cpu, wall = time.process_time_ns(), time.perf_counter_ns()
        url = f"http://127.0.0.1:{port}{path}"
        await asyncio.gather(*(worker(session, url, body, state) for _ in range(connections)))
        print(json.dumps({"requests": requests, "content_events": state["content_events"],
                          "wall_ns": time.perf_counter_ns() - wall, "cpu_ns": time.process_time_ns() - cpu}))


asyncio.run(main())
