#!/usr/bin/env python3
"""Tool servers that others wrote: everything, filesystem and memory over stdio, everything over HTTP, and one of the
official SDK that speaks revision 2026-07-28 alone, both ways. RENGA_BIN, RENGA_PROTO; one line a check."""
import json
import os
import re
import subprocess

from runner import HERE, MODULES, NODE, OURSELVES, Runner, SLOW, check, checks, expect, npm, wait_until
from ports import free_port

OK, UNKNOWN, INVALID, LATE = 0, 2, 3, 4
EVERYTHING = "@modelcontextprotocol/server-everything"
port = free_port()
http = subprocess.Popen([NODE, os.path.join(MODULES, EVERYTHING, "dist", "index.js"), "streamableHttp"],
                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                        env={"PATH": os.environ["PATH"], "PORT": str(port)})
modern = subprocess.Popen([NODE, f"{HERE}/modern.mjs", "http"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
modern_port = int(modern.stdout.readline().split()[1])
for line in http.stderr:
    if re.search(r"port \d+", line):
        break


def tools(answer, server):
    return {tool.definition.name for tool in answer.tools if tool.server == server}


def started(log, what):
    return any(what in line for line in log)


with Runner() as first:
    os.mkdir(f"{first.folder}/files")
    with open(f"{first.folder}/files/池.txt", "w") as file:
        file.write("古池や蛙飛びこむ水の音\n")
    servers = {
        "every": npm(EVERYTHING, "stdio"),
        "files": npm("@modelcontextprotocol/server-filesystem", f"{first.folder}/files"),
        "memory": npm("@modelcontextprotocol/server-memory", env={"MEMORY_FILE_PATH": f"{first.folder}/memory.jsonl"}),
        "web": {"type": "http", "url": f"http://127.0.0.1:{port}/mcp", "headers": {"X-Team": "renga"}},
        "modern": {"command": NODE, "args": [f"{HERE}/modern.mjs", "stdio"], "user": OURSELVES},
        "modernweb": {"url": f"http://127.0.0.1:{modern_port}/mcp"},
        "modernonly": {"url": f"http://127.0.0.1:{modern_port}/mcp", "revision": "2026-07-28"},
    }
    with Runner(servers) as runner:
        answer = runner.list()

        @check("all of them are listed")
        def _():
            expect(not answer.degradations, str(answer.degradations))
            counts = {name: len(tools(answer, name)) for name in servers}
            expect(counts["every"] >= 12 and counts["files"] >= 10 and counts["memory"] >= 8, str(counts))
            expect(counts["web"] == counts["every"] and counts["modern"] == counts["modernweb"] == 3, str(counts))
            return ", ".join(f"{name} {count}" for name, count in counts.items())

        for server, how in (("every", "stdio"), ("web", "HTTP")):
            @check(f"everything over {how}: texts, numbers, structured content, images, resources")
            def _():
                results = runner.run((f"{server}__echo", {"message": "こんにちは"}), (f"{server}__get-sum", {"a": 2, "b": 40}),
                                     (f"{server}__get-structured-content", {"location": "New York"}),
                                     (f"{server}__get-tiny-image", {}),
                                     (f"{server}__get-resource-reference", {"resourceType": "Text", "resourceId": 1}))
                expect([result.status_code for result in results] == [OK] * 5, str(results))
                expect(results[0].text == "Echo: こんにちは" and "42" in results[1].text, str(results[:2]))
                expect("temperature" in json.loads(results[2].structured_json), results[2].structured_json)
                expect("[image of type image/png left out]" in results[3].text, results[3].text)
                expect("This is a plaintext resource" in results[4].text, results[4].text)

            @check(f"everything over {how}: a long call is stopped in time, a short one beside it is not")
            def _():
                late, fine = runner.run((f"{server}__trigger-long-running-operation", {"duration": 30, "steps": 3},
                                         {"timeout_ms": 300}), (f"{server}__get-sum", {"a": 1, "b": 1}))
                expect((late.status_code, fine.status_code) == (LATE, OK), f"{late} {fine}")

            @check(f"everything over {how}: wrong arguments are refused with what is wrong")
            def _():
                result = runner.one(f"{server}__get-sum", {"a": "two"})
                expect(result.status_code == INVALID and "a: must be a number" in result.message, str(result))

        @check("a session that is lost is begun anew, and the call goes through")
        def _():
            global http
            http.kill()
            http.wait()
            http = subprocess.Popen([NODE, os.path.join(MODULES, EVERYTHING, "dist", "index.js"), "streamableHttp"],
                                    stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                    env={"PATH": os.environ["PATH"], "PORT": str(port)})
            for line in http.stderr:
                if re.search(r"port \d+", line):
                    break
            result = runner.one("web__get-sum", {"a": 20, "b": 3})
            expect("23" in result.text, str(result))

        @check("filesystem: a file is written, read and listed; outside of its folder it refuses")
        def _():
            path = f"{first.folder}/files/new.txt"
            wrote = runner.one("files__write_file", {"path": path, "content": "蛙"})
            read, listed, outside = runner.run(
                ("files__read_text_file", {"path": f"{first.folder}/files/池.txt"}),
                ("files__list_directory", {"path": f"{first.folder}/files"}),
                ("files__read_text_file", {"path": "/etc/passwd"}))
            expect(wrote.status_code == OK and open(path).read() == "蛙", str(wrote))
            expect("古池や" in read.text and "new.txt" in listed.text, f"{read} {listed}")
            expect(outside.status_code == UNKNOWN and "denied" in outside.text, str(outside))

        @check("memory: what is put in is found")
        def _():
            entity = {"name": "芭蕉", "entityType": "poet", "observations": ["wrote of a frog"]}
            expect(runner.one("memory__create_entities", {"entities": [entity]}).status_code == OK, "not created")
            result = runner.one("memory__search_nodes", {"query": "frog"})
            expect("芭蕉" in result.text, str(result))

        for server, how in (("modern", "stdio"), ("modernweb", "HTTP"), ("modernonly", "HTTP, without a try of the old one")):
            @check(f"revision 2026-07-28 over {how}")
            def _():
                good, bad = runner.run((f"{server}__greet", {"name": "太郎"}), (f"{server}__fail", {}))
                expect(good.text == "Hello 太郎", str(good))
                expect((bad.status_code, bad.text) == (UNKNOWN, "boom"), str(bad))
                late = runner.one(f"{server}__slow", {"ms": 30000}, {"timeout_ms": 200})
                expect(late.status_code == LATE, str(late))

        @check("in 2026-07-28 closing the stream stops the work")
        def _():
            wait_until(lambda: "aborted" in modern.stderr.readline(), "the server saw it", 5 * SLOW)

http.kill()
modern.kill()
checks.finish()
