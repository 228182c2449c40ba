"""Calls of all four kinds: answers, errors, deadlines, cancellation, metadata, compression, traces."""
import re
import threading
import time

import grpc
from google.protobuf import duration_pb2  # noqa: F401 - google.rpc.RetryInfo has one

from checks import check, expect
from details import details_of
from probe import (WAIT_SECONDS, Count, Echo, Fail, Noticed, PROBE, Server, Sleep, Stub, Sum, expect_code, notice_delay_ms, refusal,
                   wait_begun)
from relay import Relay

NOTICE_MS = 1000  # a few on a calm machine, as the figures show; a handler that is told nothing works for 20 s and more


def unary_and_streams(probe):
    @check("a unary call is answered with what it sent")
    def _():
        payload = bytes(range(256))
        answer = probe.Echo(Echo(text="連歌とは何ですか 𝄞", payload=payload), timeout=WAIT_SECONDS)
        expect(answer.text == "連歌とは何ですか 𝄞" and answer.payload == payload, f"the answer was {answer}")

    @check("an empty request is a message too")
    def _():
        expect(probe.Echo(Echo(), timeout=WAIT_SECONDS).text == "", "the answer has a text")

    @check("a server's stream brings its messages in order and ends with OK")
    def _():
        call = probe.Count(Count(messages=1000, bytes=10), timeout=WAIT_SECONDS)
        indices = [message.index for message in call]
        expect(indices == list(range(1000)), f"{len(indices)} messages came, the first {indices[:5]}")
        expect(call.code() == grpc.StatusCode.OK, f"it ended with {call.code()}")

    @check("a server's stream of no messages ends with OK")
    def _():
        expect(list(probe.Count(Count(), timeout=WAIT_SECONDS)) == [], "a message came")

    @check("a stream that fails brings its messages first, then its status")
    def _():
        call, indices = probe.Count(Count(messages=5, end_code=10), timeout=WAIT_SECONDS), []
        try:
            for message in call:
                indices.append(message.index)
        except grpc.RpcError as error:
            expect_code(error, grpc.StatusCode.ABORTED, "as it was told")
        expect(indices == [0, 1, 2, 3, 4] and call.code() == grpc.StatusCode.ABORTED, f"{indices}, {call.code()}")

    @check("a client's stream of 1,000 messages is added up")
    def _():
        answer = probe.Sum((Sum(value=i) for i in range(1000)), timeout=WAIT_SECONDS)
        expect((answer.sum, answer.count) == (499500, 1000), f"the answer was {answer}")

    @check("a client's stream of one message is answered")
    def _():
        expect(probe.Sum(iter([Sum(value=-7)]), timeout=WAIT_SECONDS).sum == -7, "the sum is wrong")

    @check("a conversation of 200 messages goes to and fro, one at a time")
    def _():
        answered = threading.Semaphore(1)

        def questions():
            for i in range(200):
                answered.acquire()
                yield Echo(text=str(i))

        texts = []
        for answer in probe.Chat(questions(), timeout=20):
            texts.append(answer.text)
            answered.release()
        expect(texts == [str(i) for i in range(200)], f"{len(texts)} answers came")

    @check("500 calls at once on one connection are all answered")
    def _():
        futures = [probe.Echo.future(Echo(text=str(i)), timeout=20) for i in range(500)]
        wrong = [i for i, future in enumerate(futures) if future.result().text != str(i)]
        expect(not wrong, f"{len(wrong)} answers are another call's")

    @check("100 streams at once on one connection do not mix")
    def _():
        calls = [probe.Count(Count(messages=50, bytes=i), timeout=30) for i in range(100)]
        for i, call in enumerate(calls):
            sizes = [len(message.payload) for message in call]
            expect(sizes == [i] * 50, f"stream {i} brought {len(sizes)} messages of {set(sizes)} bytes")


def errors(probe, channel):
    @check("each status code arrives with its text")
    def _():
        for code in grpc.StatusCode:
            if code != grpc.StatusCode.OK:
                error = refusal(probe.Fail, Fail(code=code.value[0], text=f"told to be {code.name}"), timeout=WAIT_SECONDS)
                expect_code(error, code, f"told to be {code.name}")

    @check("an error text in UTF-8 with tabs, newlines, percent signs and quotes arrives as it was sent")
    def _():
        text = "連歌 \t\ttabs\r\nlines 100 % %41 \"quotes\" ünïcödé 𝄞😀"
        error = refusal(probe.Fail, Fail(code=9, text=text), timeout=WAIT_SECONDS)
        expect(error.details() == text, f"it arrived as {error.details()!r}")

    @check("rich details name the field (BadRequest) and the time to try again (RetryInfo)")
    def _():
        error = refusal(probe.Fail, Fail(code=3, text="is negative", field="plan.steps[2].cost", retry_after_ms=1500),
                        timeout=WAIT_SECONDS)
        status, parts = details_of(error)
        expect(status.code == 3 and status.message == error.details(), f"the status within is {status}")
        violation = parts["google.rpc.BadRequest"].field_violations[0]
        expect(violation.field == "plan.steps[2].cost" and violation.description, f"the violation is {violation}")
        delay = parts["google.rpc.RetryInfo"].retry_delay
        expect((delay.seconds, delay.nanos) == (1, 500_000_000), f"the delay is {delay}")

    @check("an error without details carries none")
    def _():
        error = refusal(probe.Fail, Fail(code=5, text="nothing"), timeout=WAIT_SECONDS)
        keys = [key for key, _ in error.trailing_metadata()]
        expect("grpc-status-details-bin" not in keys, f"its metadata has {keys}")

    for path, text in (("/renga.test.Probe/Nothing", "Nothing"), ("/renga.test.Nobody/Echo", "renga.test.Nobody")):
        @check(f"{path} is UNIMPLEMENTED at once, with a text that names it")
        def _():
            began = time.monotonic()
            error = refusal(channel.unary_unary(path), b"", timeout=WAIT_SECONDS)
            expect_code(error, grpc.StatusCode.UNIMPLEMENTED, text)
            took_ms = (time.monotonic() - began) * 1000
            expect(took_ms < NOTICE_MS, f"it took {took_ms:.0f} ms")
            return f"{took_ms:.1f} ms"

    @check("an unknown method is UNIMPLEMENTED at once for streams too")
    def _():
        error = refusal(channel.stream_stream("/renga.test.Probe/Nothing"), iter([b"", b""]), timeout=WAIT_SECONDS)
        expect_code(error, grpc.StatusCode.UNIMPLEMENTED)


def deadlines(probe):
    @check("the client's deadline ends a call, and its handler notices in time")
    def _():
        began = time.monotonic()
        error = refusal(probe.Sleep, Sleep(delay_ms=20000, key="deadline"), timeout=0.3)
        took = time.monotonic() - began
        expect_code(error, grpc.StatusCode.DEADLINE_EXCEEDED)
        expect(0.29 <= took < 0.3 + NOTICE_MS / 1000, f"the client waited {took:.3f} s")
        delay_ms = notice_delay_ms(probe, "deadline", began, began + 0.3)
        expect(delay_ms <= NOTICE_MS, f"the handler noticed {delay_ms:.0f} ms late")
        return f"noticed after {delay_ms:.1f} ms"

    @check("a stream ends at the client's deadline, and its handler notices in time")
    def _():
        began = time.monotonic()
        error = refusal(probe.Count, Count(messages=1 << 40, interval_ms=10, key="slow"), timeout=0.3)
        expect_code(error, grpc.StatusCode.DEADLINE_EXCEEDED)
        delay_ms = notice_delay_ms(probe, "slow", began, began + 0.3)
        expect(delay_ms <= NOTICE_MS, f"the handler noticed {delay_ms:.0f} ms late")

    @check("the handler sees how much time the client gives, and none where it gives none")
    def _():
        left = probe.Echo(Echo(), timeout=5).deadline_left_ms
        expect(3000 <= left <= 5050, f"it saw {left} ms of 5000")  # clients round up
        left = probe.Echo(Echo()).deadline_left_ms
        expect(left == -1, f"it saw {left}")


def server_limits():
    with Server("--call-max-ms", "300", name="a server with a limit of 300 ms a call") as server, \
            server.channel() as channel:
        probe = Stub(channel, PROBE)

        @check("the server's own limit ends a call with DEADLINE_EXCEEDED, and its handler notices in time")
        def _():
            began = time.monotonic()
            error = refusal(probe.Sleep, Sleep(delay_ms=20000, key="limit"), timeout=WAIT_SECONDS)
            took = time.monotonic() - began
            expect_code(error, grpc.StatusCode.DEADLINE_EXCEEDED, "than this server allows")
            expect(0.29 <= took < 0.3 + NOTICE_MS / 1000, f"the call took {took:.3f} s")
            delay_ms = notice_delay_ms(probe, "limit", began, began + 0.3)
            expect(delay_ms <= NOTICE_MS, f"the handler noticed {delay_ms:.0f} ms late")

        @check("the server's limit is what the handler sees, where the client gives more or nothing")
        def _():
            left = [probe.Echo(Echo(), timeout=WAIT_SECONDS).deadline_left_ms, probe.Echo(Echo()).deadline_left_ms]
            expect(all(0 <= ms <= 300 for ms in left), f"it saw {left}")

        @check("a call of a client that gives no deadline ends at the server's limit")
        def _():
            expect_code(refusal(probe.Sleep, Sleep(delay_ms=20000)), grpc.StatusCode.DEADLINE_EXCEEDED)

        @check("streams are not cut by the limit of unary calls")
        def _():
            answers = list(probe.Count(Count(messages=8, interval_ms=100), timeout=WAIT_SECONDS))
            expect(len(answers) == 8, f"{len(answers)} of 8 messages came")

        @check("a handler that ends long after it was cut does no harm")
        def _():
            error = refusal(probe.Stick, Noticed(key="late"), timeout=WAIT_SECONDS)
            expect_code(error, grpc.StatusCode.DEADLINE_EXCEEDED)
            for _ in range(8):  # one of them reaches the loop of the stuck call
                probe.Release(Noticed(), timeout=WAIT_SECONDS)
            expect(probe.Echo(Echo(text="alive"), timeout=WAIT_SECONDS).text == "alive", "the server is hurt")


def cancellation(server, probe):
    def cancelled(key, start, cancel):
        call = start()
        begun = wait_begun(probe, key)
        time.sleep(0.05)
        gone = time.monotonic()
        cancel(call)
        delay_ms = notice_delay_ms(probe, key, begun, gone)
        expect(delay_ms <= NOTICE_MS, f"the handler noticed after {delay_ms:.1f} ms")
        return f"after {delay_ms:.1f} ms"

    @check(f"the handler of a unary call notices a cancel within {NOTICE_MS} ms")
    def _():
        return cancelled("unary cancel", lambda: probe.Sleep.future(Sleep(delay_ms=20000, key="unary cancel")),
                         lambda call: call.cancel())

    @check(f"the handler of a stream notices a cancel within {NOTICE_MS} ms")
    def _():
        def start():
            call = probe.Count(Count(messages=1 << 40, interval_ms=20, key="stream cancel"))
            next(call)
            return call
        return cancelled("stream cancel", start, lambda call: call.cancel())

    @check(f"a handler that waits for the client to read notices a cancel within {NOTICE_MS} ms")
    def _():
        def start():
            call = probe.Count(Count(messages=1 << 40, bytes=1000, key="unread cancel"))
            next(call)
            return call
        return cancelled("unread cancel", start, lambda call: call.cancel())

    @check(f"handlers notice within {NOTICE_MS} ms that a connection is gone")
    def _():
        other = server.channel()
        stub = Stub(other, PROBE)
        return cancelled("connection gone", lambda: stub.Sleep.future(Sleep(delay_ms=20000, key="connection gone")),
                         lambda call: other.close())

    @check("100 calls cancelled at once are all noticed, and others go on")
    def _():
        keys = [f"many {i}" for i in range(100)]
        calls = [probe.Sleep.future(Sleep(delay_ms=20000, key=key)) for key in keys]
        for key in keys:
            wait_begun(probe, key)
        for call in calls:
            call.cancel()
        for key in keys:
            notice_delay_ms(probe, key, 0, 0)
        expect(probe.Echo(Echo(text="on"), timeout=WAIT_SECONDS).text == "on", "the server is hurt")

    @check("streams that clients leave in the middle of a conversation do no harm")
    def _():
        for _ in range(50):
            more = threading.Event()

            def questions(more=more):
                yield Echo(text="one")
                more.wait(5)

            call = probe.Chat(questions(), timeout=WAIT_SECONDS)
            next(call)
            call.cancel()
            more.set()
        expect(probe.Echo(Echo(text="on"), timeout=WAIT_SECONDS).text == "on", "the server is hurt")


def metadata(probe):
    @check("metadata reaches the handler and comes back as initial and trailing metadata, -bin included")
    def _():
        binary = bytes(range(256))
        _, call = probe.Echo.with_call(Echo(), metadata=(("probe-initial", "a value, with spaces"),
                                                         ("probe-trailing-bin", binary)), timeout=WAIT_SECONDS)
        initial, trailing = dict(call.initial_metadata()), dict(call.trailing_metadata())
        expect(initial.get("probe-initial") == "a value, with spaces", f"initial metadata was {initial}")
        expect(trailing.get("probe-trailing-bin") == binary, f"trailing metadata was {trailing}")

    @check("2 KB of metadata go both ways")
    def _():
        value = "v" * 2048
        _, call = probe.Echo.with_call(Echo(), metadata=(("probe-initial", value),), timeout=WAIT_SECONDS)
        expect(dict(call.initial_metadata()).get("probe-initial") == value, "it did not come back")

    @check("a trace is continued: the handler's span has the caller's trace and flags, and an id of its own")
    def _():
        trace, span = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
        answer = probe.Echo(Echo(text="tell me more"), metadata=(("traceparent", f"00-{trace}-{span}-01"),), timeout=WAIT_SECONDS)
        parts = answer.traceparent.split("-")
        expect(parts[1] == trace and parts[2] != span and parts[3] == "01", f"it has {answer.traceparent}")

    @check("a call without a trace, or with a broken one, begins a trace")
    def _():
        for given in ((), (("traceparent", "00-zz-00-01"),)):
            answer = probe.Echo(Echo(text="tell me more"), metadata=given, timeout=WAIT_SECONDS)
            expect(re.fullmatch("00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-0[01]", answer.traceparent),
                   f"it has '{answer.traceparent}'")

    @check("the handler sees the client's address")
    def _():
        peer = probe.Echo(Echo(text="tell me more"), timeout=WAIT_SECONDS).peer
        expect(re.fullmatch(r"ipv4:127\.0\.0\.1:\d+", peer), f"it sees '{peer}'")


def compression(server):
    text, payload = "gzip " * 1000, bytes(1 << 20)
    with Relay(server.port) as relay:
        for name, algorithm in (("gzip", grpc.Compression.Gzip), ("deflate", grpc.Compression.Deflate)):
            with grpc.insecure_channel(relay.address) as channel:
                probe = Stub(channel, PROBE)

                @check(f"a megabyte in {name} goes both ways in few bytes")
                def _():
                    probe.Echo(Echo(), timeout=WAIT_SECONDS)
                    relay.forget()
                    answer = probe.Echo(Echo(text=text, payload=payload, compress=True), compression=algorithm,
                                        timeout=WAIT_SECONDS)
                    expect(answer.text == text and answer.payload == payload, "it came back changed")
                    to_server, to_client = relay.counts()
                    expect(to_server < 20000 and to_client < 20000, f"{to_server} bytes went, {to_client} came")
                    return f"{to_server} bytes went, {to_client} came"

                @check(f"a compressed request ({name}) may have a plain answer")
                def _():
                    relay.forget()
                    probe.Echo(Echo(payload=payload), compression=algorithm, timeout=WAIT_SECONDS)
                    to_server, to_client = relay.counts()
                    expect(to_server < 20000 and to_client > len(payload), f"{to_server} went, {to_client} came")


def run():
    with Server(name="the server of calls") as server:
        with server.channel() as channel:
            probe = Stub(channel, PROBE)
            unary_and_streams(probe)
            errors(probe, channel)
            deadlines(probe)
            cancellation(server, probe)
            metadata(probe)
        compression(server)
    server_limits()
