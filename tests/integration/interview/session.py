#!/usr/bin/env python3
"""Sessions of the form interview without a model: calls that go well, calls that are refused, and what is left of them."""
import json
import os
import subprocess
import sys
import threading
import time

import grpc

from desk import Desk, Fact, Form, expect, field, folder, form, message, refused, states, values
from checks import check, finish

five = sys.argv[1:] == ["five"]
os.makedirs(f"{folder}/agents/asker")
with open(f"{folder}/agents/asker/graph.json", "w") as _file:  # no session, though its fields have the names of one
    json.dump({"agent": "asker", "start": "q", "nodes": {"q": {"kind": "ask", "question": "?", "into": "x"}}, "state": {
        "x": {"type": "any"}, "confirmed": {"type": "boolean", "initial": False}, "revision": {"type": "integer", "initial": 5},
        "labels": {"type": "object", "initial": {}}, "form": {"type": "object", "initial": {}}, "fields": {"type": "object", "initial": {}},
        "model": {"type": "string", "initial": ""}, "budget": {"type": "object", "initial": {}}}}, _file)
desk = Desk(f"--orchestrator.agents={folder}/agents", five=five)
HERE = {"language": "en", "country": "JP", "timezone": "Asia/Tokyo"}
# How large a form is makes no difference to TSan.
check_size = check if os.environ.get("RENGA_SANITIZE") != "thread" else lambda sentence: lambda function: function
SMALL = form("name:TEXT!", "mail:EMAIL!", "note:TEXT")


def equal(got, wanted, what):
    expect(got == wanted, f"{what}: {got!r}, not {wanted!r}")


@check("a form is filled and confirmed, and confirming it again changes nothing")
def _():
    reply = desk.start(SMALL, **HERE)
    expect(reply.awaiting_user_response and reply.state.revision == 1 and "name" in reply.response_text, f"{reply}")
    reply = desk.answer(reply, "Ada Lovelace")
    equal([(one.label, one.required) for one in reply.state.plan.fields], [("name", True), ("mail", True), ("note", False)], "the plan")
    equal(states(reply.state), {"name": "DONE", "mail": "INTERVIEWING", "note": "PENDING"}, "the fields")
    reply = desk.answer(reply, "it is ada@example.com, thanks")
    status = reply.state.field_statuses[1]
    equal((status.value.text, status.value.quote, status.value.message), ("ada@example.com", "ada@example.com", 3), "the value")
    reply = desk.answer(reply, "skip")
    expect(not reply.awaiting_user_response, reply.response_text)
    equal(states(reply.state)["note"], "LEFT_OPEN", "the note")
    state = desk.confirm(reply)
    equal((state.confirmed, values(state)), (True, {"name": "Ada Lovelace", "mail": "ada@example.com"}), "the form")
    equal(desk.confirm(reply).revision, state.revision, "the revision")
    refused("FAILED_PRECONDITION", lambda: desk.answer(reply, "more"))


@check("words without a value are answered with the form of a value, in the person's language")
def _():
    for language, again in (("en", "Please give me an e-mail address, like name@example.com."), ("ja", "メールアドレスを教えてください")):
        reply = desk.answer(desk.start(form("mail:EMAIL!"), **HERE | {"language": language}), "ada at example")
        expect(again in reply.response_text, reply.response_text)
        equal(states(reply.state), {"mail": "INTERVIEWING"}, "the field")
    reply = desk.answer(desk.start(form("age:NUMBER!"), **HERE), "why?")
    expect("Please give me" not in reply.response_text, reply.response_text)


@check("a required field that is not done keeps the form open, and the refusal names it")
def _():
    reply = desk.answer(desk.start(SMALL, **HERE), "Ada")
    text = refused("FAILED_PRECONDITION", lambda: desk.confirm(reply))
    expect("mail" in text, text)
    expect(not desk.state(reply).confirmed, "it is confirmed")


@check("a streamed answer comes in sentences that make up the whole reply")
def _():
    session = desk.start(form("name:TEXT!", "note:TEXT"), **HERE)
    make = desk.channel.unary_stream("/renga.v1.FormInterview/AnswerStream", request_serializer=lambda one: one.SerializeToString(),
                                     response_deserializer=message("InterviewEvent").FromString)
    events = list(make(message("AnswerInterviewRequest")(session_id=session.session_id, text="Ada Lovelace"), timeout=20))
    pieces = [event.text for event in events[:-1]]
    equal("".join(pieces), events[-1].reply.response_text, "the pieces together")
    expect(len(pieces) > 1 and all(pieces), f"the pieces are {pieces}")


@check("a name is taken once, and a session that is not there is not found")
def _():
    desk.start(SMALL, session_id="mine", **HERE)
    refused("ALREADY_EXISTS", lambda: desk.start(SMALL, session_id="mine", **HERE))
    equal(desk.state("mine").revision, 1, "the revision")
    for call in (lambda: desk.answer("nobody", "x"), lambda: desk.confirm("nobody"), lambda: desk.state("nobody")):
        expect("nobody" in refused("NOT_FOUND", call), "the session is not named")
    equal(desk.delete("nobody"), False, "what was deleted")


@check("an answer to an old question is refused, and the session is as before")
def _():
    reply = desk.answer(desk.start(SMALL, **HERE), "Ada")
    before = desk.state(reply)
    text = refused("ABORTED", lambda: desk.answer(reply, "x@example.com", expected_revision=1))
    expect("2" in text and "1" in text, text)
    equal(desk.state(reply), before, "the session")
    equal(desk.answer(reply, "x@example.com", expected_revision=2).state.revision, 3, "the revision")


@check("a request that is repeated gets the same reply and makes no second step; the same id in another session is another")
def _():
    one, other = desk.start(SMALL, **HERE), desk.start(SMALL, **HERE)
    first = desk.answer(one, "Ada", request_id="r-1")
    again = desk.answer(one, "Ada", request_id="r-1")
    equal((again.response_text, again.state.revision), (first.response_text, 2), "the second reply")
    equal(values(desk.answer(other, "Grace", request_id="r-1").state), {"name": "Grace"}, "the other session")
    opened = desk.start(SMALL, request_id="s-1", session_id="once", **HERE)
    equal(desk.start(SMALL, request_id="s-1", session_id="once", **HERE).response_text, opened.response_text, "the second start")


@check("of two windows that answer one question, one is told to look again")
def _():
    for turn in range(10):
        reply, outcomes = desk.start(SMALL, **HERE), []

        def window(text):
            try:
                outcomes.append(desk.answer(reply, text, expected_revision=1).state.revision)
            except grpc.RpcError as error:
                outcomes.append(error.code().name)

        windows = [threading.Thread(target=window, args=(name,)) for name in ("Ada", "Grace")]
        [one.start() for one in windows]
        [one.join() for one in windows]
        equal(sorted(map(str, outcomes)), ["2", "ABORTED"], f"turn {turn}")
        equal(desk.state(reply).revision, 2, "the revision")


@check("an earlier answer is changed at any time, by saying so or by entering it")
def _():
    reply = desk.answer(desk.answer(desk.start(SMALL, **HERE), "Ada"), "a@example.com")
    reply = desk.answer(reply, "the mail from before should be b@example.com")
    equal(values(reply.state)["mail"], "b@example.com", "what was said")
    reply = desk.answer(reply, values={"mail": "c@example.com"})
    equal(values(reply.state)["mail"], "c@example.com", "what was entered")
    status = next(one for one in reply.state.field_statuses if one.field_id == "mail")
    equal(status.value.origin, 2, "its origin")
    reply = desk.answer(reply, values={"mail": "nonsense"})
    equal(states(reply.state)["mail"], "INTERVIEWING", "a wrong value")


@check("values to begin with are checked like answers")
def _():
    reply = desk.start(SMALL, prefilled={"name": "Ada", "mail": "no address"}, **HERE)
    equal(states(reply.state), {"name": "DONE", "mail": "INTERVIEWING", "note": "PENDING"}, "the fields")


@check("sessions are found by their labels and deleted for good")
def _():
    names = sorted(desk.start(SMALL, labels={"team": "blue", "n": str(i)}, **HERE).session_id for i in range(3))
    desk.start(SMALL, labels={"team": "red"}, **HERE)
    desk.answer(names[0], "Ada")
    found = desk.sessions(labels={"team": "blue"}).sessions
    equal(sorted(one.session_id for one in found), names, "the sessions")
    equal({one.session_id: one.fields_done for one in found}[names[0]], 1, "its done fields")
    page = desk.sessions(labels={"team": "blue"}, page_size=2)
    rest = desk.sessions(labels={"team": "blue"}, page_size=2, page_token=page.next_page_token)
    equal(sorted(one.session_id for one in [*page.sessions, *rest.sessions]), names, "page by page")
    equal(desk.state(names[0]).labels["team"], "blue", "its label")
    equal([dict(one.labels) for one in found if one.session_id == names[0]], [dict(desk.state(names[0]).labels)], "its labels")
    equal(desk.delete(names[0]), True, "what was deleted")
    refused("NOT_FOUND", lambda: desk.state(names[0]))
    refused("OUT_OF_RANGE", lambda: desk.sessions(page_token="nonsense"))


@check("a session is gone as soon as its time is over, and its name is free")
def _():
    desk.start(SMALL, session_id="brief", ttl_ms=1500, labels={"brief": "yes"}, **HERE)
    time.sleep(1.6)  # the wall clock of a process cannot be stepped
    for call in (lambda: desk.state("brief"), lambda: desk.answer("brief", "Ada"), lambda: desk.confirm("brief")):
        refused("NOT_FOUND", call)
    equal(len(desk.sessions(labels={"brief": "yes"}).sessions), 0, "the sessions")
    equal(desk.delete("brief"), False, "what was deleted")
    equal(desk.start(SMALL, session_id="brief", **HERE).state.revision, 1, "the revision of the next")


@check("a call that reached its budget is refused, and the session is as before")
def _():
    none = message("Budget")(duration_ms=0)
    refused("RESOURCE_EXHAUSTED", lambda: desk.start(SMALL, session_id="poor", budget=none, **HERE))
    refused("NOT_FOUND", lambda: desk.state("poor"))
    desk.answer(desk.start(SMALL, session_id="rich", labels={"a": "b"}, **HERE), "Ada")
    before = desk.state("rich")
    refused("RESOURCE_EXHAUSTED", lambda: desk.start(form("other:TEXT"), session_id="rich", labels={"c": "d"}, budget=none, **HERE))
    after = desk.state("rich")
    after.updated_ms = before.updated_ms
    equal(after, before, "the session")
    equal(values(desk.answer("rich", "ada@example.com").state)["mail"], "ada@example.com", "the answer after it")


@check("a thread of another agent is no session: it is not found, and it is not deleted")
def _():
    def ask(method, **fields):
        make = desk.channel.unary_unary(f"/renga.v1.Orchestrator/{method}", response_deserializer=message(f"{method}Response").FromString,
                                        request_serializer=lambda one: one.SerializeToString())
        return make(message(f"{method}Request")(thread_id="theirs", **fields), timeout=60)

    ask("StartRun", agent="asker", input_json="{}", wait=True)
    for call in (lambda: desk.state("theirs"), lambda: desk.answer("theirs", "x"), lambda: desk.confirm("theirs")):
        refused("NOT_FOUND", call)
    equal(desk.delete("theirs"), False, "what was deleted")
    equal(ask("GetState").agent, "asker", "the thread")


def long_conversation():
    reply = desk.start(form("mail:EMAIL!"), **HERE)
    for _ in range(50):  # each has 64 KiB as JSON, and a field of a thread has 3 MiB at most
        reply = desk.answer(reply, "\\" * 32768)
    expect(reply.state.messages_omitted > 0, f"{len(reply.state.messages)} messages")
    expect(len(desk.state(reply).messages) + reply.state.messages_omitted == 101, "messages are lost")
    equal(values(desk.answer(reply, "a@example.com").state), {"mail": "a@example.com"}, "the answer after it")


if os.environ.get("RENGA_SANITIZE") != "thread":  # a minute of one thread: what is long is read by no other than what is short
    check("a conversation has no end: its oldest messages are left out")(long_conversation)


@check("a session that is deleted in the middle of an answer is gone, and its name is free")
def _():
    for turn in range(30):
        reply = desk.start(SMALL, session_id=f"gone-{turn}", **HERE)

        def window():
            try:
                desk.answer(reply, "Ada")
            except grpc.RpcError as error:
                expect(error.code().name in ("CANCELLED", "NOT_FOUND"), f"{error.code().name}: {error.details()}")

        answering = threading.Thread(target=window)
        answering.start()
        expect(desk.delete(reply), "it was not there")
        answering.join()
        refused("NOT_FOUND", lambda: desk.state(reply))
        equal(desk.start(SMALL, session_id=f"gone-{turn}", **HERE).state.revision, 1, "the revision of the next")


# ---- what is refused -------------------------------------------------------------------------------------------------

FACT = Fact(id="k", form_field_id="nobody", fact_key="k", fact="f")
LIMIT = message("FieldLimits")
WRONG = {
    "form.fields[1].id": Form(fields=[field("a"), field("b", id="id-a")]),
    "form.fields[1].field_id": Form(fields=[field("a"), field("a", id="other")]),
    "form.facts[0].form_field_id": Form(fields=[field("a")], facts=[FACT]),
    "form.fields": Form(fields=[field(f"f{i}") for i in range(201)]),
    "form.fields[0].limits.pattern": Form(fields=[field("a", limits=LIMIT(pattern="("))]),
    "form.fields[0].only_if_json": Form(fields=[field("a", only_if_json='{"field": "a", "present": true}')]),
    "form.fields[0].choices": Form(fields=[field("a:CHOICE")]),
    "form.fields[0].label": Form(fields=[field("a", label="")]),
}


@check("a form that is wrong is refused, and the field of the request is named")
def _():
    for name, made in WRONG.items():
        text = refused("INVALID_ARGUMENT", lambda: desk.start(made, **HERE))
        expect(name in text, f"{name} is not named: {text}")
    refused("INVALID_ARGUMENT", lambda: desk.ask("Start", message("StartInterviewRequest")()))
    expect("prefilled" in refused("INVALID_ARGUMENT", lambda: desk.start(SMALL, prefilled={"x": "y"}, **HERE)), "prefilled")
    expect("country" in refused("INVALID_ARGUMENT", lambda: desk.start(SMALL, country="XXX")), "country")
    expect("max_loops" in refused("INVALID_ARGUMENT", lambda: desk.start(SMALL, max_loops=101)), "max_loops")


def schema(size):
    """A JSON Schema of 200 questions and this many bytes."""
    text = lambda filler: json.dumps({"type": "object", "properties": {  # noqa: E731
        f"question_{i}": {"type": "string", "title": f"Question {i}", "description": "x" * (filler + (i < rest))} for i in range(200)}})
    rest = 0
    filler, rest = divmod(size - len(text(0)), 200)
    return text(filler)


@check_size("a JSON Schema of 262,144 bytes is a form, and one of a byte more is refused")
def _():
    made = schema(262144)
    equal(len(made), 262144, "the bytes of the schema")
    reply = desk.start(Form(schema_json=made), **HERE)
    equal(len(reply.state.form.fields), 200, "the fields")
    equal(values(desk.answer(reply, "it is me").state), {"question_0": "it is me"}, "the answer")
    expect("schema_json" in refused("INVALID_ARGUMENT", lambda: desk.start(Form(schema_json=made + " "), **HERE)), "the field is not named")


@check_size("a form of nearly 1 MiB is filled, though it is too long for a prompt")
def _():
    made = form(*(field(f"q{i}", label=f"Question {i}", intent="x" * 4000) for i in range(200)))
    for one in made.fields:
        one.criteria = "y" * 1100
    expect(1000000 < made.ByteSize() <= 1 << 20, f"it has {made.ByteSize()} bytes")
    reply = desk.start(made, **HERE)
    expect([one.part for one in reply.degradations].count("design") == 1, f"{reply.degradations}")
    equal(values(desk.answer(reply, "it is me").state), {"q0": "it is me"}, "the answer")


@check("an answer that is none is refused, and nothing happens")
def _():
    reply = desk.start(SMALL, **HERE)
    before = desk.state(reply)
    for text in ("", "  \n　", "x" * 32769):
        expect("text" in refused("INVALID_ARGUMENT", lambda: desk.answer(reply, text)), repr(text[:5]))
    raw = message("AnswerInterviewRequest")(session_id=reply.session_id, text="AB").SerializeToString().replace(b"AB", b"\xff\xfe")
    expect("text" in refused("INVALID_ARGUMENT", lambda: desk.ask("Answer", raw)), "bytes that are no UTF-8")
    expect("values" in refused("INVALID_ARGUMENT", lambda: desk.answer(reply, values={"nobody": "x"})), "values")
    expect("session_id" in refused("INVALID_ARGUMENT", lambda: desk.answer("", "x")), "session_id")
    equal(desk.state(reply), before, "the session")
    equal(values(desk.answer(reply, "Ada").state), {"name": "Ada"}, "the answer after it")


# ---- the canary ------------------------------------------------------------------------------------------------------


@check("after its deletion no byte of a conversation stands on the disk or in a log")
def _():
    reply = desk.start(SMALL, labels={"who": "canary-label-7391"}, **HERE)
    reply = desk.answer(reply, "Canary-4711 Lovelace")
    reply = desk.answer(reply, "canary4711@example.com")
    equal(values(reply.state)["name"], "Canary-4711 Lovelace", "the name")
    other = desk.answer(desk.start(SMALL, **HERE), "Stays-0815")
    expect(desk.delete(reply), "it was not there")
    desk.answer(other, "after@example.com")
    desk.stop()
    found = subprocess.run(["grep", "-rlia", "canary", folder], capture_output=True, text=True).stdout
    expect(not found, f"it stands in {found}")
    told = [line for process in desk.processes for line in process.log if "canary" in line.lower()]
    expect(not told, f"it was logged: {told[:1]}")
    expect(subprocess.run(["grep", "-rla", "Stays-0815", folder], capture_output=True, text=True).stdout, "the other is gone, too")


finish()
