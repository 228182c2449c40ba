"""What is too large, malformed, a bomb or a crowd: refused by name, and without harm to what goes on beside it."""
import gc
import os
import resource
import socket
import time

import grpc

from checks import check, expect, wait_until
from details import details_of
from probe import (WAIT_SECONDS, Count, Echo, INTEROP, PROBE, SANITIZED, Server, Sleep, Stub, expect_code, message, refusal, wait_begun)

MESSAGE_MAX = 4 << 20
BOMB_BYTES = 100 << 20
GROWTH_KB = 24 << 10  # of the server's memory: a few messages of the largest size
UNLIMITED = (("grpc.max_send_message_length", -1), ("grpc.max_receive_message_length", -1))

Part = message("Part")
Simple, StreamingOutput = message("SimpleRequest"), message("StreamingOutputCallRequest")


def varint(number):
    out = b""
    while number > 127:
        out, number = out + bytes([number & 127 | 128]), number >> 7
    return out + bytes([number])


def field(number, content):
    return varint(number << 3 | 2) + varint(len(content)) + content


def of_size(size):
    """A SimpleRequest of exactly so many bytes."""
    filler = size - len(Simple(payload={"body": bytes(size - 16)}).SerializeToString()) + size - 16
    request = Simple(payload={"body": bytes(filler)})
    assert request.ByteSize() == size
    return request


def answer_filler(size):
    """The response_size with which a SimpleResponse has exactly so many bytes."""
    response = message("SimpleResponse")
    filler = size - response(payload={"body": bytes(size - 16)}).ByteSize() + size - 16
    assert response(payload={"body": bytes(filler)}).ByteSize() == size
    return filler


def sizes(channel):
    probe, interop = Stub(channel, PROBE), Stub(channel, INTEROP)

    @check("3 MB go both ways")
    def _():
        payload = bytes(range(256)) * (3 << 12)
        expect(probe.Echo(Echo(payload=payload), timeout=WAIT_SECONDS).payload == payload, "they came back changed")

    @check("a request of 4 MB exactly is served")
    def _():
        interop.UnaryCall(of_size(MESSAGE_MAX), timeout=WAIT_SECONDS)

    @check("an answer of 4 MB exactly is sent")
    def _():
        answer = interop.UnaryCall(Simple(response_size=answer_filler(MESSAGE_MAX)), timeout=WAIT_SECONDS)
        expect(answer.ByteSize() == MESSAGE_MAX, f"{answer.ByteSize()} bytes came")

    @check("an answer of 4 MB and a byte is refused by the server with a text that says why")
    def _():
        request = Echo(payload=bytes(MESSAGE_MAX - 7))  # the answer has a field of three bytes more
        expect(request.ByteSize() == MESSAGE_MAX - 2, f"the request has {request.ByteSize()} bytes")
        error = refusal(probe.Echo, request, timeout=WAIT_SECONDS)
        expect_code(error, grpc.StatusCode.RESOURCE_EXHAUSTED, f"more than the {MESSAGE_MAX}")

    @check("a request of 4 MB and a byte is refused while other calls on its connection go on")
    def _():
        sleeping = [probe.Sleep.future(Sleep(delay_ms=800, key=f"sibling {i}"), timeout=WAIT_SECONDS) for i in range(10)]
        wait_begun(probe, "sibling 9")
        error = refusal(interop.UnaryCall, of_size(MESSAGE_MAX + 1), timeout=WAIT_SECONDS)
        expect_code(error, grpc.StatusCode.RESOURCE_EXHAUSTED, str(MESSAGE_MAX))
        expect(not any(call.done() for call in sleeping), "the siblings ended before it")
        peers = {call.result().key for call in sleeping}
        expect(len(peers) == 10, f"only {len(peers)} siblings were answered")

    @check("a message of 4 MB and a byte ends its conversation with RESOURCE_EXHAUSTED")
    def _():
        error = refusal(probe.Chat, iter([Echo(text="small"), Echo(payload=bytes(MESSAGE_MAX))]), timeout=WAIT_SECONDS)
        expect_code(error, grpc.StatusCode.RESOURCE_EXHAUSTED)

    @check("a stream of four answers of 3 MB is read whole")
    def _():
        sizes_wanted = [3 << 20] * 4
        request = StreamingOutput(response_parameters=[{"size": size} for size in sizes_wanted])
        came = [len(answer.payload.body) for answer in interop.StreamingOutputCall(request, timeout=30)]
        expect(came == sizes_wanted, f"{came}")


def slow_readers(server):
    @check("a stream of 200,000 messages waits for a slow reader, and the server's memory stays small")
    def _():
        with server.channel() as channel:
            probe = Stub(channel, PROBE)
            before = server.memory_kb()
            server.forget_peak()
            call, count = probe.Count(Count(messages=200_000, bytes=500), timeout=60), 0
            for _ in call:
                count += 1
                if count <= 200:
                    time.sleep(0.005)
            expect(count == 200_000, f"{count} messages came")
        return judged(server, before)

    @check("a stream that heeds no window ends in RESOURCE_EXHAUSTED where its client reads too slowly")
    def _():
        with server.channel() as channel:
            request = Count(messages=10_000, bytes=20_000, ignore_window=True)
            error = refusal(Stub(channel, PROBE).Count, request, timeout=20)
            expect_code(error, grpc.StatusCode.RESOURCE_EXHAUSTED, "reads too slowly")


def judged(server, before):
    grown = server.memory_kb("VmHWM") - before
    if SANITIZED:
        return "memory not judged: a sanitizer keeps what is freed"
    expect(grown < GROWTH_KB, f"the server's memory grew by {grown} KB from {before} KB")
    return f"grew by {grown} KB from {before} KB"


def malformed(channel):
    probe = Stub(channel, PROBE)

    def refused_field(request, name):
        error = refusal(probe.Echo, request, timeout=WAIT_SECONDS)
        expect_code(error, grpc.StatusCode.INVALID_ARGUMENT, name)
        violation = details_of(error)[1]["google.rpc.BadRequest"].field_violations[0]
        expect(violation.field == name, f"BadRequest names '{violation.field}'")

    for what, bad in (("invalid UTF-8", b"ab\xff\xfe"), ("a NUL", b"a\0b"), ("a surrogate", b"\xed\xa0\x80"),
                      ("an overlong character", b"\xc0\xaf")):
        @check(f"{what} in a string is INVALID_ARGUMENT that names the field")
        def _():
            refused_field(field(1, bad), "text")

        @check(f"{what} in a nested string is INVALID_ARGUMENT that names its path")
        def _():
            good, wrong = field(4, field(2, field(1, b"good"))), field(4, field(2, b"") + field(2, field(1, bad)))
            refused_field(good + wrong, "parts[1].parts[1].name")

    for what, request in (("half a field", b"\x0a\x05ab"), ("a group", b"\x0b\x0c"), ("field 0", b"\x02\x00"),
                          ("an endless varint", b"\x18" + b"\xff" * 11), ("garbage", bytes(range(255, 200, -1)))):
        @check(f"{what} is INVALID_ARGUMENT")
        def _():
            expect_code(refusal(probe.Echo, request, timeout=WAIT_SECONDS), grpc.StatusCode.INVALID_ARGUMENT)

    @check("a malformed message ends a conversation after the good one before it was answered")
    def _():
        call, texts = probe.Chat(iter([Echo(text="good"), field(1, b"\xff")]), timeout=WAIT_SECONDS), []
        try:
            for answer in call:
                texts.append(answer.text)
        except grpc.RpcError as error:
            expect_code(error, grpc.StatusCode.INVALID_ARGUMENT, "text")
        expect(texts == ["good"] and call.code() == grpc.StatusCode.INVALID_ARGUMENT, f"{texts}, {call.code()}")

    @check("154 KB of messages within messages, unknown to the server, are passed over")
    def _():
        nested = b""
        while len(nested) < 154_000:
            nested = field(9, nested)
        expect(probe.Echo(nested + field(1, b"alive"), timeout=WAIT_SECONDS).text == "alive", "the server is hurt")

    @check("a million empty parts are refused with RESOURCE_EXHAUSTED")
    def _():
        request = field(4, b"") * 1_000_000
        expect_code(refusal(probe.Echo, request, timeout=WAIT_SECONDS), grpc.StatusCode.RESOURCE_EXHAUSTED)


def bombs(server, channel):
    probe = Stub(channel, PROBE)

    def bounded(call):
        probe.Echo(Echo(payload=bytes(3 << 20)), timeout=WAIT_SECONDS)  # what a large message leaves behind is not the bomb's
        before = server.memory_kb()
        server.forget_peak()
        call()
        expect(probe.Echo(Echo(text="alive"), timeout=WAIT_SECONDS).text == "alive", "the server is hurt")
        return judged(server, before)

    @check("100 MB of zeroes in a small gzip are refused with RESOURCE_EXHAUSTED, and the server's memory stays small")
    def _():
        bomb = field(2, bytes(BOMB_BYTES))

        def throw():
            error = refusal(probe.Echo, bomb, compression=grpc.Compression.Gzip, timeout=20)
            expect_code(error, grpc.StatusCode.RESOURCE_EXHAUSTED, f"more than the {MESSAGE_MAX}")

        return bounded(throw)

    gc.collect()

    @check("ten bombs of 20 MB at once are refused, and the server's memory stays small")
    def _():
        bomb = field(2, bytes(20 << 20))

        def throw():
            calls = [probe.Echo.future(bomb, compression=grpc.Compression.Gzip, timeout=20) for _ in range(10)]
            for call in calls:
                wait_until(call.done, "a bomb is not refused", 20)
                expect(call.code() == grpc.StatusCode.RESOURCE_EXHAUSTED, f"one ended with {call.code()}")

        return bounded(throw)

    @check("a bomb in a conversation ends it with RESOURCE_EXHAUSTED")
    def _():
        error = refusal(probe.Chat, iter([Echo(text="small"), field(2, bytes(20 << 20))]),
                        compression=grpc.Compression.Gzip, timeout=20)
        expect_code(error, grpc.StatusCode.RESOURCE_EXHAUSTED)


def without_descriptors(server):
    @check("a server that has no file descriptors left for connections takes new ones as soon as it has some again")
    def _():
        pid, limits = server.process.pid, resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE)
        few = max(int(name) for name in os.listdir(f"/proc/{pid}/fd")) + 20
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (few, limits[1]))
        crowd = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(60)]
        wait_until(lambda: "cannot be taken in" in server.log() or "accept4" in server.log(), "no connection is refused", WAIT_SECONDS)
        resource.prlimit(pid, resource.RLIMIT_NOFILE, limits)
        for one in crowd:
            one.close()
        with server.channel() as channel:
            Stub(channel, PROBE).Echo(Echo(text="again"), timeout=WAIT_SECONDS / 4, wait_for_ready=True)


def run():
    with Server(name="the server of limits") as server, server.channel(*UNLIMITED) as channel:
        sizes(channel)
        malformed(channel)
        bombs(server, channel)
        slow_readers(server)
        without_descriptors(server)
