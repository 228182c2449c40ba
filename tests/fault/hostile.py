"""Hostile peers on the wire, straight at a server of ours, each beside a polite client.

What gRPC core cannot stand by itself (floods of HTTP/2 frames) is for the door: hostile_door.py."""

import os
import random
import socket
import sys
import time
import zlib

from http2 import (CONTINUATION, DATA, END_HEADERS, END_STREAM, HEADERS, PREFACE, Peer, frame, header, hpack_integer,
                   message, request, settings)
from siege import MIB, Polite, Report, Siege, in_parallel, start_server

ECHO, COUNT, SUM = (f"/renga.test.Probe/{name}" for name in ("Echo", "Count", "Sum"))
OK, INVALID_ARGUMENT, RESOURCE_EXHAUSTED = 0, 3, 8
MESSAGE_MAX = 4 * MIB  # the server's default
QUOTA_MIB = 64  # the server's default bound of what gRPC buffers

# Above the quota: what the messages under work take beside it (a message of 4 MiB, joined, and its answer), twice.
PEAK_MAX_MIB = QUOTA_MIB + 32

random.seed(20)


def varint(value):
    return hpack_integer(value, 7)[:1] if value < 127 else _varint(value)


def _varint(value):
    out = bytearray()
    while value >= 128:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out + bytes([value]))


def nested(tags, size):
    """Sub-messages within sub-messages, `size` bytes in all; `tags` are used in turn from the outermost on, the last
    one again and again."""
    parts, total, depth = [], 0, 0
    lengths = [0]
    while total < size:
        length = lengths[-1]
        total = length + 1 + len(_varint(length))
        lengths.append(total)
        depth += 1
    for level, length in enumerate(reversed(lengths[:-1])):
        parts.append(bytes([tags[min(level, len(tags) - 1)]]) + _varint(length))
    return b"".join(parts), depth


def calls(port, path, body, expected, times=20, field=None, more=b""):
    """The same call from connections of its own; each must end in the status that is expected."""
    statuses, texts = [], []
    for _ in range(times):
        peer = Peer(port)
        stream = peer.open(path, more)
        peer.send_body(stream, body)
        statuses.append(peer.status(stream))
        texts.append(peer.text(stream))
        peer.close()
    wrong = "" if set(statuses) == {expected} else f"expected status {expected}, got {sorted(set(map(str, statuses)))}"
    if field and not all(field in text for text in texts):
        wrong += f"; the text does not name {field}: {texts[0]!r}"
    return wrong, f"{times} calls of {len(body) / 1024:.0f} KiB, status {expected}: “{texts[0]}”"


def endless_message(port):
    peer = Peer(port)
    stream = peer.open(ECHO)
    header_bytes = message(b"", size=1 << 30)
    peer.send_body(stream, header_bytes, end=False)
    sent, chunk = 0, bytes(MIB)
    while sent < 1 << 30 and stream not in peer.closed and not peer.eof:
        took = peer.send_body(stream, chunk, wait_s=2, end=False)
        sent += took
        if took < len(chunk):
            break
    status = peer.status(stream, 2)
    peer.close()
    return "" if status == RESOURCE_EXHAUSTED else f"status {status}", f"{sent / MIB:.1f} MiB taken, status {status}"


def unfinished_messages(port):
    """Messages that are allowed in size, many at once, none of them ever whole."""
    def connection(_):
        peer = Peer(port)
        streams = [peer.open(ECHO) for _ in range(16)]
        body = message(b"", size=MESSAGE_MAX) + bytes(MESSAGE_MAX - 1024)
        taken = sum(peer.send_body(stream, body, wait_s=0.5, end=False) for stream in streams)
        return peer, taken
    peers = in_parallel(8, connection)
    time.sleep(0.5)
    for peer, _ in peers:
        peer.close()
    return "", f"128 messages of 4 MiB begun on 8 connections, {sum(taken for _, taken in peers) / MIB:.0f} MiB taken"


def metadata_of_10_kib(port):
    block = b"".join(header(b"x-%d" % i, b"v" * 1000) for i in range(10))
    return calls(port, ECHO, message(b""), OK, more=block)


def metadata_of_1_mib(port):
    ended = 0
    for _ in range(10):
        peer = Peer(port)
        block = request(ECHO, more=b"".join(header(b"x-%d" % i, b"v" * 16000) for i in range(64)))
        pieces = [block[at:at + 16000] for at in range(0, len(block), 16000)]
        peer.send(frame(HEADERS, 0, 1, pieces[0]))
        for i, piece in enumerate(pieces[1:]):
            peer.send(frame(CONTINUATION, END_HEADERS if i == len(pieces) - 2 else 0, 1, piece))
        status = peer.status(1, 3)
        ended += status not in (OK, None) or peer.eof
        peer.close()
    return "" if ended == 10 else f"{10 - ended} were not refused", "10 calls, refused"


def garbage(port):
    for i in range(300):
        peer = Peer(port, start=False)
        peer.send((PREFACE + settings() if i % 2 else b"") + random.randbytes(4096))
        peer.close()
    return "", "300 connections of 4 KiB, half of them behind a preface"


def tls_to_cleartext(port):
    import ssl
    context = ssl.create_default_context()
    refused = 0
    for _ in range(100):
        plain = socket.create_connection(("127.0.0.1", port), 3)
        try:
            context.wrap_socket(plain, server_hostname="localhost").close()
        except (ssl.SSLError, OSError):
            refused += 1
        plain.close()
    return "" if refused == 100 else "a handshake succeeded", "100 client hellos, refused"


def half_open(port):
    """Silent ones and those that stop in the preface are to be gone when the handshake's time (10 s) is up; those that
    stop in the middle of HEADERS are past it and stay until they go."""
    def connect(data):
        plain = socket.create_connection(("127.0.0.1", port), 5)
        plain.sendall(data)
        return plain
    began = time.monotonic()
    silent = [connect(b"") for _ in range(2000)]
    begun = [connect(PREFACE[:10]) for _ in range(500)]
    middle = [connect(PREFACE + settings() + frame(HEADERS, 0, 1, request(ECHO))) for _ in range(500)]
    took_s = time.monotonic() - began
    waiting, until = silent + begun, time.monotonic() + 13
    while waiting and time.monotonic() < until:
        time.sleep(0.25)
        waiting = [plain for plain in waiting if not closed(plain)]
    for plain in silent + begun + middle:
        plain.close()
    wrong = f"{len(waiting)} are still open after 13 s" if waiting else ""
    return wrong, f"2000 silent, 500 in the preface, 500 in HEADERS, opened in {took_s:.1f} s; let go in time"


def closed(plain):
    try:
        plain.setblocking(False)
        while plain.recv(4096):
            pass
        return True
    except BlockingIOError:
        return False
    except OSError:
        return True


def slow_loris(port):
    """A byte at a time: of the preface, of HEADERS, of a message."""
    head = PREFACE + settings()
    opened = head + frame(HEADERS, END_HEADERS, 1, request(ECHO))
    scripts = [(b"", head + bytes(200)), (head, frame(HEADERS, END_HEADERS, 1, request(ECHO))),
               (opened, frame(DATA, 0, 1, message(bytes(200))))]
    peers = []
    for i in range(300):
        plain = socket.create_connection(("127.0.0.1", port), 5)
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        begin, rest = scripts[i % 3]
        plain.sendall(begin)
        peers.append((plain, rest))
    for at in range(40):
        for plain, rest in peers:
            try:
                plain.send(rest[at:at + 1])
            except OSError:
                pass
        time.sleep(0.05)
    for plain, _ in peers:
        plain.close()
    return "", "300 connections, 40 bytes each in turn"


def gzip_bomb(port):
    """A valid message of 512 MiB in half a megabyte."""
    deflate = zlib.compressobj(9, zlib.DEFLATED, 31)
    size = 512 * MIB
    parts = [deflate.compress(b"\x12" + _varint(size))]
    parts += [deflate.compress(bytes(MIB)) for _ in range(512)]
    body = message(b"".join(parts) + deflate.flush(), compressed=True)
    return calls(port, ECHO, body, RESOURCE_EXHAUSTED, more=header(b"grpc-encoding", b"gzip"))


def never_read(port):
    """Streams whose messages nobody takes: the client's windows are shut."""
    request_bytes = b"\x08" + _varint(1000) + b"\x10" + _varint(60000)
    peers = [Peer(port, mine=[(4, 0)]) for _ in range(4)]
    for peer in peers:
        for _ in range(100):
            stream = peer.open(COUNT)
            peer.send_body(stream, message(request_bytes))
    time.sleep(2)
    arrived = sum(len(data) for peer in peers for data in peer.data.values())
    for peer in peers:
        peer.close()
    return "", f"400 streams of 57 MiB each, {arrived} bytes read"


def many_streams(port):
    """Streams that a client opens beyond what it is allowed, and leaves."""
    peers = [Peer(port) for _ in range(4)]
    for peer in peers:
        for _ in range(2000):
            peer.open(SUM)
        peer.receive(0.5)
    for peer in peers:
        peer.close()
    return "", "4 connections of 2000 calls that send nothing; 1000 are allowed"


def main():
    report = Report()
    server = start_server(*sys.argv[1:])
    port = server.port
    siege = Siege(report, [server], Polite(f"127.0.0.1:{port}"))
    parts, depth = nested(b"\x22\x12", 154 << 10)
    siege.run("Messages nested thousands deep in fields we do not know are harmless", calls, port, ECHO,
              message(parts), OK)
    name, _ = nested(b"\x0a", 154 << 10)
    siege.run("What nests in a text is refused as no UTF-8", calls, port, ECHO, message(name), INVALID_ARGUMENT, 20,
              "text")
    siege.run("Groups within groups are refused", calls, port, ECHO, message(b"\x0b" * (154 << 10)), INVALID_ARGUMENT)
    siege.run("A megabyte of empty sub-messages is refused and named", calls, port, ECHO,
              message(b"\x22\x00" * (MIB // 2)), RESOURCE_EXHAUSTED, 20, "parts")
    siege.run("Invalid UTF-8 is refused and named", calls, port, ECHO, message(b"\x0a\x03a\xc0\x80"),
              INVALID_ARGUMENT, 20, "text")
    siege.run("A NUL in a text is refused and named", calls, port, ECHO, message(b"\x0a\x03a\0b"), INVALID_ARGUMENT, 20,
              "text")
    siege.run("Four megabytes and one byte are refused", calls, port, ECHO, message(bytes(MESSAGE_MAX + 1)),
              RESOURCE_EXHAUSTED, 5)
    siege.run("A message of a gigabyte is refused when it is announced", endless_message, port,
              peak_max_mib=PEAK_MAX_MIB)
    siege.run("Messages that never end are held in the quota", unfinished_messages, port, peak_max_mib=PEAK_MAX_MIB)
    siege.run("A gzip bomb is refused without unpacking it", gzip_bomb, port, peak_max_mib=PEAK_MAX_MIB)
    siege.run("10 KB of metadata are taken", metadata_of_10_kib, port)
    siege.run("A megabyte of metadata is refused", metadata_of_1_mib, port, peak_max_mib=PEAK_MAX_MIB)
    siege.run("Garbage bytes hurt nobody", garbage, port)
    siege.run("TLS on a cleartext port is refused", tls_to_cleartext, port)
    siege.run("Streams that nobody reads stop being filled", never_read, port, peak_max_mib=PEAK_MAX_MIB)
    siege.run("Calls beyond the limit of a connection stay out", many_streams, port, peak_max_mib=PEAK_MAX_MIB)
    siege.run("A slow loris keeps nobody waiting", slow_loris, port)
    siege.run("Half-open connections are let go", half_open, port)
    server.stop()
    report.line(server.process.returncode == 0, "The server still drains and ends as usual")
    sys.exit(report.failures > 0)


if __name__ == "__main__":
    main()
