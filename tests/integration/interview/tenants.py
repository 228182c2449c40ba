#!/usr/bin/env python3
"""Two tenants with keys of their own: no session of one is there for the other, in any method, and a name is free to both."""
import hashlib
import json
import sys

from desk import Desk, expect, form, message, refused, values
from checks import check, finish

METHODS = ["renga.v1.FormInterview/*"]


def key(name, tenant, *methods):
    return {"name": name, "tenant": tenant, "sha256": hashlib.sha256(name.encode()).hexdigest(), "methods": list(methods)}


five = sys.argv[1:] == ["five"]
SERVICE = key("services", "renga", *(f"renga.v1.{service}/{right}" for service in
                                     ("LlmGateway", "ToolRunner", "Planner", "Reviewer", "Orchestrator") for right in ("*", "forward")))
KEYS = [key("red", "red", *METHODS), key("blue", "blue", *METHODS), key("other-red", "red", *METHODS), SERVICE]
desk = Desk(f"--rpc.keys={json.dumps(KEYS)}", "--peers.key=services", store="memory:", five=five,
            peers_flags=(f"--rpc.keys={json.dumps(KEYS)}", "--peers.key=services"))
FORM = form("name:TEXT!", "mail:EMAIL!")


def by(name, method, request, timeout=60):
    """A call with the key of that name."""
    reply = {"Start": "InterviewReply", "Answer": "InterviewReply", "Confirm": "ConfirmInterviewResponse"}.get(method, f"{method}Response")
    make = desk.channel.unary_unary(f"/renga.v1.FormInterview/{method}", request_serializer=lambda one: one.SerializeToString(),
                                    response_deserializer=message(reply).FromString)
    return make(request, timeout=timeout, metadata=(("authorization", f"Bearer {name}"),), wait_for_ready=True)


def stream(name, session):
    make = desk.channel.unary_stream("/renga.v1.FormInterview/AnswerStream", request_serializer=lambda one: one.SerializeToString(),
                                     response_deserializer=message("InterviewEvent").FromString)
    return list(make(message("AnswerInterviewRequest")(session_id=session, text="x"), timeout=60,
                     metadata=(("authorization", f"Bearer {name}"),), wait_for_ready=True))


def start(name, **more):
    known = message("Bootstrap")(language="en", country="JP", timezone="Asia/Tokyo")
    return by(name, "Start", message("StartInterviewRequest")(form=FORM, bootstrap=known, **more))


def answer(name, session, text, **more):
    return by(name, "Answer", message("AnswerInterviewRequest")(session_id=session, text=text, **more))


def state(name, session):
    return by(name, "GetSession", message("GetSessionRequest")(session_id=session)).state


@check("a session of one tenant is not found by another, in any method, and stays as it was")
def _():
    start("red", session_id="mine", labels={"team": "a"})
    answer("red", "mine", "Ada Lovelace")
    before = state("red", "mine")
    for call in (lambda: state("blue", "mine"), lambda: answer("blue", "mine", "x"), lambda: stream("blue", "mine"),
                 lambda: by("blue", "Confirm", message("ConfirmInterviewRequest")(session_id="mine"))):
        refused("NOT_FOUND", call)
    for labels in ({}, {"team": "a"}):
        listed = by("blue", "ListSessions", message("ListSessionsRequest")(labels=labels)).sessions
        expect(not listed, f"the other tenant's list has {listed}")
    expect(not by("blue", "DeleteSession", message("DeleteSessionRequest")(session_id="mine")).deleted, "it was deleted")
    expect(state("red", "mine") == before, "the session is another")


@check("a name is free to each tenant, and each goes on with its own; another key of the tenant has them too")
def _():
    start("red", session_id="same")
    start("blue", session_id="same")
    answer("red", "same", "Ada")
    answer("blue", "same", "Grace")
    expect(values(state("other-red", "same")) == {"name": "Ada"}, f"{state('other-red', 'same')}")
    expect(values(state("blue", "same")) == {"name": "Grace"}, f"{state('blue', 'same')}")
    expect(by("blue", "DeleteSession", message("DeleteSessionRequest")(session_id="same")).deleted, "it was not there")
    refused("NOT_FOUND", lambda: state("blue", "same"))
    expect(values(state("red", "same")) == {"name": "Ada"}, "the other tenant's session went with it")


@check("a request_id of one tenant is no repetition of another's")
def _():
    one, other = start("red", request_id="r"), start("blue", request_id="r")
    expect(values(answer("red", one.session_id, "Ada", request_id="a").state) == {"name": "Ada"}, "red")
    expect(values(answer("blue", other.session_id, "Grace", request_id="a").state) == {"name": "Grace"}, "blue")


@check("without a key, and with one that is unknown, nothing is answered")
def _():
    refused("UNAUTHENTICATED", lambda: state("nobody", "mine"))
    refused("UNAUTHENTICATED", lambda: desk.state("mine"))


desk.stop()
finish()
