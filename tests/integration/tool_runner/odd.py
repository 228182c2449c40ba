#!/usr/bin/env python3
"""A tool server that behaves as real ones do on bad days: MCP over standard input and output, without a library.

  odd.py [--modern] [--mute] [--pages N] [--crash] [--slow-start S]"""
import json
import os
import resource
import sys
import threading
import time

FLAGS = sys.argv[1:]
MODERN = "--modern" in FLAGS
REVISION = "io.modelcontextprotocol/protocolVersion"
lock = threading.Lock()
cancelled, answers, extra, own_ids = set(), {}, [], 0


def flag(name, fallback):
    return int(FLAGS[FLAGS.index(name) + 1]) if name in FLAGS else fallback


def send(message):
    with lock:
        sys.stdout.write(json.dumps(message, ensure_ascii=False) + "\n")
        sys.stdout.flush()


def text(value):
    return {"content": [{"type": "text", "text": value}]}


def ask(method, params=None):
    """A request of the server's own; its ids begin where the client's do."""
    global own_ids
    number, own_ids = own_ids, own_ids + 1
    came = answers[number] = threading.Event()
    send({"jsonrpc": "2.0", "id": number, "method": method, **({"params": params} if params else {})})
    came.wait(5)
    return answers.get(number)


# ---- tools -----------------------------------------------------------------------------------------------------------


def count(call, file, ms=0):
    with open(file, "a") as out:
        out.write("x\n")
    time.sleep(ms / 1000)
    with open(file) as done:
        return text(f"{len(done.readlines())} times")


def slow(call, ms, file=None):
    until = time.monotonic() + ms / 1000
    while time.monotonic() < until:
        if call["id"] in cancelled:
            if file:
                with open(file, "a") as out:
                    out.write("cancelled\n")
            return None
        time.sleep(0.005)
    return text("done")


def hang(call):
    lock.acquire()  # nothing is written any more
    time.sleep(3600)


def big(call, size):
    return text("日本" * (size // 6))


def farewell(call, size):
    send({"jsonrpc": "2.0", "id": call["id"], "result": big(call, size)})
    os._exit(0)


def endless(call):
    with lock:
        while True:
            sys.stdout.write("x" * 65536)
            sys.stdout.flush()


def die(call):
    os._exit(3)


def garbage(call):
    with lock:
        sys.stdout.write("this is no JSON\n[1, 2]\n{\"jsonrpc\": \"2.0\"}\n\n{\"a\": \"\\ud800\"}\n\xff\n"
                         '{"jsonrpc": "2.0", "id": 999999, "result": {}}\n{"jsonrpc":"2.0","id":"x","error":{}}\n')
        sys.stdout.flush()
    sys.stderr.write("noise\n" * 20000)
    sys.stderr.flush()
    return text("after the garbage")


def around(call):
    status = dict(line.split(":\t", 1) for line in open("/proc/self/status").read().splitlines() if ":\t" in line)
    return text(json.dumps({
        "env": dict(os.environ), "pid": os.getpid(), "group": os.getpgid(0) == os.getpid(),
        "files": sorted(os.readlink(f"/proc/self/fd/{n}") for n in os.listdir("/proc/self/fd") if int(n) > 2 and
                        os.path.exists(f"/proc/self/fd/{n}")),
        "core": resource.getrlimit(resource.RLIMIT_CORE)[1], "open": resource.getrlimit(resource.RLIMIT_NOFILE)[1],
        "no_new_privs": status["NoNewPrivs"].strip(), "seccomp": status["Seccomp"].strip()}))


def write(call, path):
    try:
        with open(path, "w") as out:
            out.write("written")
        return text("written")
    except OSError as error:
        return {"content": [{"type": "text", "text": error.strerror}], "isError": True}


def trace(call, pid):
    import ctypes
    libc = ctypes.CDLL(None, use_errno=True)
    done = libc.ptrace(16, pid, 0, 0)
    return text(f"{done} {ctypes.get_errno()}")


def attack(call, program, pid):
    import subprocess
    tried = subprocess.run([program, str(pid)], capture_output=True, text=True, timeout=30)
    return text(tried.stdout + tried.stderr)


def status(call):
    with open("/proc/self/status") as file:
        return text(file.read())


def move(call, folder):
    """Over a folder, as programs do that write a file anew."""
    os.makedirs(f"{folder}/from", exist_ok=True)
    with open(f"{folder}/from/a", "w") as file:
        file.write("a")
    os.rename(f"{folder}/from/a", f"{folder}/b")
    os.unlink(f"{folder}/b")
    os.rmdir(f"{folder}/from")
    return text("moved")


def curious(call):
    return text(json.dumps([ask("ping"), ask("roots/list"), ask("sampling/createMessage", {"messages": []})]))


def grow(call):
    extra.append("grown")
    send({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
    return text("one more")


def parts(call):
    return {"content": [{"type": "text", "text": "first"}, {"type": "image", "data": "AAAA", "mimeType": "image/png"},
                        {"type": "resource_link", "uri": "file:///a", "name": "a"},
                        {"type": "resource", "resource": {"uri": "b:", "text": "inside"}}],
            "structuredContent": {"answer": 42, "list": [1.5, None, True]}}


def error(call, **_):
    return {"content": [{"type": "text", "text": "it did not work"}], "isError": True}


def vain(call, query="zebra"):
    return text(f'No results for "{query}".')


def wants_input(call):
    return {"resultType": "input_required", "inputRequests": {}, "requestState": "s"}


NUMBER, TEXT = {"type": "integer"}, {"type": "string"}
TOOLS = {
    "count": (count, {"file": TEXT, "ms": NUMBER}, ["file"], {}),
    "slow": (slow, {"ms": NUMBER, "file": TEXT}, ["ms"], {"readOnlyHint": True}),
    "hang": (hang, {}, [], {"readOnlyHint": True}),
    "big": (big, {"size": NUMBER}, ["size"], {"readOnlyHint": True}),
    "farewell": (farewell, {"size": NUMBER}, ["size"], {"readOnlyHint": True}),
    "endless": (endless, {}, [], {"readOnlyHint": True}),
    "die": (die, {}, [], {}),
    "garbage": (garbage, {}, [], {"readOnlyHint": True}),
    "around": (around, {}, [], {"readOnlyHint": True}),
    "write": (write, {"path": TEXT}, ["path"], {}),
    "trace": (trace, {"pid": NUMBER}, ["pid"], {"readOnlyHint": True}),
    "attack": (attack, {"program": TEXT, "pid": NUMBER}, ["program", "pid"], {}),
    "status": (status, {}, [], {"readOnlyHint": True}),
    "move": (move, {"folder": TEXT}, ["folder"], {}),
    "curious": (curious, {}, [], {"readOnlyHint": True}),
    "grow": (grow, {}, [], {"readOnlyHint": True}),
    "parts": (parts, {}, [], {"readOnlyHint": True}),
    "error": (error, {}, [], {"readOnlyHint": True}),
    "vain": (vain, {"query": TEXT}, [], {"readOnlyHint": True}),
    "wants_input": (wants_input, {}, [], {"readOnlyHint": True}),
    "odd name/with 日本語": (error, {}, [], {"readOnlyHint": True}),
    "x" * 80 + "1": (error, {}, [], {}),
    "x" * 80 + "2": (error, {}, [], {}),
    "pattern": (error, {"a": {"type": "string", "pattern": "^[a-z]+$"}}, [], {"readOnlyHint": True}),
}


def describe(name):
    function, properties, required, annotations = TOOLS.get(name, (error, {}, [], {}))
    return {"name": name, "description": f"{name[:20]}, as told", "annotations": annotations,
            "inputSchema": {"type": "object", "properties": properties, "required": required,
                            "$schema": "http://json-schema.org/draft-07/schema#"}}


def list_tools(params):
    names, pages = list(TOOLS) + extra, flag("--pages", 1)
    page = int(params.get("cursor", "0"))
    size = -(-len(names) // pages)
    more = {"nextCursor": str(page + 1)} if page + 1 < pages else {}
    return {"tools": [describe(name) for name in names[page * size:(page + 1) * size]], **more}


# ---- the protocol ----------------------------------------------------------------------------------------------------


def run(message):
    params = message.get("params", {})
    result = TOOLS[params["name"]][0](message, **params.get("arguments", {}))
    if result is not None and message["id"] not in cancelled:
        send({"jsonrpc": "2.0", "id": message["id"], "result": result})


def refuse(message, code, why):
    send({"jsonrpc": "2.0", "id": message["id"], "error": {"code": code, "message": why}})


def handle(message):
    method, params = message.get("method"), message.get("params", {})
    if method is None:
        came = answers.get(message["id"])
        answers[message["id"]] = message.get("result", message.get("error", {}).get("code"))
        came.set()
    elif method == "notifications/cancelled":
        cancelled.add(params["requestId"])
    elif "id" not in message:
        pass
    elif MODERN and params.get("_meta", {}).get(REVISION) != "2026-07-28":
        refuse(message, -32022, "Unsupported protocol version")
    elif method == "initialize":
        send({"jsonrpc": "2.0", "id": message["id"], "result": {
            "protocolVersion": params["protocolVersion"], "capabilities": {"tools": {"listChanged": True}},
            "serverInfo": {"name": "odd", "version": "1"}}})
    elif method == "server/discover" and MODERN:
        send({"jsonrpc": "2.0", "id": message["id"], "result": {
            "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}, "resultType": "complete"}})
    elif method == "ping":
        send({"jsonrpc": "2.0", "id": message["id"], "result": {}})
    elif method == "tools/list":
        send({"jsonrpc": "2.0", "id": message["id"], "result": list_tools(params)})
    elif method == "tools/call":
        threading.Thread(target=run, args=(message,), daemon=True).start()
    else:
        refuse(message, -32601, "Method not found")


if "--crash" in FLAGS:
    sys.exit(7)
time.sleep(flag("--slow-start", 0))
for line in sys.stdin:
    if "--mute" not in FLAGS:
        handle(json.loads(line))
