"""Where the time of a recovery goes: what the processes' logs, the nodes' journal and the clients tell of it, on one clock
(CLOCK_MONOTONIC). Of each recovery the run that ended last is looked at: it is what the others would have waited for."""
import calendar
import glob
import json
import os
import time
from collections import namedtuple

Mark = namedtuple("Mark", "at who what text")  # who said it, its log's id or a word of ours, and the text
LATE = 1.5  # seconds: such a recovery is told in full
SHOWN_MAX = 60  # lines of it
STAGES = ("up", "missed", "taken", "called", "ended")
IDS = {"rpc.listening", "http.listening", "members.self", "members.dead", "members.back", "owner.taken", "run.recover", "thread.lost",
       "store.redis_lost", "store.redis_found", "fanout.broken", "mcp.started", "mcp.listed", "mcp.failed"}
WALL = time.time() - time.monotonic()


def since(text):
    """The moment that a log's line names."""
    return calendar.timegm(time.strptime(text[:19], "%Y-%m-%dT%H:%M:%S")) + float(text[19:23]) - WALL


class Marks:
    """What was heard since the last blow."""

    def __init__(self):
        self.all = []

    def add(self, who, what, text="", at=None):
        self.all.append(Mark(at or time.monotonic(), who, what, text))

    def heard(self, who, line):
        if '"id":"' not in line or line.split('"id":"', 1)[1].split('"', 1)[0] not in IDS:
            return
        try:
            said = json.loads(line)
        except ValueError:  # it was cut off by the kill
            return
        self.add(who, said["id"], said["text"], since(said["time"]))

    def clear(self):
        self.all = []

    def of(self, *what):
        return [mark for mark in list(self.all) if mark.what in what]


class Hunger:
    """How long threads waited for a processor: the hungriest one of each process."""

    def __init__(self, processes):
        self.processes = processes
        self.before = self.read()

    def read(self):
        waited = {}
        for name, pid in self.processes().items():
            for path in glob.glob(f"/proc/{pid}/task/*/schedstat"):
                try:
                    with open(path) as file:
                        waited[name, path] = int(file.read().split()[1]) / 1e9
                except OSError:  # it has just ended
                    pass
        return waited

    def worst(self):
        found = {}
        for (name, path), seconds in self.read().items():
            found[name] = max(found.get(name, 0), seconds - self.before.get((name, path), 0))
        return found


def after(marks, began, run=None):
    """The first such moment behind the blow, in seconds; None where there was none. `run`: of its thread alone."""
    found = [mark.at - began for mark in marks if mark.at >= began and (run is None or f"t-{run.name} " in mark.text)]
    return min(found, default=None)


def stages(marks, blow, run, attempts):
    """When each stage was reached, in seconds from the restart on."""
    up = [mark.at - blow.began for mark in marks.of("listens", "http.listening") if mark.at >= blow.began]
    taken = after(marks.of("owner.taken"), blow.began, run)
    if taken is None:
        taken = after(marks.of("run.recover"), blow.began)
    missed = [mark.at - blow.began for mark in marks.of("members.dead") if mark.at >= blow.began]
    missed = [at for at in missed if taken is not None and at <= taken + 0.002]  # later ones are of others
    called = min((entry["at"] - blow.began for entry in attempts if entry["run"] == run.run_id and entry["at"] >= blow.began), default=None)
    reached = (max(up, default=None), max(missed, default=None), taken, called, (run.ended_at or time.monotonic()) - blow.began)
    return dict(zip(STAGES, reached))


def place_of(entry):
    return (f"{entry['attempt']} at {entry['path']}{entry['node']} of step {entry['step']}, branch {entry['branch']}, "
            f"token {entry['token']}{', stale' if entry['stale'] else ''}")


def story(marks, blow, run, attempts):
    """What happened, in order, as lines."""
    told = [mark for mark in marks.all if mark.what != "owner.taken" or f"t-{run.name} " in mark.text]
    told += [Mark(at, "client", *said) for at, *said in run.calls]
    told += [Mark(entry["at"], "nodes", "attempt", place_of(entry)) for entry in attempts if entry["run"] == run.run_id]
    told += [Mark(at, "client", "saw", f"{kind} ({event.event_id})") for at, kind, event in run.events if kind not in ("token", "progress")]
    first = min((mark.at for mark in marks.all), default=blow.began)  # of several blows
    told = without_repeats(sorted(mark for mark in told if mark.at > first - 0.3))
    lines = [f"{mark.at - blow.began:+.3f} {mark.who}: {mark.what} {mark.text[:150]}" for mark in told]
    cut = len(lines) - SHOWN_MAX
    return lines if cut <= 0 else lines[:SHOWN_MAX // 2] + [f"({cut} lines)"] + lines[-SHOWN_MAX // 2:]


def without_repeats(marks):
    """A client that asks and is refused over and over tells it once for each answer."""
    last, kept = {}, []
    for mark in marks:
        vain = mark.what in ("watches", "asks for", "was refused")
        if vain and last.get(mark.what) == mark.text:
            continue
        last = {**last, mark.what: mark.text} if vain else {}
        kept.append(mark)
    return kept


def print_late(marks, blow, run, attempts, hunger, reached):
    load = os.getloadavg()[0]
    waited = ", ".join(f"{name} {seconds:.2f}" for name, seconds in sorted(hunger.items()) if seconds >= 0.05) or "nobody"
    print(f"# {reached:.2f} s from the restart of {' and '.join(blow.names)} ({blow.kind}) to the end of a run ({run.shape} "
          f"{run.name}); load {load:.0f}, waited for a processor: {waited}", flush=True)
    for line in story(marks, blow, run, attempts):
        print(f"#   {line}", flush=True)


def table(rows):
    """Of rows (kind, {stage: seconds or None}, seconds that processes waited for a processor): quantiles of each by kind."""
    lines = [f"{'seconds from the restart on, p50 p90 max':42}" + "".join(f"{name:>18}" for name in (*STAGES, "starved"))]
    for kind in sorted({kind for kind, _, _ in rows}):
        of_kind = [(reached, starved) for name, reached, starved in rows if name == kind]
        columns = [[reached[stage] for reached, _ in of_kind if reached[stage] is not None] for stage in STAGES]
        columns.append([starved for _, starved in of_kind])
        lines.append(f"{f'{kind} ({len(of_kind)})':42}" + "".join(f"{quantiles(column):>18}" for column in columns))
    return lines


def quantiles(values):
    ordered = sorted(values)
    return " ".join(f"{ordered[min(int(len(ordered) * q), len(ordered) - 1)]:.2f}" for q in (0.5, 0.9, 1)) if ordered else "-"
