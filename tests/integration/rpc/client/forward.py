"""Two servers in a row: what our own client hands on, and how soon it finds a server that is back."""
import threading
import time

import grpc

from checks import check, expect
from probe import PROBE, Server, Sleep, Stub, expect_code, notice_delay_ms, refusal, wait_begun

NOTICE_MS = 100
BACK_SECONDS = 0.5
CALLS_PER_SECOND = 50


def run():
    with Server(name="the second server") as second:
        target = "ipv4:" + second.address
        with Server("--forward", target, name="the first server") as first, first.channel() as channel, \
                second.channel() as second_channel:
            handed_on(Stub(channel, PROBE), Stub(second_channel, PROBE))
    for kind, scheme in (("an address", "ipv4:127.0.0.1"), ("a name", "dns:///localhost")):
        peer_comes_back(kind, scheme)


def handed_on(first, second):
    @check("a call goes over two servers")
    def _():
        expect(first.Forward(Sleep(key="over two"), timeout=5).key == "over two", "the answer is another's")

    @check("200 calls at once go over two servers, each answered with its own")
    def _():
        calls = [first.Forward.future(Sleep(delay_ms=50, key=f"own {i}"), timeout=10) for i in range(200)]
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


def peer_comes_back(kind, scheme):
    """Calls go on while the second server is away, so that the first one's channel knows that it is."""
    second = Server(name="the server that comes back")
    with Server("--forward", f"{scheme}:{second.port}", name=f"the server before it, given {kind}") as first, \
            first.channel() as channel:
        probe = Stub(channel, PROBE)
        probe.Forward(Sleep(), timeout=5)
        for away in (0.1, 1, 4):
            @check(f"a peer given by {kind} that was killed and away for {away} s is found within {BACK_SECONDS} s")
            def _():
                nonlocal second
                port = second.port
                second.kill()
                answered_at, over = [], threading.Event()
                threads = [threading.Thread(target=keep_calling, args=(probe, answered_at, over))]
                threads[0].start()
                time.sleep(away)
                answered_at.clear()
                second = Server(listen=f"127.0.0.1:{port}", name="the server that comes back")
                over.wait(10)
                threads[0].join()
                expect(answered_at, "no call was answered")
                took = max(0, answered_at[0] - second.listening_at)
                expect(took <= BACK_SECONDS, f"it was found after {took:.2f} s")
                return f"after {took * 1000:.0f} ms"
    with second:
        pass


def keep_calling(probe, answered_at, over):
    """Calls until one is answered after the peer was away, or ten seconds are over."""
    refused = False
    until = time.monotonic() + 15
    while time.monotonic() < until:
        try:
            probe.Forward(Sleep(), timeout=1)
            if refused:
                answered_at.append(time.monotonic())
                break
        except grpc.RpcError:
            refused = True
        time.sleep(1 / CALLS_PER_SECOND)
    over.set()
