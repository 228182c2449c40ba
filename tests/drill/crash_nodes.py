#!/usr/bin/python3
"""The nodes of the crash drill, a process of their own that may be killed:

    crash_nodes.py PORT JOURNAL

It writes each attempt into the journal when it begins and when its effect is done, a line of JSON each, and does no effect
twice under one key: an attempt with a key whose effect stands in the journal is answered from there. What was written
outlives the process. An attempt of an owner that has been overtaken (its fencing token is smaller than one the run has come
with) is refused, and is `stale` in the journal. Times are CLOCK_MONOTONIC, so that they compare with the drill's own."""
import json
import os
import random
import sys
import threading
import time
from concurrent import futures

import grpc

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from contract import message  # noqa: E402

BRANCHES = 12


def note(request, state):
    """Leaves the node's number in the trail."""
    return {"trail": [int(request.position.node[1:])], "ballast": os.urandom(state.get("size", 0) // 2).hex()}


def spread(request, state):
    return {"trail": [0]}


def branch(request, state):
    return {"got": [state["i"]]}


def double(request, state):
    return {"x": 2 * state["item"]}


WORK = {"note": note, "spread": spread, "branch": branch, "double": double}


class Journal:
    def __init__(self, path):
        self.lock, self.effects, self.tokens = threading.Lock(), {}, {}
        if os.path.exists(path):
            with open(path) as file:
                for line in file:
                    entry = json.loads(line) if line.endswith("\n") else {}  # the last one may be cut off by a kill
                    if "update" in entry:
                        self.effects[entry["key"]] = entry["update"]
                    elif entry:
                        self.tokens[entry["run"]] = max(entry["token"], self.tokens.get(entry["run"], 0))
        self.file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def write(self, **entry):
        os.write(self.file, json.dumps({"at": time.monotonic(), **entry}).encode() + b"\n")

    def begin(self, request):
        """False where the run has another owner by now."""
        place, token = request.position, request.fencing_token
        with self.lock:
            stale = token < self.tokens.setdefault(place.run_id, token)
            self.tokens[place.run_id] = max(token, self.tokens[place.run_id])
            self.write(key=request.idempotency_key, attempt=request.attempt, run=place.run_id, path=place.path, step=place.step,
                       node=place.node, branch=place.branch, token=token, stale=stale)
        return not stale

    def effect(self, key, make):
        with self.lock:
            done = self.effects.get(key)
            if done is None:
                done = self.effects[key] = make()
                self.write(key=key, update=done)
        return done


journal = Journal(sys.argv[2])


def answer(request, context):
    if not journal.begin(request):
        context.abort(grpc.StatusCode.ABORTED, "the run has another owner")
    time.sleep(random.random() * 0.03)
    done = journal.effect(request.idempotency_key, lambda: WORK[request.function](request, json.loads(request.state_json or "{}")))
    response = message("RunNodeResponse")(update_json=json.dumps({k: v for k, v in done.items() if k != "ballast" or v}))
    if request.function == "spread":
        for i in range(BRANCHES):
            response.sends.add(node="w", input_json=json.dumps({"i": i}))
    time.sleep(random.random() * 0.02)  # done, and nobody has heard of it
    return response


def stream(request, context):
    event = message("RunNodeEvent")
    for i in range(3):
        yield event(progress_json=f"{i}")
        yield event(token={"text": f"token {i}"})
    yield event(result=answer(request, context))


server = grpc.server(futures.ThreadPoolExecutor(100), options=[("grpc.so_reuseport", 0)])
server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("renga.v1.NodeService", {
    "Run": grpc.unary_unary_rpc_method_handler(answer, message("RunNodeRequest").FromString,
                                               message("RunNodeResponse").SerializeToString),
    "RunStream": grpc.unary_stream_rpc_method_handler(stream, message("RunNodeRequest").FromString,
                                                      message("RunNodeEvent").SerializeToString)}),))
if not server.add_insecure_port(f"127.0.0.1:{sys.argv[1]}"):
    sys.exit("the port is taken")
server.start()
print("listening", flush=True)
server.wait_for_termination()
