#!/usr/bin/env python3
"""Two tool-runners with one record, in a Redis: what one has run the other answers, and what one was in the middle of when it
died is in doubt to the other, too."""
import os
import signal

import grpc

from runner import Runner, SLOW, check, checks, expect, odd, wait_until
from redis_server import RedisServer

OK, ABORTED = 0, 10


def lines(path):
    return len(open(path).readlines()) if os.path.exists(path) else 0


def refused(call, part):
    try:
        call()
    except grpc.RpcError as error:
        expect(part in error.details(), f"{error.code()}: {error.details()}")
        return error.code()
    raise AssertionError("it was not refused")


with RedisServer() as redis:
    record = f"--tool_runner.record={redis.url}?name=tools&timeout=600"
    with Runner({"odd": odd()}, record) as one, Runner({"odd": odd()}, record) as two:
        file = f"{one.folder}/count"

        @check("a call that one has run is answered by the other from the record")
        def _():
            first = one.one("odd__count", {"file": file}, key="k1")
            again = two.one("odd__count", {"file": file}, key="k1")
            expect((first.text, again.text, lines(file)) == ("1 times", "1 times", 1), f"{first} {again} {lines(file)}")
            expect(again.recorded and not first.recorded, f"{first} {again}")

        @check("other arguments under a key that the other has seen are refused")
        def _():
            refused(lambda: two.one("odd__count", {"file": file + "2"}, key="k1"), "other arguments")
            expect(lines(file + "2") == 0, "it ran")

        @check("an owner that one has seen overtaken is refused by the other")
        def _():
            one.one("odd__count", {"file": file}, run="r1", thread="t1", token=7)
            before = lines(file)
            code = refused(lambda: two.one("odd__count", {"file": file}, run="r1", thread="t1", token=6), "fencing_token 6")
            expect((code, lines(file)) == (grpc.StatusCode.ABORTED, before), f"{code}, {lines(file)} lines")

        @check("of 30 keys that both get at the same moment each runs once, and whoever did not run it has its result or says that it is in doubt")
        def _():
            paths = [f"{one.folder}/race{i}" for i in range(30)]
            calls = [[each.begin(("odd__count", {"file": path, "ms": 20}), key=f"race{i}") for each in (one, two)] for i, path in enumerate(paths)]
            ran = doubts = 0
            for path, pair in zip(paths, calls):
                results = [call.result().results[0] for call in pair]
                ran += sum(result.status_code == OK and not result.recorded for result in results)
                doubts += sum(result.status_code == ABORTED and result.in_doubt for result in results)
                expect(lines(path) == 1 and any(result.text == "1 times" for result in results), f"it ran {lines(path)} times: {results}")
                expect(all(result.status_code == OK or result.in_doubt for result in results), str(results))
            expect(ran == 30, f"{ran} ran")
            return f"{doubts} were in doubt to the other"

        @check("what one was in the middle of when it died does not run again at the other")
        def _():
            path = f"{one.folder}/midway"
            call = one.begin(("odd__count", {"file": path, "ms": 60_000}), key="midway")
            wait_until(lambda: lines(path) == 1, "it does not begin", 10 * SLOW)
            one.kill(signal.SIGKILL)
            refused(call.result, "")
            result = two.one("odd__count", {"file": path, "ms": 60_000}, key="midway")
            expect(result.status_code == ABORTED and result.in_doubt and lines(path) == 1, f"{result}, {lines(path)} lines")
            one.start()

        @check("with the record gone nothing with effects runs, and both go on when it is back")
        def _():
            path = f"{one.folder}/gone"
            redis.kill()
            code = refused(lambda: two.one("odd__count", {"file": path}, key="gone"), "record")
            expect((code, lines(path)) == (grpc.StatusCode.UNAVAILABLE, 0), f"{code}, {lines(path)} lines")
            redis.start()

            def asked(which):
                try:
                    return which.one("odd__count", {"file": path}, key="gone")
                except grpc.RpcError:  # it has not found it again yet
                    return None
            first = wait_until(lambda: asked(one), "it does not go on", 10 * SLOW)
            again = wait_until(lambda: asked(two), "the other does not go on", 10 * SLOW)
            expect(first.text == again.text == "1 times" and again.recorded and lines(path) == 1, f"{first} {again}")


checks.finish()
