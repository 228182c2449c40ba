"""grpc.health.v1 from a client's side: Check, Watch, and what both say while the server leaves."""
import threading
import time

import grpc

from checks import check, expect, wait_until
from probe import WAIT_SECONDS, HEALTH, MESSAGES, PROBE, SERVICES, Server, Sleep, Stub, expect_code, refusal, wait_begun

Request = MESSAGES[HEALTH.rsplit(".", 1)[0] + ".HealthCheckRequest"]
Response = MESSAGES[HEALTH.rsplit(".", 1)[0] + ".HealthCheckResponse"]
SERVING, NOT_SERVING, UNKNOWN = Response.SERVING, Response.NOT_SERVING, Response.SERVICE_UNKNOWN
WATCHERS = 200


class Watcher:
    """A Watch that is read as it goes: (status, when) of each answer, then its code."""

    def __init__(self, health, name):
        self.seen, self.code = [], None
        self.call = health.Watch(Request(service=name))
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        try:
            for answer in self.call:
                self.seen.append((answer.status, time.monotonic()))
            self.code = self.call.code()
        except grpc.RpcError as error:
            self.code = error.code()

    def statuses(self):
        return [status for status, _ in self.seen]


def run():
    server = Server(name="the server of health")
    channel = server.channel()
    health, probe = Stub(channel, HEALTH), Stub(channel, PROBE)

    @check("Check says SERVING for the server, for each of its services, and for both names of probes")
    def _():
        for name in ["", "liveness", "readiness", *sorted(SERVICES)]:
            status = health.Check(Request(service=name), timeout=WAIT_SECONDS).status
            expect(status == SERVING, f"'{name}' is {status}")

    @check("Check says NOT_FOUND for a service that is not here")
    def _():
        error = refusal(health.Check, Request(service="renga.test.Nobody"), timeout=WAIT_SECONDS)
        expect_code(error, grpc.StatusCode.NOT_FOUND, "renga.test.Nobody")

    @check("Watch says SERVICE_UNKNOWN for a service that is not here, and stays open")
    def _():
        watcher = Watcher(health, "renga.test.Nobody")
        wait_until(lambda: watcher.seen, "nothing is said")
        time.sleep(0.1)
        expect(watcher.statuses() == [UNKNOWN] and watcher.code is None, f"{watcher.statuses()}, {watcher.code}")
        watcher.call.cancel()

    @check("a name that is too long or no UTF-8 is INVALID_ARGUMENT")
    def _():
        for name in (b"\x0a\xf4\x03" + b"n" * 500, b"\x0a\x05ab"):
            for method in (health.Check, health.Watch):
                expect_code(refusal(method, name, timeout=WAIT_SECONDS), grpc.StatusCode.INVALID_ARGUMENT)

    watchers = [Watcher(health, name) for name in ["", PROBE, "readiness", "liveness"] * (WATCHERS // 4)]

    @check(f"{WATCHERS} watchers are told SERVING at once, and nothing more")
    def _():
        wait_until(lambda: all(watcher.seen for watcher in watchers), "not all are told")
        time.sleep(0.1)
        expect(all(watcher.statuses() == [SERVING] for watcher in watchers), "some were told more")

    @check("watchers that leave do no harm")
    def _():
        for _ in range(50):
            Watcher(health, PROBE).call.cancel()
        expect(health.Check(Request(), timeout=WAIT_SECONDS).status == SERVING, "the server is hurt")

    sleeping = probe.Sleep.future(Sleep(delay_ms=1500, key="under way"))
    wait_begun(probe, "under way")
    asked = time.monotonic()
    server.ask_to_stop()
    leaving = [watcher for i, watcher in enumerate(watchers) if i % 4 != 3]

    @check("when SIGTERM comes, watchers of the server, of its services and of readiness are told NOT_SERVING")
    def _():
        wait_until(lambda: all(len(watcher.seen) == 2 for watcher in leaving), "not all are told")
        expect(all(watcher.statuses() == [SERVING, NOT_SERVING] for watcher in leaving), "some were told otherwise")
        slowest_ms = (max(watcher.seen[1][1] for watcher in leaving) - asked) * 1000
        expect(slowest_ms < 2000, f"the last was told after {slowest_ms:.0f} ms")
        return f"the last after {slowest_ms:.0f} ms"

    @check("while the server drains, Check says NOT_SERVING but for liveness, and calls are still served")
    def _():
        said = {name: health.Check(Request(service=name), timeout=WAIT_SECONDS).status
                for name in ("", PROBE, "readiness", "liveness")}
        expect(said == {"": NOT_SERVING, PROBE: NOT_SERVING, "readiness": NOT_SERVING, "liveness": SERVING}, f"{said}")
        expect(watchers[3].statuses() == [SERVING], "a watcher of liveness was told more")

    @check("while the server drains, no new connection is taken")
    def _():
        with server.channel() as other:
            error = refusal(Stub(other, HEALTH).Check, Request(), timeout=0.5)
        expect(error.code() in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED), f"{error.code()}")

    @check("a watch begun while the server drains is told NOT_SERVING")
    def _():
        watcher = Watcher(health, "")
        wait_until(lambda: watcher.seen, "nothing is said")
        expect(watcher.statuses() == [NOT_SERVING], f"{watcher.statuses()}")

    @check("the call that was under way when SIGTERM came is answered")
    def _():
        expect(sleeping.result().key == "under way", "it was not")

    @check("watchers do not hold the server: at the drain's limit their streams end with UNAVAILABLE, and it leaves")
    def _():
        server.wait_for_end(10)
        wait_until(lambda: all(watcher.code for watcher in watchers), "some watches are still open")
        codes = {watcher.code for watcher in watchers}
        expect(codes == {grpc.StatusCode.UNAVAILABLE}, f"they ended with {codes}")

    channel.close()
