#!/usr/bin/env python3
"""How the edge begins: addresses that are taken, an address that others reach, services that are not there. Needs RENGA_BIN."""
import atexit
import os
import selectors
import socket
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from edge import BIN, SLOW, Suite, folder  # noqa: E402
from checks import check, expect, finish, wait_until  # noqa: E402
from ports import free_port  # noqa: E402

QUIET = ["--http.listen=", "--orchestrator.store=memory:", "--tool_runner.store=memory:", "--tool_runner.record=memory:"]
environment = {k: v for k, v in os.environ.items() if not k.startswith(("RENGA_", "OPENAI_", "ANTHROPIC_"))}
taken = socket.socket()
taken.bind(("127.0.0.1", 0))
taken.listen()
TAKEN = f"127.0.0.1:{taken.getsockname()[1]}"


def ends(code, *command):
    done = subprocess.run([f"{BIN}/{command[0]}", *command[1:]], env=environment, cwd=folder, capture_output=True, text=True, timeout=60 * SLOW)
    expect(done.returncode == code, f"{command} ended with {done.returncode}: {done.stderr[-400:]}")
    return done.stderr


def reaches(suite):
    try:
        return suite.ask("GET", "/healthz").status == 200
    except OSError:
        return False


@check("an address that was chosen and is taken ends the start, and is named")
def _():
    for binary in (["renga", "serve", *QUIET], ["renga-edge", "--http.listen="]):
        said = ends(1, *binary, "--rpc.listen=127.0.0.1:0", f"--edge.listen={TAKEN}")
        expect(TAKEN in said, said)


@check("the default address, taken, leaves the rest of the suite to be served, and the log says so")
def _():
    holder = socket.socket()
    holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        holder.bind(("127.0.0.1", 8080))
        holder.listen()
    except OSError:
        pass  # somebody else's: as good
    process = subprocess.Popen([f"{BIN}/renga", "serve", *QUIET, f"--rpc.listen=127.0.0.1:{free_port()}"], env=environment, cwd=folder,
                               stderr=subprocess.PIPE, text=True)
    atexit.register(process.kill)
    said = []
    wait_until(lambda: said.append(process.stderr.readline()) or "edge.absent" in said[-1], "no word of it", 30.0 * SLOW)
    expect("127.0.0.1:8080" in said[-1] and "edge.listen" in said[-1], said[-1])
    process.terminate()
    expect(process.wait(30 * SLOW) == 0, "it ended badly")
    holder.close()
    ends(1, "renga-edge", "--http.listen=", "--rpc.listen=127.0.0.1:0", f"--edge.listen={TAKEN}")


@check("without keys it listens on a loopback address alone, unless told otherwise")
def _():
    said = ends(2, "renga-edge", "--http.listen=", "--rpc.listen=127.0.0.1:0", f"--edge.listen=0.0.0.0:{free_port()}")
    expect("rpc.keys" in said and "edge.keyless" in said, said)


@check("off is nowhere, and a service without an address is 501 with the option's name")
def _():
    suite = Suite("one", "--edge.cors=http://localhost:3000", keys=False)
    refused = suite.ask("GET", "/v1/agents", origin="http://127.0.0.1:1")
    expect(refused.status == 403, f"{refused.status}: a page of another port")
    expect(suite.ask("GET", "/v1/agents", origin="http://localhost:3000").status == 200, "a page of edge.cors")
    expect(suite.ask("POST", "/v1/runs/none:cancel", sec_fetch_site="cross-site").status == 403, "a page of another site")
    expect(suite.ask("GET", "/v1/session").json == {"signedIn": True, "needsKey": False, "tenant": "", "client": ""}, "a session")
    suite.stop()
    port = free_port()
    edge = subprocess.Popen([f"{BIN}/renga-edge", "--http.listen=", "--rpc.listen=127.0.0.1:0", f"--edge.listen=127.0.0.1:{port}"],
                            env=environment, stderr=subprocess.DEVNULL)
    atexit.register(edge.kill)
    suite.port = port
    wait_until(lambda: reaches(suite), "it does not listen", 30.0 * SLOW, 0.05)
    for path, option in (("/v1/tools", "peers.tool_runner"), ("/v1/agents", "peers.orchestrator"), ("/v1/models", "peers.llm_gateway")):
        answer = suite.ask("GET", path)
        expect(answer.status == 501 and option in answer.error["message"], f"{path}: {answer.status} {answer.bytes}")
    edge.terminate()
    expect(edge.wait(30 * SLOW) == 0, "it ended badly")


@check("one address has a tenth of the connections by default, and another is served beside it")
def _():
    suite = Suite("one", keys=False)
    held = [socket.create_connection(("127.0.0.1", suite.port)) for _ in range(1001)]
    with selectors.DefaultSelector() as ended:  # the last to be accepted, which need not be the last to connect
        for one in held:
            ended.register(one, selectors.EVENT_READ)
        closed = [key.fileobj for key, _ in ended.select(60 * SLOW)]
    expect([one.recv(1) for one in closed] == [b""], f"the server closed {len(closed)}")
    other = socket.create_connection(("127.0.0.1", suite.port), 60 * SLOW, ("127.0.0.2", 0))
    other.sendall(f"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:{suite.port}\r\n\r\n".encode())
    expect(other.recv(12) == b"HTTP/1.1 200", "it is not served")
    for one in (*held, other):
        one.close()
    suite.stop()


finish()
