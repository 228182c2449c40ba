#!/usr/bin/python3
"""Indexing as an operator meets it: kills, two processes on one file, many files, the terminal."""
import json
import os
import pty
import random
import re
import shutil
import subprocess
import tempfile
import threading
import time

import grpc

from runner import BIN, SLOW, Runner, check, checks, expect, message, wait_until

MEMORY = "--tool_runner.record=memory:"  # a record belongs to one process alone
# In memory where that can be: ten thousand files are soon made there.
top = tempfile.mkdtemp(prefix="renga-index-", dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None)


def make_files(name, count, per_file=1):
    folder = f"{top}/{name}"
    for number in range(count):
        os.makedirs(f"{folder}/{number % 100:02d}", exist_ok=True)
        with open(f"{folder}/{number % 100:02d}/{number}.md", "w") as file:
            file.write(f"# Document {number}\n\n" + "\n\n".join(f"unique{number}x{part} has words about topic {number % 7}" for part in range(per_file)))
    return folder


def renga(*arguments, **options):
    return subprocess.run([f"{BIN}/renga", "index", *arguments], capture_output=True, text=True, timeout=120, cwd=top, **options)


FILES = 4500 if SLOW > 1 else 10000


@check(f"{FILES} small files are indexed, and skipped as unchanged when asked again")
def _():
    folder = make_files("many", FILES)
    with Runner(roots=[top]) as runner:
        last, skipped = runner.index("many", folder)
        expect(last.done and last.files_done == FILES and last.paragraphs == FILES and not skipped, f"the last message was {last}")
        again, _ = runner.index("many", folder)
        expect(again.files_unchanged == FILES and again.paragraphs == 0, f"again it was {again}")
        for number in (0, FILES // 2, FILES - 1):
            hit = runner.search(f"unique{number}x0").hits[0]
            expect(hit.uri.endswith(f"/{number}.md") and hit.line_from == 3, f"{number} was found in {hit.uri}:{hit.line_from}")
        file = f"{runner.folder}/knowledge.db"
        full = os.path.getsize(file)
        runner.method("DeleteDocuments", "DeleteDocumentsRequest", "DeleteDocumentsResponse")(message("DeleteDocumentsRequest")(collection="many"), timeout=60)
        rest = os.path.getsize(file) + os.path.getsize(f"{file}-wal")
        expect(rest < full / 5, f"the file had {full} bytes, and {rest} after all documents were deleted")


@check("progress comes about ten times a second and only grows")
def _():
    with Runner(roots=[top]) as runner:
        began, messages = time.monotonic(), []
        for message in runner.index_stream("many", f"{top}/many"):
            messages.append((time.monotonic() - began, message.files_done, message.done))
        expect([m[1] for m in messages] == sorted(m[1] for m in messages), "files_done went back")
        expect([m[2] for m in messages].count(True) == 1 and messages[-1][2], "the last message alone has `done`")
        expect(len(messages) <= 15 * messages[-1][0] + 3, f"{len(messages)} messages in {messages[-1][0]:.2f} s")


KILLS = 4 if SLOW > 1 else 5


@check("what was told as done is there after kill -9 at any moment, whole, and the same call does the rest")
def _():
    state, chance, in_the_middle = f"{top}/state", random.Random(7), 0
    os.mkdir(state)
    for attempt in range(KILLS):
        runner = Runner(folder=state, roots=[top])
        killer = threading.Timer(chance.uniform(0.02, 0.4), runner.process.kill)
        told, whole = 0, False
        killer.start()
        try:
            for message in runner.index_stream("killed", f"{top}/many", rebuild=attempt > 0):
                told, whole = message.files_done, message.done
        except grpc.RpcError as error:
            expect(error.code() == grpc.StatusCode.UNAVAILABLE, f"it ended with {error.code()}: {error.details()}")
        killer.cancel()
        runner.kill()
        in_the_middle += not whole
        with Runner(folder=state, roots=[top]) as after:
            kept = after.collections().get("killed")
            expect(not told or kept and kept.documents >= told, f"{told} were told as done, {kept and kept.documents} are there")
            expect(not kept or kept.paragraphs == kept.documents, f"a document is there in part: {kept}")
    expect(in_the_middle > 0, f"only {in_the_middle} of {KILLS} kills were in time")
    with Runner(folder=state, roots=[top]) as runner:
        last, _ = runner.index("killed", f"{top}/many")
        kept = runner.collections()["killed"]
        expect(last.done and kept.documents == FILES and kept.paragraphs == FILES, f"in the end there are {kept}")
        for number in range(0, FILES, FILES // 7):
            hits = runner.search(f"unique{number}x0", limit=2).hits
            expect(hits and hits[0].snippet.startswith(f"unique{number}x0 "), f"{number} is not found")
    return f"{in_the_middle} of {KILLS} in the middle"


@check("of two processes on one file the second that writes a collection is told so at once")
def _():
    folder = make_files("two", 400, per_file=80)
    state = f"{top}/state-two"
    make_files("few", 3)
    os.mkdir(state)
    with Runner(None, MEMORY, folder=state, roots=[top]) as one, Runner(None, MEMORY, folder=state, roots=[top]) as other:
        stream = one.index_stream("two", folder)
        next(stream)
        try:
            last, _ = other.index("two", folder)
            refused = None
        except grpc.RpcError as error:
            refused = error
        expect(refused and refused.code() == grpc.StatusCode.ABORTED, f"it was {refused or 'let in'}")
        elsewhere, _ = other.index("elsewhere", f"{top}/few")
        expect(elsewhere.done, "another collection is not written meanwhile")
        *_, last = stream
        expect(last.done and other.search("unique7x7").hits, "what one wrote the other does not find")


@check("an indexing whose caller leaves ends soon and lets the next one in")
def _():
    with Runner(roots=[top]) as runner:
        stream = runner.index_stream("left", f"{top}/two", rebuild=True)
        next(stream)
        stream.cancel()

        def free():
            try:
                return runner.index("left", f"{top}/two")
            except grpc.RpcError as error:
                expect(error.code() == grpc.StatusCode.ABORTED, f"it ended with {error.code()}")
        last, _ = wait_until(free, "the collection was not free", 10)
        expect(last.done and last.files_done == 400, f"the last message was {last}")


# ---- the terminal ----------------------------------------------------------------------------------------------------


@check("renga index names the collection for the folder and prints lines in a pipe")
def _():
    folder = f"{top}/My Docs"
    os.makedirs(folder)
    with open(f"{folder}/a.md", "w") as file:
        file.write("# A\n\ntext of a")
    with open(f"{folder}/b.png", "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n\0\0\xff")
    done = renga(folder, "--tool_runner.store=cli.db")
    expect(done.returncode == 0, f"it ended with {done.returncode}: {done.stderr}")
    expect(re.search(r"^skipped b\.png: is a PNG image, which is not read", done.stdout, re.M), done.stdout)
    expect(re.search(r"^my-docs: 2 files \(0 unchanged, 0 removed, 1 skipped\), 1 paragraphs written in", done.stdout, re.M), done.stdout)
    expect("\033" not in done.stdout, "there are escape sequences in the pipe")
    with Runner(None, f"--tool_runner.store={top}/cli.db") as runner:
        expect(runner.search("text", collections=["my-docs"]).hits[0].uri == "a.md", "a server does not find it")


@check("renga index --json prints a message a line, and --collection names it")
def _():
    done = renga(f"{top}/My Docs", "--json", "--collection", "named", "--tool_runner.store=sqlite:cli.db")
    expect(not os.path.exists(f"{top}/sqlite:cli.db"), "the name of the kind is in the file's name")
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    expect(done.returncode == 0 and lines[-1]["done"] is True and lines[-1]["files_done"] in (2, "2"), done.stdout)


@check("renga index draws a bar on a terminal")
def _():
    primary, secondary = pty.openpty()
    process = subprocess.Popen([f"{BIN}/renga", "index", f"{top}/two", "--tool_runner.store=cli.db"], cwd=top, stdout=secondary, stderr=secondary)
    os.close(secondary)
    shown = b""
    try:
        while piece := os.read(primary, 65536):
            shown += piece
    except OSError:
        pass
    expect(process.wait(60) == 0, shown.decode()[-300:])
    expect(b"two: 400 files" in shown and b"\r\033[K" in shown, shown.decode()[-300:])


@check("renga index says what is wrong with exit codes that scripts can use")
def _():
    for arguments, code, part in (([], 2, "give one folder"), ([f"{top}/none"], 2, "there is no folder"),
                                  ([f"{top}/My Docs", "--tool_runner.store=cli.db", "--collection=No!"], 1, "collection: is 'No!'"),
                                  ([f"{top}/My Docs", "--tool_runner.store=sqlite:/proc/none/x.db"], 1, "/proc/none/x.db"),
                                  ([f"{top}/My Docs", "--tool_runner.store=/proc/none/x.db"], 1, "UNAVAILABLE"),
                                  ([f"{top}/My Docs", "--tool_runner.store=sqlite:"], 2, "names no file; give sqlite:FILE"),
                                  ([f"{top}/My Docs", "--tool_runner.store=redis://127.0.0.1:6379"], 2, "in SQLite alone; give sqlite:FILE")):
        done = renga(*arguments)
        expect(done.returncode == code and part in done.stderr, f"{arguments}: {done.returncode}: {done.stderr}")
        told = [line for line in done.stderr.splitlines() if line.startswith("renga index: UNAVAILABLE")]
        expect(not any("/proc" in line for line in told), f"the text that callers get names a path of the server: {told}")


shutil.rmtree(top)
checks.finish()
