#!/usr/bin/env python3
"""`renga tools`, and the documents of READMEs and samples. RENGA_BIN; one line a check, exit 1 when one fails."""
import json
import os
import re
import subprocess
import tempfile

from runner import BIN, HERE, MODULES, NODE, Runner, SLOW, check, checks, expect, odd

ROOT = os.path.join(HERE, "..", "..", "..")


def renga(*arguments, cwd=None, **environment):
    done = subprocess.run([f"{BIN}/renga", "tools", *arguments], capture_output=True, text=True, cwd=cwd, timeout=60 * SLOW,
                          env={**os.environ, **environment})
    return done.returncode, done.stdout, done.stderr


def document(folder, text):
    path = os.path.join(folder, "mcp.json")
    with open(path, "w") as file:
        file.write(text)
    return f"--tool_runner.mcp={path}"


with tempfile.TemporaryDirectory() as folder:
    @check("without configuration the tools of Renga itself are listed, as a table and as JSON")
    def _():
        code, table, _ = renga(cwd=folder)
        expect(code == 0 and [line.split()[0] for line in table.splitlines()] == ["tool", "calculate", "clock", "lookup_qa", "search_documents"], table)
        code, text, _ = renga("--json", "clock", cwd=folder)
        tools = json.loads(text)["tools"]
        expect(len(tools) == 1 and tools[0]["definition"]["parameters"]["type"] == "object", text)
        code, table, errors = renga("no_such", "clock", cwd=folder)
        expect(code == 1 and "clock" in table and errors == "renga tools: there is no tool 'no_such'; 'renga tools' lists them\n", f"{code} {errors}")
        code, table, errors = renga("no_such", cwd=folder)
        expect(code == 1 and not table and "'no_such'" in errors, f"{code} {table} {errors}")
        expect(os.listdir(folder) == [], f"it left {os.listdir(folder)}")

    @check("tools of a running tool-runner are listed, and servers that are down are told")
    def _():
        with Runner({"odd": odd(), "gone": {"command": "no-such-program"}}) as runner:
            code, table, errors = renga(f"--peers.tool_runner=dns:///127.0.0.1:{runner.port}")
            expect(code == 0 and "odd__count" in table and "gone: " in errors, f"{code} {table} {errors}")

    @check("a tool-runner that is not there is an error")
    def _():
        code, _, errors = renga("--peers.tool_runner=dns:///127.0.0.1:1", "--timeout=2s")
        expect(code == 1 and errors.startswith("renga tools: "), f"{code} {errors}")

    @check("the sample document lists and allows what it says")
    def _():
        os.chmod(folder, 0o755)  # where we are root the servers are another user
        os.symlink(MODULES, os.path.join(folder, "node_modules"))
        flag = f"--tool_runner.mcp={ROOT}/deploy/samples/mcp.json"
        code, text, errors = renga("--json", flag, cwd=folder, PATH=os.path.dirname(NODE) + ":" + os.environ["PATH"])
        names = {tool["definition"]["name"] for tool in json.loads(text)["tools"]}
        expect({"files__read_text_file", "files__list_directory", "files__search_files", "memory__search_nodes"} <= names,
               f"{names} {errors}")
        expect("files__write_file" not in names, "more than it allows")

    @check("the README's document is read")
    def _():
        with open(os.path.join(ROOT, "services", "tool_runner", "mcp", "README.md")) as file:
            text = re.search(r"```json\n(.*?)```", file.read(), re.S).group(1)
        flag = document(folder, text.replace("/run/secrets/tickets-key", __file__))
        code, _, errors = renga(flag, "calculate", cwd=folder)
        expect(code == 0, errors)

    @check("what is wrong in a document is told with its place, and nothing starts")
    def _():
        wrong = {
            '{"mcpServers": {"a": {"comand": "x"}}}': "1:23: unknown key 'comand'; did you mean 'command'?",
            '{"mcpServers": {"a": {}}}': "either a command or a url",
            '{"mcpServers": {"a": {"command": "x", "url": "http://h/"}}}': "either a command or a url",
            '{"mcpServers": {"a": {"url": "ftp://h/"}}}': "'url'",
            '{"mcpServers": {"a__b": {"command": "x"}}}': "is no name for a server",
            '{"mcpServers": {"a": {"command": "x", "timeout": "1h"}}}': "timeout",
            '{"mcpServers": {"a": {"command": "x", "env": {"A=B": "c"}}}}': "'A=B' is no name",
            '{"mcpServers": {"a": {"command": "x", "env": {"A": 1}}}}': "1:",
            '{"mcpServers": {"a": {"command": "x", "user": "no-such-user"}}}': "there is no user 'no-such-user'",
            '{"mcpServers": {"a": {"command": "x", "user": "1:99999999999"}}}': "there is no user '1:99999999999'",
            '{"servers": {}}': "'mcpServers'",
            '{"mcpServers": []}': "must be",
            '[]': "must be",
        }
        for text, part in wrong.items():
            code, _, errors = renga(document(folder, text), cwd=folder)
            expect(code != 0 and part in errors and "tool_runner.mcp: " in errors, f"{text}: {code} {errors}")

checks.finish()
