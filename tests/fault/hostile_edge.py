"""Hostile clients of HTTP at the port of the edge, each beside a polite one that must be answered. Arguments go to `renga serve`."""

import os
import random
import resource
import socket
import sys
import tempfile
import time

from siege import BIN, MIB, Polite, Report, Siege, Subject, closed, in_parallel, wait_until_gone

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from ports import free_port  # noqa: E402

READ_S = 3  # edge.read_timeout here: for the headers of a request, and for a silence within its body
GONE_S = READ_S + 4  # by then a client that does not go on has been let go
CROWD = 10_000  # edge.connections by default
FILES_SPARE = 500  # descriptors beside those of a crowd
PEAK_MAX_MIB = 160  # what bodies that are on their way, and their answers, may take
CROWD_PEAK_MAX_MIB = 260  # 10,000 connections with a request begun: some 20 KiB each
AGENTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "services", "orchestrator", "agents")

random.seed(19)


def connect(port, source="127.0.0.1"):
    plain = socket.create_connection(("127.0.0.1", port), 10, (source, 0))
    plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return plain


def said(port, data, wait_s=30):
    """Everything that the server answers to these bytes, and whether it closed the connection."""
    plain = connect(port)
    plain.settimeout(wait_s)
    heard = b""
    try:
        plain.sendall(data)
        while piece := plain.recv(65536):
            heard += piece
        return heard, True
    except TimeoutError:
        return heard, False
    except OSError:
        return heard, True
    finally:
        plain.close()


HEAD = b"POST /v1/helpdesk:ask HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
HIDDEN = b"GET /v1/smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n"
BODY = b'{"question":"?"}'
CHUNKED = b"%x\r\n%s\r\n0\r\n\r\n" % (len(BODY), BODY)
TWO_WAYS = {  # requests whose end two parsers may see in two places
    "a length and chunks": HEAD + b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n" + CHUNKED,
    "chunks and a length": HEAD + b"Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n" + CHUNKED,
    "two lengths": HEAD + b"Content-Length: 16\r\nContent-Length: 0\r\n\r\n" + BODY,
    "a list of lengths": HEAD + b"Content-Length: 16, 0\r\n\r\n" + BODY,
    "a length with a sign": HEAD + b"Content-Length: +16\r\n\r\n" + BODY,
    "a length in hexadecimal": HEAD + b"Content-Length: 0x10\r\n\r\n" + BODY,
    "a length that overflows": HEAD + b"Content-Length: 18446744073709551632\r\n\r\n" + BODY,
    "a coding after chunked": HEAD + b"Transfer-Encoding: chunked, identity\r\n\r\n" + CHUNKED,
    "chunked twice": HEAD + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n" + CHUNKED,
    "another coding": HEAD + b"Transfer-Encoding: xchunked\r\n\r\n" + CHUNKED,
    "a vertical tab before chunked": HEAD + b"Transfer-Encoding: \x0bchunked\r\n\r\n" + CHUNKED,
    "a blank before the colon": HEAD + b"Transfer-Encoding : chunked\r\n\r\n" + CHUNKED,
    "a folded line": HEAD + b"Content-Length:\r\n 16\r\n\r\n" + BODY,
    "a line that begins with a blank": b"POST /v1/helpdesk:ask HTTP/1.1\r\n Host: localhost\r\nContent-Length: 0\r\n\r\n",
    "lines that end with CR alone": HEAD + b"X: y\rContent-Length: 16\r\n\r\n" + BODY,
    "a NUL in a field": HEAD + b"X: a\x00b\r\nContent-Length: 16\r\n\r\n" + BODY,
    "a field without a colon": HEAD + b"Content-Length 16\r\n\r\n",
    "a chunk of a size that overflows": HEAD + b"Transfer-Encoding: chunked\r\n\r\n10000000000000010\r\n" + BODY + b"\r\n0\r\n\r\n",
    "a chunk with a sign": HEAD + b"Transfer-Encoding: chunked\r\n\r\n+10\r\n" + BODY + b"\r\n0\r\n\r\n",
    "a chunk that is longer than it says": HEAD + b"Transfer-Encoding: chunked\r\n\r\n4\r\n" + BODY + b"\r\n0\r\n\r\n",
    "a chunk that ends with LF alone": HEAD + b"Transfer-Encoding: chunked\r\n\r\n10\n" + BODY + b"\n0\n\n",
    "two hosts": b"GET /v1/agents HTTP/1.1\r\nHost: localhost\r\nHost: elsewhere\r\n\r\n",
    "no host": b"GET /v1/agents HTTP/1.1\r\n\r\n",
    "chunks of HTTP/1.0": HEAD.replace(b"1.1", b"1.0") + b"Transfer-Encoding: chunked\r\n\r\n" + CHUNKED,
    "an unknown version": b"GET /v1/agents HTTP/1.9\r\nHost: localhost\r\nContent-Length: 0x\r\n\r\n",
    "two targets": b"GET /v1/agents /v1/runs HTTP/1.1\r\nHost: localhost\r\n\r\n",
}


def smuggling(port):
    wrong = []
    for name, request in TWO_WAYS.items():
        heard, ended = said(port, request + HIDDEN)
        codes = [line.split()[1] for line in heard.split(b"\r\n") if line.startswith(b"HTTP/1.")]
        if len(codes) != 1 or not codes[0].startswith((b"4", b"5")) or not ended:
            wrong.append(f"{name}: {b' '.join(codes).decode() or 'no answer'}{'' if ended else ', still open'}")
        if b"smuggled" in heard:
            wrong.append(f"{name}: the hidden request was heard")
    return "; ".join(wrong[:4]), f"{len(TWO_WAYS)} requests with another one behind them"


def too_large(port):
    """Heads beyond their bounds."""
    wrong = []
    for name, data, codes in (
            ("a long line", b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n", (b"414", b"431")),
            ("a long field", b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * 100_000 + b"\r\n\r\n", (b"431",)),
            ("many fields", b"GET / HTTP/1.1\r\nHost: localhost\r\n" + b"X: y\r\n" * 20_000 + b"\r\n", (b"431",)),
            ("a body of a terabyte", HEAD + b"Content-Length: 1099511627776\r\n\r\n", (b"413",)),
            ("chunks without end", HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + (b"10000\r\n" + bytes(65536) + b"\r\n") * 400, (b"413", b""))):
        heard, ended = said(port, data)
        code = heard.split(b" ", 2)[1] if heard.startswith(b"HTTP/1.") else b""
        if code not in codes or not ended:
            wrong.append(f"{name}: {code.decode() or 'no answer'}{'' if ended else ', still open'}")
    return "; ".join(wrong), "lines, fields and bodies beyond their bounds"


def slow_loris(port):
    """A byte at a time: of the request line, of a field, of a body. The first two have READ_S for all their headers."""
    starts = [(b"", b"GET /v1/agents HTTP/1.1\r\nHost: localhost\r\n"), (b"GET /v1/agents HTTP/1.1\r\nHost: localhost\r\n", b"X: " + b"y" * 200),
              (HEAD + b"Content-Length: 4000\r\n\r\n", b" " * 4000)]
    peers = []
    for i in range(600):
        plain = connect(port)
        begin, rest = starts[i % 3]
        plain.sendall(begin)
        peers.append((plain, rest))
    began, at = time.monotonic(), 0
    slow_heads = [plain for i, (plain, _) in enumerate(peers) if i % 3 < 2]
    while slow_heads and time.monotonic() < began + GONE_S:
        for plain, rest in peers:
            try:
                plain.send(rest[at:at + 1])
            except OSError:
                pass
        at += 1
        time.sleep(0.2)
        slow_heads = [plain for plain in slow_heads if not closed(plain)]
    left = wait_until_gone(slow_heads, 1)
    for plain, _ in peers:
        plain.close()
    return f"{left} of 400 are still open after {GONE_S} s" if left else "", f"600 connections, {at} bytes each in turn"


def half_open(port):
    """They stop in the middle: of a line, of the headers, of a body, of a chunk."""
    halves = [b"GET /v1/ag", b"GET /v1/agents HTTP/1.1\r\nHost: loc", HEAD + b"Content-Length: 400\r\n\r\n{",
              HEAD + b"Transfer-Encoding: chunked\r\n\r\n40\r\n{"]
    peers = []
    for i in range(2000):
        plain = connect(port, f"127.0.1.{i % 12 + 1}")
        plain.sendall(halves[i % 4])
        peers.append(plain)
    left = wait_until_gone(peers, GONE_S)
    for plain in peers:
        plain.close()
    return f"{left} are still open after {GONE_S} s" if left else "", "2000 requests that stop in the middle; let go in time"


def crowd(port):
    """As many connections as the edge takes, less the polite client's, each with half a request. One address may have a
    tenth of them."""
    count = CROWD - 100
    peers = []
    for i in range(count):
        plain = connect(port, f"127.0.1.{i % 12 + 1}")
        plain.sendall(b"GET /v1/agents HTTP/1.1\r\nHost: localhost\r\n")
        peers.append(plain)
    left = wait_until_gone(peers, GONE_S + 5)
    for plain in peers:
        plain.close()
    return f"{left} are still open" if left else "", f"{count} connections"


def bodies(port):
    """Bodies of nearly the bound, from many clients at once, which are no JSON at the end."""
    data = HEAD + b"Connection: close\r\nContent-Length: %d\r\n\r\n" % (4 * MIB) + b" " * (4 * MIB - 1) + b"x"

    def send(i):
        return said(port, data, 30)[0][9:12]
    codes = [code.decode() for code in in_parallel(60, send)]
    wrong = "" if set(codes) <= {"400", "413", "503", ""} and codes.count("") < 30 else f"answers {sorted(set(codes))}"
    return wrong, f"60 bodies of 4 MiB at once: {codes.count('400')} read and refused, {codes.count('413')} too large, {codes.count('503')} told to come back"


def pipeline(port):
    """Requests sent ahead by a client that reads nothing."""
    request = b"GET /v1/agents HTTP/1.1\r\nHost: localhost\r\n\r\n"
    peers = []
    for _ in range(20):
        plain = connect(port)
        plain.setblocking(False)
        try:
            while plain.send(request * 500):
                pass
        except OSError:
            pass
        peers.append(plain)
    time.sleep(1)
    for plain in peers:
        plain.close()
    return "", "20 connections, as much as they took"


def never_read(port):
    """Streams that nobody reads."""
    peers = []
    for _ in range(300):
        plain = connect(port)
        plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        plain.sendall(HEAD.replace(b":ask", b":askStream") + b"Accept: text/event-stream\r\nContent-Length: 16\r\n\r\n" + BODY)
        peers.append(plain)
    time.sleep(2)
    for plain in peers:
        plain.close()
    return "", "300 questions as streams, none of them read"


def garbage(port):
    starts = [b"", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", b"GET / HTTP/1.1\r\n", b"\r\n\r\n"]
    peers = []
    for i in range(200):
        plain = connect(port)
        peers.append(plain)
        try:
            plain.sendall(starts[i % len(starts)] + random.randbytes(random.randint(1, 4000)))
        except OSError:
            pass
    left = wait_until_gone(peers, GONE_S)
    for plain in peers:
        plain.close()
    return f"{left} are still open" if left else "", "200 connections of random bytes, HTTP/2 and TLS"


def start_edge(*flags):
    port = free_port()
    folder = tempfile.mkdtemp(prefix="renga-siege-")
    env = {k: v for k, v in os.environ.items() if not k.startswith(("RENGA_", "OPENAI_", "ANTHROPIC_"))}
    edge = Subject("edge", [os.path.join(BIN, "renga"), "serve", f"--edge.listen=127.0.0.1:{port}", f"--edge.read_timeout={READ_S}s",
                            f"--rpc.listen=127.0.0.1:{free_port()}", "--http.listen=", f"--orchestrator.agents={AGENTS}",
                            "--orchestrator.store=memory:", "--tool_runner.store=memory:", "--tool_runner.record=memory:", *flags],
                   env=dict(env, XDG_DATA_HOME=folder))
    edge.port = port
    until = time.monotonic() + 20
    while time.monotonic() < until and edge.alive():
        try:
            connect(port).close()
            return edge
        except OSError:
            time.sleep(0.05)
    sys.exit(f"renga serve did not start: {edge.last_words()}")


def main():
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    report = Report()
    edge = start_edge(*sys.argv[1:])
    port = edge.port
    siege = Siege(report, [edge], Polite(f"127.0.0.1:{port}", program="polite_http.py"))
    siege.run("Requests with two ends are refused, and no other is heard behind them", smuggling, port)
    siege.run("Heads and bodies beyond their bounds are refused", too_large, port, peak_max_mib=PEAK_MAX_MIB)
    siege.run("A slow loris keeps nobody waiting, and is let go", slow_loris, port, peak_max_mib=PEAK_MAX_MIB)
    siege.run("Requests that stop in the middle are let go", half_open, port, peak_max_mib=PEAK_MAX_MIB)
    siege.run("Random bytes, TLS and HTTP/2 are let go", garbage, port)
    siege.run("Bodies of many clients at once are held within a bound", bodies, port, peak_max_mib=PEAK_MAX_MIB)
    siege.run("Requests sent ahead without end are held within a bound", pipeline, port, peak_max_mib=PEAK_MAX_MIB)
    siege.run("Streams that nobody reads cost their bound", never_read, port, peak_max_mib=PEAK_MAX_MIB)
    if hard > CROWD + FILES_SPARE:
        siege.run("Ten thousand connections keep nobody waiting", crowd, port, peak_max_mib=CROWD_PEAK_MAX_MIB)
    siege.again((half_open, port), (bodies, port), (pipeline, port), (garbage, port))
    edge.stop()
    report.line(edge.process.returncode == 0, "The edge still drains and ends as usual")
    sys.exit(report.failures > 0)


if __name__ == "__main__":
    main()
