"""What must hold of a run, whatever was killed: judged from the ledger of its client, the journal of the nodes, and what the
orchestrator says afterwards. Each finding is a sentence; none is what is wanted."""
import json
import time

import grpc

from crash_load import KEPT
from harness import SLOW, message, word


def place_of(entry):
    return entry["run"], entry["path"], entry["step"], entry["node"], entry["branch"]


def patiently(ask):
    """Asks again where whoever was asked has not come back yet, or does not know yet who has the thread."""
    until = time.monotonic() + 10 * SLOW
    while True:
        try:
            return ask()
        except grpc.RpcError as error:
            if error.code() != grpc.StatusCode.UNAVAILABLE or time.monotonic() > until:
                raise
        time.sleep(0.02)


def judge_run(run, site):
    """What is wrong with one run."""
    if run.fault:
        return [f"it did not end: {run.fault}"]
    state, reason = word("RunState", run.stopped.state), word("StopReason", run.stopped.stop_reason)
    if state != "RUN_STATE_SUCCEEDED":
        return [f"it ended as {state}, {reason}: {run.stopped.stop_text}"]
    wrong = run.wrong_output(json.loads(patiently(lambda: site.api.get(message("Run")(run_id=run.run_id))).output_json))
    return ([wrong] if wrong else []) + judge_stream(run, site) + judge_acknowledged(run, site)


def judge_stream(run, site):
    """What was shown over all the breaks is what stands in the log: once, in order, and nothing else."""
    shown, ids = run.kept(), [event.event_id for _, _, event in run.events]
    faults = [] if all(a < b for a, b in zip(ids, ids[1:])) else [f"events came twice or out of order: {ids}"]
    if any(event.provisional for event in shown):
        faults.append("an event that is kept was shown before it was")
    told = patiently(lambda: list(site.api.watch(message("Run")(run_id=run.run_id))))
    stands = [event for event in told if event.WhichOneof("event") in KEPT]
    was, now = ({event.event_id: without_output(event) for event in events} for events in (shown, stands))
    if was != now:
        faults.append(f"shown and gone: {sorted(was.keys() - now.keys())}; never shown: {sorted(now.keys() - was.keys())}; shown "
                      f"otherwise: {[f'{was[i]}, now {now[i]}' for i in was.keys() & now.keys() if was[i] != now[i]][:2]}")
    return faults


def without_output(event):
    """The output of a run stands in the run; a stream that is read again does not have it."""
    if event.WhichOneof("event") == "stopped":
        for field in ("output_json", "output_omitted", "usage", "degradations"):
            event.stopped.ClearField(field)
    return event


def judge_acknowledged(run, site):
    """There is one run under its request, and it has its answer."""
    runs = patiently(lambda: site.api.ask("ListRuns", thread_id=f"t-{run.name}").runs)
    faults = [] if [r.run_id for r in runs] == [run.run_id] else [f"its request made {[r.run_id for r in runs]}"]
    answers = [e for e in run.kept() if e.WhichOneof("event") == "answered"]
    if run.shape == "asks" and len(answers) != 1:
        faults.append(f"it was answered {len(answers)} times")
    return faults


def judge_attempts(attempts, runs):
    """Of all runs: no committed step runs again, a place has one key and a key one place, attempts count up; attempts of an
    owner that had been overtaken, which nodes refuse, are left out. Gives the findings, and how many attempts were repeated."""
    faults, keys, places, last, furthest, repeated = [], {}, {}, {}, {}, 0
    committed = {run.run_id: commits(run) for run in runs}
    for entry in attempts:
        if entry["run"] not in committed or entry["stale"]:
            continue
        place, key = place_of(entry), entry["key"]
        repeated += place in last
        if keys.setdefault(place, key) != key or places.setdefault(key, place) != place:
            faults.append(f"{place} has the keys {keys[place]} and {key}")
        if entry["attempt"] <= last.get(place, 0):
            faults.append(f"attempt {entry['attempt']} at {place} came after attempt {last[place]}")
        last[place] = entry["attempt"]
        here = place[:2]
        if entry["step"] < furthest.get(here, 0):
            faults.append(f"{place} ran after step {furthest[here]} had begun")
        furthest[here] = max(furthest.get(here, 0), entry["step"])
        for at, path, step, node, branch in committed[entry["run"]]:
            if at < entry["at"] and path == entry["path"] and (step > entry["step"] if node is None else
                                                              (step, node, branch) == place[2:]):
                faults.append(f"{place} ran again {entry['at'] - at:.3f} s after it was shown as committed")
    return faults, repeated


def commits(run):
    """When, path, step, node, branch of what was shown as finished, and of steps that were shown as ended (node None; all
    below that number)."""
    found = []
    for at, kind, event in run.events:
        if kind == "node_finished":
            found.append((at, event.path, event.step, event.node, event.branch))
        if kind == "checkpoint":
            found.append((at, event.checkpoint.path, event.checkpoint.step + 1, None, None))
    return found


def is_gone(site, thread_id):
    try:
        patiently(lambda: site.api.ask("GetState", thread_id=thread_id))
    except grpc.RpcError as error:
        return error.code() == grpc.StatusCode.NOT_FOUND
    return False
