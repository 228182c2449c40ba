#!/usr/bin/env python3
"""RunTools as its callers meet it: each call for itself, keys, owners, limits, and what is kept over kill -9.
RENGA_BIN, RENGA_PROTO; one line a check, exit 1 when one fails."""
import os
import signal
import sqlite3
import time

import grpc

from runner import Runner, SLOW, check, checks, expect, message, odd, wait_until

OK, INVALID, NOT_FOUND, DENIED, EXHAUSTED, ABORTED, LATE = 0, 3, 5, 7, 8, 10, 4
Code = grpc.StatusCode


def lines(path):
    return len(open(path).readlines()) if os.path.exists(path) else 0


def refused(call, code, part):
    """The whole call fails."""
    try:
        call()
    except grpc.RpcError as error:
        expect(error.code() == code and part in error.details(), f"{error.code()}: {error.details()}")
        return
    raise AssertionError("it was not refused")


with Runner({"odd": odd()}) as runner:
    file = f"{runner.folder}/count"

    @check("calls run at the same time, and each has its own end, in the order they were asked")
    def _():
        asked = [("odd__slow", {"ms": 400}), ("odd__slow", {"ms": 30000}, {"timeout_ms": 300}), ("nothing", {}),
                 ("calculate", "{"), ("calculate", {"expression": "1/0"}), ("calculate", {"expression": "6*7"})]
        before = time.monotonic()
        results = runner.run(*asked)
        took = time.monotonic() - before
        expect([result.status_code for result in results] == [OK, LATE, NOT_FOUND, INVALID, INVALID, OK], str(results))
        expect([result.call_id for result in results] == [f"call{i}" for i in range(6)], str(results))
        expect(results[5].text == "42" and took < 5 * SLOW, f"{results[5]} after {took:.1f} s")

    @check("an unknown tool is answered with the nearest name, of those that were offered")
    def _():
        expect("did you mean 'clock'?" in runner.one("clok", {}).message, runner.one("clok", {}).message)
        message = runner.one("clok", {}, allowed=["calculate"]).message
        expect("clock" not in message, message)

    @check("a tool that was not offered is not run")
    def _():
        denied, allowed = runner.run(("clock", {}), ("calculate", {"expression": "1"}), allowed=["calculate"])
        expect((denied.status_code, allowed.status_code) == (DENIED, OK), f"{denied} {allowed}")

    @check("arguments that are long together are read by a worker thread, and each call is still told of its own")
    def _():
        before = runner.metric("renga_jobs_total")
        results = runner.run(*[("calculate", {"expression": "1", "x": "x" * 1000})] * 8, ("calculate", {"expression": "6*7"}))
        expect([result.status_code for result in results] == [INVALID] * 8 + [OK], str(results))
        wait_until(lambda: runner.metric("renga_jobs_total") == before + 1, "no worker has read them")  # counted after the reply

    @check("a call that has ended is answered from the record, and its tool does not run again")
    def _():
        first = runner.one("odd__count", {"file": file}, key="k1")
        again = runner.one("odd__count", {"file": file}, key="k1")
        expect((first.text, again.text, lines(file)) == ("1 times", "1 times", 1), f"{first} {again} {lines(file)}")
        expect(not first.recorded and again.recorded, f"{first} {again}")

    @check("more calls under the same key run those that are new")
    def _():
        results = runner.run(("odd__count", {"file": file}), ("odd__count", {"file": file}), key="k1")
        expect([result.recorded for result in results] == [True, False] and lines(file) == 2, str(results))

    @check("the same key with other arguments is refused, and nothing runs")
    def _():
        before = lines(file)
        refused(lambda: runner.run(("odd__count", {"file": file, "ms": 1}), key="k1"), Code.INVALID_ARGUMENT,
                "calls[0].call")
        expect(lines(file) == before, "it ran")

    @check("identical requests at the same time run once, and all have the result")
    def _():
        path = f"{runner.folder}/twins"
        calls = [runner.begin(("odd__count", {"file": path, "ms": 200}), key="twins") for _ in range(20)]
        results = [call.result().results[0] for call in calls]
        expect({result.text for result in results} == {"1 times"} and lines(path) == 1, str(results[:3]))
        expect(sum(result.recorded for result in results) == 19, "more than one ran")

    @check("the record outlives kill -9 of an idle process")
    def _():
        before = lines(file)
        runner.restart()
        result = runner.one("odd__count", {"file": file}, key="k1")
        expect(result.recorded and result.text == "1 times" and lines(file) == before, str(result))

    @check("a newer owner of a run shuts out an older one, also after a restart")
    def _():
        call = ("calculate", {"expression": "1"})
        runner.run(call, run="r1", thread="t1", token=5)
        runner.run(call, run="r1", thread="t1", token=7)
        refused(lambda: runner.run(call, run="r1", thread="t1", token=6), Code.ABORTED, "fencing_token 6")
        runner.restart()
        refused(lambda: runner.run(call, run="r1", thread="t1", token=5), Code.ABORTED, "7 has called since")
        runner.run(call, run="r1", thread="t1", token=7)
        runner.run(call, run="r2", thread="t1", token=1)
        runner.run(call, run="r1", thread="t1")

    @check("a thread that is forgotten is known no more: neither its results nor its owners")
    def _():
        path = f"{runner.folder}/forget"
        for key in ("f1", "f2", "f3"):
            runner.one("odd__count", {"file": path}, key=key, thread="secret", run="r", token=9)
        runner.one("odd__count", {"file": path}, key="f4", thread="other")
        expect(runner.forget("secret").tool_results == 3, "not three were removed")
        expect(runner.forget("secret").tool_results == 0, "some were left")
        again = runner.one("odd__count", {"file": path}, key="f1", thread="secret", run="r", token=1)
        other = runner.one("odd__count", {"file": path}, key="f4", thread="other")
        expect(not again.recorded and other.recorded, f"{again} {other}")

    @check("notes are kept over a restart, replaced under their number, and refused to an older owner")
    def _():
        def save(thread="n1", token=0, **note):
            return runner.method("SaveNote", "SaveNoteRequest", "SaveNoteResponse")(
                message("SaveNoteRequest")(thread_id=thread, note={"run_id": "r", **note}, fencing_token=token), timeout=20 * SLOW)

        def notes(thread="n1", **more):
            return runner.method("ListNotes", "ListNotesRequest", "ListNotesResponse")(
                message("ListNotesRequest")(thread_id=thread, **more), timeout=20 * SLOW, wait_for_ready=True)
        replaced = [save(step_no=step, summary_md=text, token=7).replaced for step, text in ((300, "b"), (2, "a"), (300, "c"))]
        expect(replaced == [False, False, True], str(replaced))
        first = notes().notes
        runner.restart()
        expect([(n.step_no, n.summary_md) for n in notes().notes] == [(2, "a"), (300, "c")], str(notes()))
        save(step_no=2, summary_md="d")
        expect(notes().notes[0].created_ms == first[0].created_ms > 0, "the time of a note changes with it")
        refused(lambda: save(step_no=3, token=6), Code.ABORTED, "fencing_token 6")
        refused(lambda: runner.run(("calculate", {"expression": "1"}), run="r", thread="n1", token=6), Code.ABORTED, "7 has called")
        for fields, named in (({"step_no": 0}, "note.step_no"), ({"step_no": 1, "summary_md": "x" * 65537}, "note.summary_md"),
                              ({"step_no": 1, "thread": ""}, "thread_id"), ({"step_no": 1, "sources": [{}] * 65}, "note.sources")):
            refused(lambda: save(**fields), Code.INVALID_ARGUMENT, named)
        for token in ("nonsense", "r:", "r:0", "r:9999999999", ":x"):
            refused(lambda: notes(page_token=token), Code.OUT_OF_RANGE, "page_token")
        refused(lambda: notes(page_size=501), Code.INVALID_ARGUMENT, "page_size")
        save("n1x", step_no=1)
        begun = [runner.method("SaveNote", "SaveNoteRequest", "SaveNoteResponse").future(message("SaveNoteRequest")(
            thread_id="n2", note={"step_no": step + 1}), timeout=20 * SLOW) for step in range(1200)]  # more than a page of rows
        expect(all(call.result() for call in begun), "a note was not kept")
        expect(runner.forget("n1").notes == 2 and len(notes("n1x").notes) == 1, "the wrong notes went")
        expect(runner.forget("n2").notes == 1200 and not notes("n2").notes, "some were left")

    @check("what a caller leaves running is stopped, and in doubt for one that comes back")
    def _():
        path = f"{runner.folder}/left"
        call = runner.begin(("odd__count", {"file": path, "ms": 3000}), key="left")
        wait_until(lambda: lines(path) == 1, "it runs", 10 * SLOW)
        call.cancel()
        result = runner.one("odd__count", {"file": path, "ms": 3000}, key="left")
        expect(result.status_code == ABORTED and result.in_doubt and lines(path) == 1, str(result))

    @check("without side effects it simply runs again")
    def _():
        call = runner.begin(("odd__slow", {"ms": 3000}), key="pure")
        wait_until(lambda: runner.metric("renga_tool_in_flight") == 1, "it runs", 10 * SLOW)
        call.cancel()
        wait_until(lambda: runner.metric("renga_tool_in_flight") == 0, "it is stopped", 10 * SLOW)
        result = runner.one("odd__slow", {"ms": 1}, key="pure")  # nothing of the first is recorded, not even its arguments
        expect(result.status_code == OK and not result.recorded, str(result))

    @check("many results together stay within 3 MiB, and small ones keep what they have")
    def _():
        big = ("odd__big", {"size": 1_000_000}, {"output_max_bytes": 1_000_000})
        results = runner.run(*[big] * 6, ("calculate", {"expression": "1"}))
        size = message("RunToolsResponse")(results=results).ByteSize()
        expect(size <= 3 << 20 and results[6].text == "1" and not results[6].truncated, f"{size} bytes")
        expect(all(result.truncated and len(result.text) > 100_000 for result in results[:6]), "not each has its share")

    @check("a wrong request is refused with the field that is wrong")
    def _():
        call = ("calculate", {"expression": "1"})
        wrong = {"calls": [], "calls[1].call.id": [call, call], "calls[0].timeout_ms": [(*call, {"timeout_ms": 600001})],
                 "calls[0].output_max_bytes": [(*call, {"output_max_bytes": -1})]}
        for field, calls in wrong.items():
            refused(lambda: runner.run(*calls, ids=["same"] * 2), Code.INVALID_ARGUMENT, field)
        refused(lambda: runner.run(call, key="k" * 129), Code.INVALID_ARGUMENT, "idempotency_key")
        refused(lambda: runner.run(call, token=-1), Code.INVALID_ARGUMENT, "fencing_token")
        refused(lambda: runner.run(call, allowed=["x" * 65]), Code.INVALID_ARGUMENT, "allowed_tools[0]")
        refused(lambda: runner.forget(""), Code.INVALID_ARGUMENT, "thread_id")

    @check("what a model may write as a name or as arguments never ends more than its own call")
    def _():
        names = ["", "x" * 5000, "a\nb", "odd__", "odd__nothing", "__", "../etc", "日本語"]
        for result in runner.run(*[(name, {}) for name in names]):
            expect(result.status_code == NOT_FOUND and len(result.message.encode()) <= 1024, str(result)[:300])
        texts = ["[", "[]", "1", "null", "{\"a\":" * 5000, '{"expression":1}', '{"expression":"1","expression":"2"}',
                 '{"expression":"\\u0000"}', "{}"]
        for result in runner.run(*[("calculate", text) for text in texts]):
            expect(result.status_code == INVALID and result.message, str(result)[:300])

with Runner({"odd": odd()}, "--tool_runner.in_flight=2", "--tool_runner.queue=2", "--tool_runner.queue_wait=300ms") as runner:
    @check("as many run and wait as may; more are sent away at once, and so are those that wait too long")
    def _():
        results = runner.run(*[("odd__slow", {"ms": 900})] * 7)
        codes = sorted(result.status_code for result in results)
        expect(codes == [OK] * 2 + [EXHAUSTED] * 5, f"{codes}")
        texts = [result.message for result in results if result.status_code]
        expect(sum("within 300 ms" in text for text in texts) == 2, f"{texts}")
        expect(runner.metric("renga_tool_refused_total") == 3, f"{runner.metric('renga_tool_refused_total')}")

    @check("what found no place was not run, and may be tried again under the same key")
    def _():
        path = f"{runner.folder}/places"
        slow = runner.begin(*[("odd__slow", {"ms": 900})] * 2)
        wait_until(lambda: runner.metric("renga_tool_in_flight") == 2, "all places are taken", 10 * SLOW)
        first = runner.one("odd__count", {"file": path}, key="again")
        expect(first.status_code == EXHAUSTED, str(first))
        slow.result()
        second = runner.one("odd__count", {"file": path}, key="again")
        expect(second.text == "1 times" and not second.recorded, str(second))

with Runner({"odd": odd()}) as runner:
    @check("a call whose record is damaged is refused and does not run again; a damaged note is told, others are given")
    def _():
        path = f"{runner.folder}/damaged"
        runner.one("odd__count", {"file": path}, key="damaged")
        save = runner.method("SaveNote", "SaveNoteRequest", "SaveNoteResponse")

        def listed(thread):
            return runner.method("ListNotes", "ListNotesRequest", "ListNotesResponse")(message("ListNotesRequest")(thread_id=thread))

        for thread in ("damaged", "whole"):
            save(message("SaveNoteRequest")(thread_id=thread, note=message("Note")(step_no=3, summary_md="moon")))
        runner.kill(signal.SIGTERM)
        whole = {}
        with sqlite3.connect(f"{runner.folder}/record.db") as store:
            for key, value in store.execute("SELECT key, value FROM kv").fetchall():
                if b"damaged" in key and key[:1] in b"CN":
                    whole[key] = value
        expect(len(whole) == 2, f"{list(whole)}")
        for at in (0, 1, 20, 45, -1):  # form, state, digest, checksum, result
            with sqlite3.connect(f"{runner.folder}/record.db") as store:
                for key, value in whole.items():
                    changed = bytearray(value)
                    changed[at if at < 0 else at % len(value)] ^= 4
                    store.execute("UPDATE kv SET value = ? WHERE key = ?", (bytes(changed), key))
            runner.start()
            refused(lambda: runner.one("odd__count", {"file": path}, key="damaged"), Code.DATA_LOSS, "damaged")
            refused(lambda: listed("damaged"), Code.DATA_LOSS, "step 3")
            expect(listed("whole").notes[0].summary_md == "moon", "the other note")
            expect(lines(path) == 1, "it ran again")
            runner.kill(signal.SIGTERM)
        with sqlite3.connect(f"{runner.folder}/record.db") as store:
            store.executemany("UPDATE kv SET value = ? WHERE key = ?", [(value, key) for key, value in whole.items()])
        runner.start()
        expect(runner.one("odd__count", {"file": path}, key="damaged").recorded, "the record is not read any more")

    @check("over kill -9 deleted notes are in no file of the record, though nobody asks for anything after the start")
    def _():
        secret = "the-frog-jumps-into-the-old-pond"

        def found():
            return [name for name in os.listdir(runner.folder) if name.startswith("record.db") and
                    secret.encode() in open(f"{runner.folder}/{name}", "rb").read()]

        for number in range(20):  # until the kill comes before the log is cut, a fifth of a second after the deletion
            save = runner.method("SaveNote", "SaveNoteRequest", "SaveNoteResponse")
            save(message("SaveNoteRequest")(thread_id=f"pond-{number}", note=message("Note")(step_no=1, summary_md=secret)))
            time.sleep(0.3)
            runner.forget(f"pond-{number}")
            runner.kill(signal.SIGKILL)
            if found():
                break
            runner.start()
        expect(found(), "no kill was early enough: the check asks nothing")
        runner.start()
        wait_until(lambda: not found(), f"{found()} still have what was deleted", 20 * SLOW)

    @check("over kill -9 at any moment no tool with side effects runs twice under one key")
    def _():
        doubts = recorded = 0
        for i in range(12):
            path = f"{runner.folder}/crash{i}"
            call = runner.begin(("odd__count", {"file": path, "ms": 20}), key=f"crash{i}")
            until = time.monotonic() + 0.008 * i * SLOW
            if i % 3 == 0:
                wait_until(lambda: lines(path), "it runs", 20 * SLOW, 0.001)
            while time.monotonic() < until:
                time.sleep(0.001)
            runner.kill(signal.SIGKILL)
            call.cancel()
            runner.start()
            result = runner.one("odd__count", {"file": path, "ms": 20}, key=f"crash{i}")
            expect(lines(path) <= 1, f"it ran {lines(path)} times after {i} kills")
            expect(result.in_doubt or result.text == "1 times", str(result))
            doubts += result.in_doubt
            recorded += result.recorded
        expect(doubts, "no kill hit a running tool: the check asks nothing")
        return f"{doubts} in doubt, {recorded} recorded"

checks.finish()
