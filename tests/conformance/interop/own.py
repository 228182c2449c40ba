#!/usr/bin/python3
"""Interop cases that the official Ruby client does not have, by python3-grpcio against the probe server: own.py.

What they do: https://github.com/grpc/grpc/blob/master/doc/interop-test-descriptions.md
"""
import os
import sys
import threading
import time

TESTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path[:0] = [f"{TESTS}/integration/rpc", f"{TESTS}/lib"]

from checks import check, expect, finish  # noqa: E402
from probe import INTEROP, SANITIZED, Server, Stub, expect_code, grpc, message, refusal  # noqa: E402
from relay import Relay  # noqa: E402

SMALL, LARGE_REQUEST, LARGE_ANSWER = 1, 271_828, 314_159
CONCURRENT = 1000
CONCURRENT_SECONDS = 120
QUOTA = 512 << 20  # of the server under them: with less, gRPC refuses calls where the server is slow to read
MEMORY_KB = CONCURRENT * (LARGE_REQUEST + LARGE_ANSWER) // 1024 + (64 << 10)  # each message is there once at most
SPECIAL = "\t\ntest with whitespace\r\nand Unicode BMP ☺ and non-BMP 😈\t\n"

Simple, Output = message("SimpleRequest"), message("StreamingOutputCallRequest")
Input = message("StreamingInputCallRequest")


def special_status_message(stub):
    @check("special_status_message: whitespace, BMP and non-BMP characters arrive as they were sent")
    def _():
        request = Simple(response_status={"code": 2, "message": SPECIAL})
        error = refusal(stub.UnaryCall, request, timeout=5)
        expect_code(error, grpc.StatusCode.UNKNOWN)
        expect(error.details() == SPECIAL, f"they arrived as {error.details()!r}")

    @check("special_status_message on a stream")
    def _():
        request = Output(response_status={"code": 2, "message": SPECIAL})
        error = refusal(stub.FullDuplexCall, iter([request]), timeout=5)
        expect(error.details() == SPECIAL, f"they arrived as {error.details()!r}")


def compressed(server):
    with Relay(server.port) as relay, grpc.insecure_channel(relay.address) as channel:
        stub = Stub(channel, INTEROP)
        stub.EmptyCall(b"", timeout=5)

        def came(call):
            relay.forget()
            call()
            return relay.counts()[1]

        def unary(wanted):
            answer = stub.UnaryCall(Simple(response_size=LARGE_ANSWER, response_compressed={"value": wanted}), timeout=5)
            expect(len(answer.payload.body) == LARGE_ANSWER, f"{len(answer.payload.body)} bytes came")

        @check("server_compressed_unary: the answer is compressed where that is asked for, and only there")
        def _():
            packed, plain = came(lambda: unary(True)), came(lambda: unary(False))
            expect(packed < LARGE_ANSWER / 20 and plain > LARGE_ANSWER, f"{packed} and {plain} bytes came")
            return f"{packed} and {plain} bytes came"

        @check("server_compressed_streaming: answers are compressed where that is asked for, and only there")
        def _():
            sizes = [31_415, 92_653]

            def stream(wanted):
                parameters = [{"size": size, "compressed": {"value": wanted}} for size in sizes]
                answers = list(stub.StreamingOutputCall(Output(response_parameters=parameters), timeout=5))
                expect([len(answer.payload.body) for answer in answers] == sizes, f"{len(answers)} answers came")

            packed, plain = came(lambda: stream(True)), came(lambda: stream(False))
            expect(packed < sum(sizes) / 20 and plain > sum(sizes), f"{packed} and {plain} bytes came")
            return f"{packed} and {plain} bytes came"

        @check("a message that is not compressed as it says is INVALID_ARGUMENT")
        def _():
            body = {"body": bytes(LARGE_REQUEST)}
            lying = Simple(payload=body, expect_compressed={"value": True})
            expect_code(refusal(stub.UnaryCall, lying, timeout=5), grpc.StatusCode.INVALID_ARGUMENT)
            lying = Input(payload=body, expect_compressed={"value": False})
            error = refusal(stub.StreamingInputCall, iter([lying]), compression=grpc.Compression.Gzip, timeout=5)
            expect_code(error, grpc.StatusCode.INVALID_ARGUMENT)


def many_large(server):
    @check(f"{CONCURRENT} large unary calls at once are all answered, and the server's memory stays bounded")
    def _():
        with server.channel() as channel:
            stub = Stub(channel, INTEROP)
            request = Simple(response_size=LARGE_ANSWER, payload={"body": bytes(LARGE_REQUEST)}).SerializeToString()
            peak, over = [0], threading.Event()

            def watch():
                while not over.wait(0.02):
                    peak[0] = max(peak[0], server.memory_kb())

            watcher = threading.Thread(target=watch)
            watcher.start()
            began = time.monotonic()
            try:
                calls = [stub.UnaryCall.future(request, timeout=CONCURRENT_SECONDS) for _ in range(CONCURRENT)]
                short = [call for call in calls if len(call.result().payload.body) != LARGE_ANSWER]
            finally:
                over.set()
                watcher.join()
            took = time.monotonic() - began
        expect(not short, f"{len(short)} answers have another size")
        expect(SANITIZED or peak[0] < MEMORY_KB, f"the server took {peak[0]} KB")
        return f"{took:.1f} s, the server took {peak[0]} KB at most"


def main():
    with Server(name="the server of our own cases") as server:
        with server.channel() as channel:
            special_status_message(Stub(channel, INTEROP))
        compressed(server)
    with Server("--memory-max", str(QUOTA), name="the server of many large calls") as server:
        many_large(server)
    finish()


main()
