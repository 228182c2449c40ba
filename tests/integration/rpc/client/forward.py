"""Two servers in a row: what our own client hands on, and how soon it finds a server that is back."""
import threading
import time
from concurrent import futures

import grpc

from checks import check, expect
from ports import free_port
from probe import WAIT_SECONDS, PROBE, Server, Sleep, Stub, expect_code, notice_delay_ms, refusal, wait_begun

NOTICE_MS = 1000  # as in calls.py
BACK_SECONDS = 2.0  # some tenths on a calm machine; gRPC's own pauses grow from 1 s to 2 minutes
CALLS_PER_SECOND = 50


def run():
    with Server(name="the second server") as second:
        target = "ipv4:" + second.address
        with Server("--forward", target, name="the first server") as first, first.channel() as channel, \
                second.channel() as second_channel:
            handed_on(Stub(channel, PROBE), Stub(second_channel, PROBE))
    address_is_hidden()
    what_it_sends()
    for kind, scheme in (("an address", "ipv4:127.0.0.1"), ("a name", "dns:///localhost")):
        peer_comes_back(kind, scheme)


def address_is_hidden():
    nobody = free_port()
    with Server("--forward", f"127.0.0.1:{nobody}", name="a server before nobody") as first, first.channel() as channel:
        @check("who asks hears which service cannot be reached, and not at which address")
        def _():
            error = refusal(Stub(channel, PROBE).Forward, Sleep(), timeout=WAIT_SECONDS)
            expect_code(error, grpc.StatusCode.UNAVAILABLE, "no connection to the service renga.test.Probe")
            expect("127.0.0.1" not in error.details() and str(nobody) not in error.details(), error.details())


def handed_on(first, second):
    @check("a call goes over two servers")
    def _():
        expect(first.Forward(Sleep(key="over two"), timeout=WAIT_SECONDS).key == "over two", "the answer is another's")

    @check("200 calls at once go over two servers, each answered with its own")
    def _():
        calls = [first.Forward.future(Sleep(delay_ms=50, key=f"own {i}"), timeout=WAIT_SECONDS) for i in range(200)]
        wrong = [i for i, call in enumerate(calls) if call.result().key != f"own {i}"]
        expect(not wrong, f"{len(wrong)} were answered with another's")

    @check(f"a deadline is handed on: the second handler notices it within {NOTICE_MS} ms")
    def _():
        began = time.monotonic()
        error = refusal(first.Forward, Sleep(delay_ms=20000, key="deadline on"), timeout=0.3)
        expect_code(error, grpc.StatusCode.DEADLINE_EXCEEDED)
        delay_ms = notice_delay_ms(second, "deadline on", began, began + 0.3)
        expect(delay_ms <= NOTICE_MS, f"it noticed {delay_ms:.0f} ms late")
        return f"after {delay_ms:.1f} ms"

    @check(f"a cancel is handed on: the second handler notices it within {NOTICE_MS} ms")
    def _():
        call = first.Forward.future(Sleep(delay_ms=20000, key="cancel on"))
        begun = wait_begun(second, "cancel on")
        time.sleep(0.05)
        gone = time.monotonic()
        call.cancel()
        delay_ms = notice_delay_ms(second, "cancel on", begun, gone)
        expect(delay_ms <= NOTICE_MS, f"it noticed after {delay_ms:.0f} ms")
        return f"after {delay_ms:.1f} ms"


class Witness(grpc.GenericRpcHandler):
    """A Probe of python's, which answers Sleep and keeps what it was sent."""

    def __init__(self):
        self.metadata, self.seconds_left = {}, None

    def service(self, details):
        return grpc.unary_unary_rpc_method_handler(self._sleep) if details.method.endswith("/Sleep") else None

    def _sleep(self, request, context):
        self.metadata, self.seconds_left = dict(context.invocation_metadata()), context.time_remaining()
        return request


def what_it_sends():
    """Our client before a server of python's."""
    witness, python = Witness(), grpc.server(futures.ThreadPoolExecutor(4), options=[("grpc.so_reuseport", 0)])
    python.add_generic_rpc_handlers((witness,))
    port = python.add_insecure_port("127.0.0.1:0")
    python.start()
    trace, span = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
    with Server("--forward", f"ipv4:127.0.0.1:{port}", name="the server before python's") as first, \
            first.channel() as channel:
        probe = Stub(channel, PROBE)

        @check("our client calls a server of python's")
        def _():
            probe.Forward(Sleep(), metadata=(("traceparent", f"00-{trace}-{span}-01"),), timeout=20)

        @check("the trace is continued over the second call, with a span of its own")
        def _():
            parts = witness.metadata["traceparent"].split("-")
            expect(parts[1] == trace and parts[2] != span and parts[3] == "01", f"it is {witness.metadata}")

        @check("the second call has the first one's deadline, and never none")
        def _():
            expect(2 < witness.seconds_left <= 20.1, f"it has {witness.seconds_left} s")
            probe.Forward(Sleep())
            expect(0 < witness.seconds_left <= 31, f"without one it has {witness.seconds_left} s")

        @check("a key that the first server was sent goes no further")
        def _():
            probe.Forward(Sleep(), metadata=(("authorization", "Bearer secret"),), timeout=WAIT_SECONDS)
            expect("authorization" not in witness.metadata, "it was handed on")

        @check("an error of the second server reaches the client with its code and text")
        def _():
            witness._sleep = lambda request, context: context.abort(grpc.StatusCode.ABORTED, "as python says: ünïcödé")
            expect_code(refusal(probe.Forward, Sleep(), timeout=WAIT_SECONDS), grpc.StatusCode.ABORTED, "as python says: ünïcödé")
    python.stop(None)


def peer_comes_back(kind, scheme):
    """Calls go on while the second server is away, so that the first one's channel knows that it is."""
    second = Server(listen=f"127.0.0.1:{free_port()}", name="the server that comes back")
    with Server("--forward", f"{scheme}:{second.port}", name=f"the server before it, given {kind}") as first, \
            first.channel() as channel:
        probe = Stub(channel, PROBE)
        probe.Forward(Sleep(), timeout=WAIT_SECONDS)
        for away in (0.1, 1, 4):
            @check(f"a peer given by {kind} that was killed and away for {away} s is found within {BACK_SECONDS} s")
            def _():
                nonlocal second
                second.kill()
                answered_at = []
                caller = threading.Thread(target=keep_calling, args=(probe, answered_at), daemon=True)
                caller.start()
                time.sleep(away)
                second = Server(listen=second.address, name="the server that comes back")
                caller.join()
                expect(answered_at, "no call was answered")
                took = max(0, answered_at[0] - second.listening_at)
                expect(took <= BACK_SECONDS, f"it was found after {took:.2f} s")
                return f"after {took * 1000:.0f} ms"
    with second:
        pass


def keep_calling(probe, answered_at):
    """Calls until one is answered after one was refused."""
    refused, until = False, time.monotonic() + 15
    while time.monotonic() < until:
        try:
            probe.Forward(Sleep(), timeout=1)
            if refused:
                answered_at.append(time.monotonic())
                return
        except grpc.RpcError:
            refused = True
        time.sleep(1 / CALLS_PER_SECOND)
