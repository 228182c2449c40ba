#!/usr/bin/env python3
"""Playbooks of a tool-runner over gRPC: operations, history, proposals, bounds, and requests that are refused. On SQLite
and on Redis."""
import contextlib
import json

from playbook_client import JSON, KIND, OUTCOME, Playbooks, TEXT, add, count, delete, merge, refused, update
from runner import Runner, check, checks, expect
from redis_server import RedisServer


def equal(got, wanted, what="it"):
    expect(got == wanted, f"{what}: {got!r}, not {wanted!r}")


def contents(client, dataset, **fields):
    return [bullet.content for bullet in client.get(dataset, **fields).bullets]


def bad_requests(old):
    """Method, fields, the code and the parts of its text: first the field's name. `old` is the id of a bullet of "bad"."""
    def put(**fields):
        return ("PutPlaybook", {"dataset": "bad", **fields})

    def bullet(**fields):
        return put(bullets=[{"section": "s", "content": "c"}, {"section": "s", "content": "c", **fields}])

    def operation(**fields):
        return put(operations=[add("s", "fine"), fields])
    invalid = "INVALID_ARGUMENT"
    yield *("PutPlaybook", {"dataset": ""}), invalid, "dataset"
    yield *("PutPlaybook", {"dataset": ".hidden"}), invalid, "dataset"
    yield *("PutPlaybook", {"dataset": "../../etc"}), invalid, "dataset"
    yield *("PutPlaybook", {"dataset": "a/b"}), invalid, "dataset"
    yield *("PutPlaybook", {"dataset": "日本"}), invalid, "dataset"
    yield *("PutPlaybook", {"dataset": "x" * 129}), invalid, "dataset"
    for method in ("GetPlaybook", "RestorePlaybook", "DeletePlaybook", "ListPlaybookChanges"):
        yield method, {"dataset": "a b"}, invalid, "dataset"
    yield *put(expected_revision=-2), invalid, "expected_revision"
    yield *put(remove_ids=["a b"]), invalid, "remove_ids[0]"
    yield *put(remove_ids=[""]), invalid, "remove_ids[0]"
    yield *put(remove_ids=["x"] * 10001), invalid, "remove_ids"
    yield *put(bullets=[{"section": "s", "content": "c"}] * 10001), invalid, "bullets"
    yield *bullet(id="a b"), invalid, "bullets[1].id"
    yield *bullet(id="x" * 65), invalid, "bullets[1].id"
    yield *bullet(content=" \n\t　"), invalid, "bullets[1].content"
    yield *bullet(content="x" * 8193), invalid, "bullets[1].content"
    yield *bullet(content="a\x01b"), invalid, "bullets[1].content"
    yield *bullet(section="x" * 257), invalid, "bullets[1].section"
    yield *bullet(section="a\nb"), invalid, "bullets[1].section"
    yield *bullet(section=" a"), invalid, "bullets[1].section"
    yield *bullet(helpful=-1), invalid, "bullets[1].helpful"
    yield *bullet(helpful=1_000_000_001), invalid, "bullets[1].helpful"
    yield *bullet(harmful=-1), invalid, "bullets[1].harmful"
    yield *bullet(created_ms=-1), invalid, "bullets[1].created_ms"
    yield *bullet(updated_ms=1 << 60), invalid, "bullets[1].updated_ms"
    yield *bullet(source="x" * 129), invalid, "bullets[1].source"
    yield *put(bullets=[{"id": "a-1", "section": "s", "content": "c"}] * 2), invalid, "bullets[1].id", "bullets[0]"
    yield *put(text="x" * (2 << 20 | 1)), invalid, "text"
    yield *put(text="{", format=JSON), invalid, "text"
    yield *put(format=9), invalid, "format"
    yield *put(operations=[add("s", f"c{i}") for i in range(257)]), invalid, "operations"
    yield *operation(), invalid, "operations[1].kind"
    yield *operation(kind=99), invalid, "operations[1].kind"
    yield *operation(kind=KIND["ADD"], content="c"), invalid, "operations[1].section"
    yield *operation(kind=KIND["ADD"], section="s"), invalid, "operations[1].content"
    yield *operation(**add("s", "c", ids=[old])), invalid, "operations[1].ids"
    yield *operation(**add("s", "c", helpful=1)), invalid, "operations[1].helpful"
    yield *operation(**add("s", "c", reason="r" * 1025)), invalid, "operations[1].reason"
    yield *operation(kind=KIND["UPDATE"], content="c"), invalid, "operations[1].ids"
    yield *operation(**update(old, "  ")), invalid, "operations[1].content"
    yield *operation(**update("nobody-1", "c")), invalid, "operations[1].ids[0]", "nobody-1"
    yield *operation(**delete(old, content="c")), invalid, "operations[1].content"
    yield *operation(**delete("nobody-1")), invalid, "operations[1].ids[0]"
    yield *operation(**merge([old], "c")), invalid, "operations[1].ids"
    yield *operation(**merge([old, old], "c")), invalid, "operations[1].ids[1]"
    yield *operation(**merge([f"x-{i}" for i in range(17)], "c")), invalid, "operations[1].ids"
    yield *operation(**count(old, helpful=1001)), invalid, "operations[1].helpful"
    yield *operation(**count(old, harmful=-1)), invalid, "operations[1].harmful"
    yield *operation(**count("nobody-1", helpful=1)), invalid, "operations[1].ids[0]"
    yield *put(operations=[update(old, "one thing"), delete(old)]), invalid, "operations[1].ids[0]", "another operation"
    yield *put(operations=[delete(old), count(old, 1)]), invalid, "operations[1].ids[0]"
    yield *put(accept_proposals=["x"] * 101), invalid, "accept_proposals"
    yield *put(accept_proposals=["p-00099"]), "NOT_FOUND", "accept_proposals[0]", "p-00099"
    yield *put(reject_proposals=["p-00099"]), "NOT_FOUND", "reject_proposals[0]", "p-00099"
    yield *put(token_budget=99), invalid, "token_budget"
    yield *put(token_budget=1_000_001), invalid, "token_budget"
    yield *put(token_budget=-1), invalid, "token_budget"
    yield *put(request_id="r" * 129), invalid, "request_id"
    yield *put(request_id="a\nb"), invalid, "request_id"
    yield *put(reason="r" * 1025), invalid, "reason"
    yield *put(source="s" * 129), invalid, "source"
    yield "GetPlaybook", {"dataset": "bad", "revision": -1}, invalid, "revision"
    yield "GetPlaybook", {"dataset": "bad", "format": 7}, invalid, "format"
    yield "GetPlaybook", {"dataset": "bad", "revision": 99}, "OUT_OF_RANGE", "99", "1 to"
    yield "GetPlaybook", {"dataset": "none"}, "NOT_FOUND", "none"
    yield "RestorePlaybook", {"dataset": "bad", "revision": -1}, invalid, "revision"
    yield "RestorePlaybook", {"dataset": "bad", "revision": 99}, "OUT_OF_RANGE", "99"
    yield "RestorePlaybook", {"dataset": "bad", "expected_revision": -1}, invalid, "expected_revision"
    yield "RestorePlaybook", {"dataset": "none", "revision": 1}, "NOT_FOUND", "none"
    yield "ListPlaybookChanges", {"dataset": "none"}, "NOT_FOUND", "none"
    yield "ListPlaybookChanges", {"dataset": "bad", "page_size": 1001}, invalid, "page_size"
    yield "ListPlaybookChanges", {"dataset": "bad", "page_token": "x"}, "OUT_OF_RANGE", "page_token"
    yield "ListPlaybookChanges", {"dataset": "bad", "page_token": "99"}, "OUT_OF_RANGE", "page_token"
    yield "ListPlaybooks", {"page_size": -1}, invalid, "page_size"
    yield "ListPlaybooks", {"page_token": "a/b"}, "OUT_OF_RANGE", "page_token"
    yield "ListPlaybooks", {"page_token": "x" * 257}, invalid, "page_token"


def run_checks(kind, runner):
    client = Playbooks(runner)

    @check(f"{kind}: bullets get ids of their section with rising numbers, and stand in the order of sections and numbers")
    def _():
        answer = client.put("ids", operations=[add("Strategies and hard rules", "a"), add("common_mistakes_to_avoid", "b"), add("Strategies and hard rules", "c"),
                                               add("これは", "d")], source="run-1", reason="why")
        equal([r.id for r in answer.results], ["shr-00001", "err-00002", "shr-00003", "misc-00004"])
        equal((answer.revision, answer.bullets), (1, 4))
        equal([(b.id, b.source) for b in client.get("ids").bullets], [(id_, "run-1") for id_ in ("shr-00001", "shr-00003", "err-00002", "misc-00004")])
        answer = client.put("ids", bullets=[{"section": "others", "content": "e"}, {"id": "own-00040", "section": "others", "content": "f"}])
        equal((list(answer.new_ids), answer.revision), (["misc-00005"], 2))
        equal(client.put("ids", operations=[delete("own-00040"), add("Others", "g")]).results[1].id, "misc-00041", "the number after one that was given once")

    @check(f"{kind}: a request that is refused names the field and changes nothing")
    def _():
        old = client.put("bad", operations=[add("s", "old")]).results[0].id
        before = (client.get("bad").SerializeToString(), len(client.changes("bad")))
        rows = 0
        for method, fields, code, *parts in bad_requests(old):
            refused(code, lambda: client.call(method, **fields), *parts)
            rows += 1
        equal((client.get("bad").SerializeToString(), len(client.changes("bad"))), before, "the playbook afterwards")
        return f"{rows} rows"

    @check(f"{kind}: all operations of a request are applied, or none")
    def _():
        ids = [r.id for r in client.put("all", operations=[add("s", f"bullet {i}") for i in range(4)]).results]
        before = client.state("all")
        refused("INVALID_ARGUMENT", lambda: client.put("all", operations=[update(ids[0], "other"), count(ids[1], 3), delete("gone-1")]), "operations[2].ids[0]")
        equal(client.state("all"), before, "the bullets")
        answer = client.put("all", operations=[count(ids[1], helpful=2), count(ids[1], harmful=1), update(ids[0], "other"), delete(ids[2])])
        equal([r.outcome for r in answer.results], [OUTCOME["APPLIED"]] * 4)
        equal([(b.content, b.helpful, b.harmful) for b in client.get("all").bullets], [("other", 0, 0), ("bullet 1", 2, 1), ("bullet 3", 0, 0)])

    @check(f"{kind}: an equal content is not added, one that another bullet has is proposed, and a person's word applies it")
    def _():
        ids = [r.id for r in client.put("same", operations=[add("s", "one apple"), add("s", "two pears")]).results]
        answer = client.put("same", operations=[add("other", "one apple")])
        equal((answer.results[0].outcome, answer.results[0].id, answer.revision), (OUTCOME["UNCHANGED"], ids[0], 1))
        answer = client.put("same", operations=[update(ids[1], "one apple"), merge(ids, "one apple and two pears")][:1])
        equal((answer.results[0].outcome, answer.results[0].similar_id, answer.revision), (OUTCOME["PROPOSED"], ids[0], 1))
        proposal = answer.results[0].proposal_id
        again = client.put("same", operations=[update(ids[1], "one apple")]).results[0].proposal_id
        equal((again, [p.id for p in client.get("same").proposals]), (proposal, [proposal]), "the same operation is proposed once")
        equal([s.proposals for s in client.call("ListPlaybooks").playbooks if s.dataset == "same"], [1])
        answer = client.put("same", accept_proposals=[proposal])
        equal((answer.revision, contents(client, "same"), list(client.get("same").proposals)), (2, ["one apple", "one apple"], []))
        proposal = client.put("same", operations=[merge(ids, "pears")]).results[0].proposal_id
        client.put("same", reject_proposals=[proposal])
        equal((client.get("same").revision, list(client.get("same").proposals)), (2, []))

    @check(f"{kind}: a near-duplicate is merged, and proposed where a number, a negation or an order differs")
    def _():
        base = "Always check the sum of the invoice against the order before you send the payment to the supplier in euro 100."
        id_ = client.put("near", operations=[add("s", base)]).results[0].id
        result = client.put("near", operations=[add("t", "  always check" + base[12:-1])]).results[0]
        equal((result.outcome, result.id, result.similar_id), (OUTCOME["MERGED"], id_, id_), "white space, case, no full stop")
        for other in (base.replace("100", "200"), base.replace("Always", "Never"), base.replace("before", "after")):
            answer = client.put("near", operations=[add("s", other)])
            result = answer.results[0]
            equal((result.outcome, result.similar_id, answer.revision), (OUTCOME["PROPOSED"], id_, 1), other)
            expect(result.similarity >= 0.8 and result.reason, str(result))
        equal(len(client.get("near").proposals), 3)
        answer = client.put("near", operations=[add("s", "Something else, of which nobody has said a word so far.")])
        equal(answer.results[0].outcome, OUTCOME["APPLIED"])
        accepted = client.put("near", accept_proposals=["p-00001"], reject_proposals=["p-00002"])
        equal((list(accepted.new_ids), accepted.bullets, [p.id for p in client.get("near").proposals]), (["s-00003"], 3, ["p-00003"]))

    @check(f"{kind}: the history tells what each change was, by whom and why, and each revision can be read and restored")
    def _():
        states = [[]]
        for i in range(12):
            bullets = client.put("old", bullets=[{"id": f"w{i}", "section": f"s{i % 3}", "content": f"word {i}"}], operations=[add("numbers", f"number {i}")],
                                 remove_ids=[f"w{i - 4}"], request_id=f"r{i}", reason=f"because {i}", source=f"run {i}")
            equal(bullets.revision, i + 1)
            states.append(client.state("old"))
        changes = client.changes("old", with_bullets=True, page_size=5)
        equal([(c.revision, c.request_id, c.reason, c.source, c.added, c.removed) for c in changes],
              [(i + 1, f"r{i}", f"because {i}", f"run {i}", 2, int(i >= 4)) for i in reversed(range(12))])
        equal([len(c.bullets) for c in changes], [c.added + c.changed + c.removed for c in changes])
        equal([len(c.bullets) for c in client.changes("old")], [0] * 12, "without bullets")
        for revision in range(1, 13):
            equal(client.state("old", revision=revision), states[revision], f"revision {revision}")
        for revision in (3, 0, 12, 7):
            client.restore("old", revision, reason="back")
            equal(client.state("old"), states[revision], f"restored {revision}")
        equal([(c.revision, c.restored_revision) for c in client.changes("old")[:4]], [(16, 7), (15, 12), (14, 0), (13, 3)])
        equal(client.put("old", operations=[add("numbers", "new")]).results[0].id, "n-00025", "no number is given again")

    @check(f"{kind}: expected_revision lets one of two writers through")
    def _():
        client.put("cas", operations=[add("s", "1")], expected_revision=-1)
        refused("ABORTED", lambda: client.put("cas", operations=[add("s", "2")], expected_revision=-1), "revision 1")
        client.put("cas", operations=[add("s", "2")], expected_revision=1)
        refused("ABORTED", lambda: client.put("cas", operations=[add("s", "3")], expected_revision=1), "revision 2")
        refused("ABORTED", lambda: client.restore("cas", 1, expected_revision=1), "revision 2")
        client.restore("cas", 1, expected_revision=2)

    @check(f"{kind}: a request_id gets its first answer again, and is refused with other content")
    def _():
        fields = {"operations": [add("s", "1"), add("s", "2")], "bullets": [{"section": "t", "content": "3"}], "request_id": "again"}
        first = client.put("again", **fields)
        client.put("again", operations=[delete(first.results[0].id)])
        equal(client.put("again", **fields).SerializeToString(), first.SerializeToString(), "the answer")
        equal(client.get("again").revision, 2)
        refused("INVALID_ARGUMENT", lambda: client.put("again", **{**fields, "reason": "other"}), "request_id", "again")
        refused("INVALID_ARGUMENT", lambda: client.restore("again", 1, request_id="again"), "request_id")
        same = client.put("again", operations=[add("s", "2")], request_id="nothing")
        client.put("again", operations=[delete(same.results[0].id)])
        equal(client.put("again", operations=[add("s", "2")], request_id="nothing").results[0].outcome, OUTCOME["UNCHANGED"], "one that changed nothing")

    @check(f"{kind}: a dry run says what would be and changes nothing")
    def _():
        refused("NOT_FOUND", lambda: client.get("dry") if client.put("dry", operations=[add("s", "1")], dry_run=True).results[0].id == "s-00001" else 0)
        client.put("dry", operations=[add("s", "1")], request_id="x")
        before = client.get("dry").SerializeToString()
        answer = client.put("dry", operations=[add("s", "2"), delete("s-00001")], dry_run=True, request_id="x")
        equal((answer.revision, answer.bullets, answer.results[0].id), (1, 1, "s-00002"))
        equal(client.get("dry").SerializeToString(), before)

    @check(f"{kind}: the token budget lets bullets of the lowest value go first, and tells them")
    def _():
        client.put("budget", bullets=[{"id": f"b-{i:05}", "section": "s", "content": f"{i} " + "word " * 50, "helpful": i, "harmful": 10} for i in range(1, 41)])
        tokens = client.get("budget").tokens
        answer = client.put("budget", token_budget=tokens // 2)
        expect(answer.tokens <= tokens // 2 and 10 < len(answer.dropped) < 30, f"{answer.tokens} of {tokens}, {len(answer.dropped)} left")
        equal([b.id for b in answer.dropped], [f"b-{i:05}" for i in range(1, len(answer.dropped) + 1)])
        equal(answer.bullets, 40 - len(answer.dropped))
        equal(client.changes("budget")[0].removed, len(answer.dropped))

    @check(f"{kind}: text and JSON are exported, and give the same bullets when they are imported")
    def _():
        client.put("io", bullets=[{"section": f"part {i % 5}", "content": f"日本語 {i} \"x\" \\ – text", "helpful": i, "harmful": i // 2} for i in range(60)])
        old = client.get("io", format=JSON)
        client.put("io2", text=old.text, format=JSON)
        equal(client.state("io2"), client.state("io"))
        equal(client.get("io2", as_text=True).text, client.get("io", format=TEXT).text)
        answer = client.put("io3", text="## S\n[a-00001] helpful=3 harmful=1 :: fine\n[broken helpful=3\n[a-00002] helpful=0 harmful=0 :: fine too\n")
        equal((answer.bullets, answer.problem_count, [p.number for p in answer.problems]), (2, 1, [3]))
        expect(json.loads(old.text)["bullets"][0]["helpful"] == 0, old.text[:200])

    @check(f"{kind}: a playbook has at most 10,000 bullets and 1 MiB, and what is too much changes nothing")
    def _():
        client.put("large", bullets=[{"section": f"s{i % 50}", "content": f"bullet number {i} " + "x" * 40} for i in range(10000)])
        refused("RESOURCE_EXHAUSTED", lambda: client.put("large", operations=[add("s", "one more")]), "10001 bullets", "10000")
        refused("RESOURCE_EXHAUSTED", lambda: client.put("wide", bullets=[{"section": "s", "content": f"{i} " + "x" * 8000} for i in range(132)]), "1048576")
        refused("NOT_FOUND", lambda: client.get("wide"))
        answer = client.put("large", operations=[count("s-00001", 1)])
        equal((answer.revision, len(client.get("large", format=TEXT).bullets)), (2, 10000))

    @check(f"{kind}: a listing has all playbooks in pages, and a deleted one is gone and begins anew")
    def _():
        for i in range(7):
            client.put(f"list-{i}", operations=[add("s", "x")])
        names, token = [], ""
        while not names or token:
            page = client.call("ListPlaybooks", page_size=3, page_token=token)
            names += [s.dataset for s in page.playbooks]
            token = page.next_page_token
        expect(names == sorted(names) and [f"list-{i}" for i in range(7)] == [n for n in names if n.startswith("list-")], str(names))
        equal([client.delete("list-3").bullets for _ in range(2)], [1, 0])
        refused("NOT_FOUND", lambda: client.get("list-3"))
        refused("NOT_FOUND", lambda: client.call("ListPlaybookChanges", dataset="list-3"))
        answer = client.put("list-3", operations=[add("s", "y")], expected_revision=-1)
        equal((answer.revision, answer.results[0].id), (1, "s-00001"))

    @check(f"{kind}: after a restart all is as it was")
    def _():
        before = [(d, client.get(d).SerializeToString()) for d in ("ids", "same", "old", "io", "large")]
        runner.restart()
        equal([(d, client.get(d).SerializeToString()) for d in ("ids", "same", "old", "io", "large")], before)


with contextlib.ExitStack() as stack:
    redis = stack.enter_context(RedisServer())
    run_checks("SQLite", stack.enter_context(Runner()))
    run_checks("Redis", stack.enter_context(Runner(None, f"--tool_runner.record={redis.url}?name=playbooks")))
checks.finish()
