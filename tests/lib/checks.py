"""Checks as sentences: each prints `ok - <sentence>` or `not ok - <sentence>: <why>`; finish() ends the program with 1
where one has failed.

    @check("a unary call is answered")
    def _():
        expect(answer == 1, f"the answer was {answer}")

A check runs where it stands. What it returns, if anything, is a figure that is printed behind the sentence.

A test that starts a service has it watched. Where a check fails, what the service said last is printed behind it, and
a sanitizer's word fails the test at its end even where no check has missed the process.

    watch("the gateway", log, process)   # log: a list of lines that grows, or a function that returns the text
    log = follow("the gateway", process) # the same of a process whose standard error nobody else reads
"""
import re
import sys
import threading
import time
import traceback

TOLD_LINES = 12  # of what a service said last
REPORT_LINES = 60  # of a sanitizer's report
REPORT = re.compile(r"Sanitizer[: ]|runtime error: ")

_counts = {"ok": 0, "not ok": 0}
_watched = []


class Broken(Exception):
    """A check's reason to fail."""


def expect(condition, why):
    if not condition:
        raise Broken(why)


def record(sentence, why=None, figure=None):
    """`why` None: it holds. An empty reason is one, too: that of a check that shows an empty stderr."""
    broken = why is not None
    verdict = "not ok" if broken else "ok"
    _counts[verdict] += 1
    tail = f": {why or 'it does not hold'}" if broken else f" ({figure})" if figure else ""
    print(f"{verdict} - {sentence}{tail}", flush=True)
    for service in _watched if broken else ():
        service.tell()


class Watched:
    def __init__(self, name, log, process):
        self.name, self.log, self.process = name, log, process
        self.told = -1  # lines of the log
        self.reader = None  # the thread that reads what it says, where that is ours

    def lines(self):
        return self.log().splitlines() if callable(self.log) else [line.rstrip() for line in list(self.log)]

    def report(self):
        """A sanitizer's, as lines."""
        lines = self.lines()
        first = next((i for i, line in enumerate(lines) if REPORT.search(line)), len(lines))
        return lines[first:first + REPORT_LINES]

    def tell(self):
        """What it has said since it was last asked: the end of that, or the report."""
        lines, code = self.lines(), self.process.poll() if self.process else None
        if len(lines) > self.told:
            print(f"# {self.name} {'runs' if code is None else f'has ended with {code}'} and said:")
            for line in self.report() or lines[max(self.told, 0):][-TOLD_LINES:]:
                print(f"#   {line[:400]}", flush=True)
        self.told = len(lines)


def watch(name, log, process=None):
    _watched[:] = [service for service in _watched if service.log is not log]  # it was started again
    _watched.append(Watched(name, log, process))


def forget(process):
    """It is started again, as a process of its own."""
    _watched[:] = [service for service in _watched if service.process is not process or service.report()]


def follow(name, process, begun=()):
    """Goes on where a test has read the beginning of what its service says."""
    log = list(begun)
    reader = threading.Thread(target=lambda: log.extend(process.stderr), daemon=True)
    reader.start()
    watch(name, log, process)
    _watched[-1].reader = reader
    return log


def check(sentence):
    def at_once(function):
        try:
            figure = function()
        except Broken as broken:
            record(sentence, str(broken))
        except Exception as error:  # whatever a client library raises is a reason too
            place = traceback.extract_tb(error.__traceback__)[-1]
            record(sentence, f"{type(error).__name__}: {' '.join(str(error).split())} ({place.name}:{place.lineno})")
        else:
            record(sentence, figure=figure)
        return function

    return at_once


def wait_until(condition, why, seconds=20.0, every=0.005):
    """Waits for what is about to become true and returns it. A busy machine takes its time; a right program, hardly any."""
    until = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        expect(time.monotonic() < until, f"{why} within {seconds:g} s")
        time.sleep(every)


def finish():
    for service in list(_watched):
        if service.reader and service.process.poll() is not None:
            service.reader.join(5)  # what was said at the end may still be on its way
        if service.report():
            record(f"no sanitizer has a word to say of {service.name}", service.report()[0])
    print(f"# {_counts['ok']} ok, {_counts['not ok']} not ok", flush=True)
    sys.exit(1 if _counts["not ok"] or not _counts["ok"] else 0)
