"""Random bytes, mutated HTTP/2 and random messages on every method, for a while: nothing crashes, the server answers all
along, and ends as usual (under AddressSanitizer: without a leak). Best against the sanitizers' build.

`garbage.py [SECONDS [SEED]]`; a failure names the seed."""

import random
import sys
import time
import zlib

from http2 import (CONTINUATION, DATA, END_HEADERS, END_STREAM, HEADERS, PING, PREFACE, PRIORITY, Peer, frame, header,
                   message, request, reset, settings, varint, window_update)
from siege import Polite, Report, in_parallel, start_server

SECONDS = float(sys.argv[1]) if len(sys.argv) > 1 else 20
SEED = int(sys.argv[2]) if len(sys.argv) > 2 else random.SystemRandom().randrange(1 << 32)
PEERS = 2

# A method, and fields that are put last so that they win: a probe does what it is told, for however long.
METHODS = (
    ("/renga.test.Probe/Echo", b""),
    ("/renga.test.Probe/Chat", b""),
    ("/renga.test.Probe/Noticed", b""),
    ("/renga.test.Probe/Sleep", b"\x08\x02"),
    ("/renga.test.Probe/Fail", b"\x08\x05\x20\x01"),
    ("/renga.test.Probe/Count", b"\x08\x03\x10\x40\x18\x01\x20\x00\x30\x00"),
    ("/renga.test.Probe/Sum", b""),
    ("/renga.test.Probe/Nothing", b""),
    ("/nothing.at.All/Nothing", b""),
    ("/grpc.health.v1.Health/Check", b""),
    ("/grpc.health.v1.Health/Watch", b""),
    ("/grpc.reflection.v1.ServerReflection/ServerReflectionInfo", b""),
    ("/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo", b""),
)
WORDS = ("日本", "renga.test.Probe", "grpc.health.v1.Health", "probe.proto", "", "\0", "a" * 300)


def some_message(chance, depth=0):
    """Mostly well formed."""
    out = b""
    for _ in range(chance.choice((0, 1, 2, 5, 20) if depth < 3 else (0, 1))):
        number, kind = chance.randrange(1, 12), chance.choice((0, 0, 1, 2, 2, 2, 2, 5))
        tag = bytes([number << 3 | kind])
        if kind == 0:
            out += tag + varint(chance.getrandbits(chance.choice((1, 7, 14, 31))))
        elif kind in (1, 5):
            out += tag + chance.randbytes(8 if kind == 1 else 4)
        else:
            inner = chance.choice((lambda: some_message(chance, depth + 1), lambda: chance.randbytes(chance.randrange(40)),
                                   lambda: chance.choice(WORDS).encode()))()
            out += tag + varint(len(inner)) + inner
    return out


def mutated(chance, data):
    data = bytearray(data)
    for _ in range(chance.choice((1, 1, 2, 4, 16))):
        if not data:
            break
        at = chance.randrange(len(data))
        what = chance.randrange(6)
        if what == 0:
            data[at] = chance.randrange(256)
        elif what == 1:
            data[at] ^= 1 << chance.randrange(8)
        elif what == 2:
            del data[at:at + chance.randrange(1, 20)]
        elif what == 3:
            data[at:at] = data[at:at + chance.randrange(1, 60)]
        elif what == 4:
            data[at:at] = chance.randbytes(chance.randrange(1, 20))
        else:
            data[at:at + 4] = chance.choice((b"\xff\xff\xff\xff", b"\0\0\0\0", b"\x7f\xff\xff\xff"))
    return bytes(data)


def some_body(chance, last):
    """What one call sends: messages, sometimes compressed, sometimes broken."""
    out = b""
    for _ in range(chance.choice((1, 1, 1, 2, 5))):
        payload = some_message(chance)
        if chance.random() < 0.2 and not last:
            payload = mutated(chance, payload)
        payload += last
        squeezed = chance.random() < 0.15
        if squeezed:
            squeeze = zlib.compressobj(1, zlib.DEFLATED, 31)
            payload = squeeze.compress(payload) + squeeze.flush()
            if chance.random() < 0.5 and not last:
                payload = mutated(chance, payload)
        out += message(payload, squeezed, None if chance.random() < 0.97 else chance.getrandbits(32))
    return out


def some_headers(chance, path):
    more = b""
    if chance.random() < 0.3:
        more += header(b"grpc-encoding", chance.choice((b"gzip", b"deflate", b"identity", b"zip", b"")))
    if chance.random() < 0.3:
        more += header(b"grpc-timeout", chance.choice((b"1S", b"0m", b"1n", b"99999999H", b"-1S", b"x")))
    if chance.random() < 0.3:
        more += header(chance.choice((b"traceparent", b"authorization", b"probe-initial", b"probe-trailing-bin")),
                       chance.choice((b"00-" + b"1" * 32 + b"-" + b"2" * 16 + b"-01", b"", b"AAAA", b"\xff\xfe", b"$")))
    return request(path, more=more)


def calls(chance, port):
    """Good HTTP/2 with anything in it."""
    peer = Peer(port)
    streams = []
    for _ in range(chance.randrange(1, 12)):
        path, last = chance.choice(METHODS)
        stream = peer.open("", block=some_headers(chance, path))
        body = some_body(chance, last)
        if len(body) < 16000 and chance.random() < 0.3:  # in pieces
            cut = chance.randrange(len(body) + 1)
            peer.send(frame(DATA, 0, stream, body[:cut]) + frame(DATA, END_STREAM, stream, body[cut:]))
        else:
            peer.send_body(stream, body, wait_s=1, end=chance.random() < 0.8)
        if chance.random() < 0.2:
            peer.send(reset(stream))
        streams.append(stream)
    for _ in range(3):
        peer.receive(0.02)
    peer.close()
    return len(streams)


def session(chance):
    """A whole connection, as bytes."""
    out = PREFACE + settings((4, chance.choice((0, 65535, 1 << 20))))
    for number in range(chance.randrange(1, 6)):
        stream = 2 * number + 1
        path, last = chance.choice(METHODS)
        block = some_headers(chance, path)
        cut = chance.randrange(len(block))
        if chance.random() < 0.5:
            out += frame(HEADERS, END_HEADERS, stream, block)
        else:
            out += frame(HEADERS, 0, stream, block[:cut]) + frame(CONTINUATION, END_HEADERS, stream, block[cut:])
        out += frame(DATA, END_STREAM, stream, some_body(chance, last)[:16000])
        out += chance.choice((b"", frame(PING, 0, 0, b"12345678"), window_update(stream, 1000), window_update(0, 0),
                              reset(stream), frame(PRIORITY, 0, stream, b"\0\0\0\0\x10"), settings((1, 0), (5, 16384)),
                              frame(chance.randrange(16), chance.randrange(256), stream, chance.randbytes(8))))
    return out


def raw(chance, port, data):
    peer = Peer(port, start=False)
    peer.send(data)
    peer.receive(0.01)
    peer.close()


def attack(index, port, until):
    chance = random.Random(SEED * 100 + index)
    done = {"connections of random calls": 0, "mutated sessions": 0, "random bytes": 0}
    while time.monotonic() < until:
        kind = chance.random()
        try:
            if kind < 0.45:
                calls(chance, port)
                done["connections of random calls"] += 1
            elif kind < 0.9:
                data = session(chance)
                # Count in a mutated session might be told to send for ever: its fields are not the last any more.
                raw(chance, port, PREFACE + mutated(chance, data[len(PREFACE):]) if b"Count" not in data
                    and b"Sleep" not in data and b"Fail" not in data else data)
                done["mutated sessions"] += 1
            else:
                raw(chance, port, chance.choice((b"", PREFACE)) + chance.randbytes(chance.randrange(1, 3000)))
                done["random bytes"] += 1
        except OSError:
            if not alive(port):
                break
    return done


def alive(port):
    try:
        Peer(port).close()
        return True
    except OSError:
        return False


def main():
    report = Report()
    server = start_server()
    polite = Polite(f"127.0.0.1:{server.port}")
    before = server.rss()
    polite.begin()
    counts = in_parallel(PEERS, attack, server.port, time.monotonic() + SECONDS)
    politeness = polite.end()
    sums = ", ".join(f"{sum(count[what] for count in counts)} {what}" for what in counts[0])
    ok = server.alive()
    report.line(ok, f"Nothing crashes for {SECONDS:.0f} s", f"{sums}; seed {SEED}")
    report.line(politeness["answered"] == politeness["calls"], "The server answers all along",
                f"{politeness['answered']} of {politeness['calls']}, p99 {politeness['p99_ms']:.0f} ms "
                f"{politeness['codes'] or ''} {politeness['texts'] or ''}; {before:.0f} → {server.rss() if ok else 0:.0f} MiB")
    server.stop()
    report.line(server.process.returncode == 0, "It drains and ends as usual", f"exit code {server.process.returncode}")
    if report.failures:
        print(server.last_words())
    sys.exit(report.failures > 0)


main()
