#!/usr/bin/env python3
"""Random changes of playbooks against a simple model of them, on each kind of store: what PutPlaybook answers, the bullets
after it, undo to each revision byte for byte, and a history that leads from each revision to the next."""
import contextlib
import hashlib
import os
import random

from runner import Runner, SLOW, check, checks, expect
from playbook_client import KIND, OUTCOME, Playbooks, add, count, delete, merge, refused, update
from redis_server import RedisServer

CASES = 80 if SLOW == 1 else 40
seed = int(os.environ.get("RENGA_SEED", random.SystemRandom().randrange(1 << 32)))
SECTIONS = ["strategies", "Common mistakes to avoid", "日本語の節", "others"]
SLUGS = dict(zip(SECTIONS, ["s", "err", "misc", "misc"]))
APPLIED, UNCHANGED, PROPOSED = OUTCOME["APPLIED"], OUTCOME["UNCHANGED"], OUTCOME["PROPOSED"]


class Model:
    """A playbook as a dictionary: id -> [place, section, content, helpful, harmful]. Contents resemble each other only where
    they are equal."""

    def __init__(self):
        self.bullets, self.next, self.revision = {}, 1, 0
        self.proposals, self.next_proposal, self.exists = {}, 1, False

    def copy(self):
        other = Model()
        other.__dict__.update(self.__dict__)
        other.bullets = {id_: list(bullet) for id_, bullet in self.bullets.items()}
        other.proposals = dict(self.proposals)
        return other

    def ordered(self):
        by_place = sorted(self.bullets.items(), key=lambda item: (item[1][0], item[0]))
        sections = list(dict.fromkeys(bullet[1] for _, bullet in by_place))
        return [(id_, *bullet[1:]) for section in sections for id_, bullet in by_place if bullet[1] == section]

    def add(self, section, content, helpful=0, harmful=0):
        id_ = f"{SLUGS[section]}-{self.next:05}"
        self.bullets[id_] = [self.next, section, content, helpful, harmful]
        self.next += 1
        return id_

    def write(self, bullet):
        id_ = bullet.get("id")
        if not id_:
            return self.add(bullet["section"], bullet["content"], bullet["helpful"], bullet["harmful"])
        digits = id_.rpartition("-")[2] if "-" in id_ else ""
        if id_ in self.bullets:
            place = self.bullets[id_][0]
        elif digits.isdigit():
            place = int(digits)
            self.next = max(self.next, place + 1)
        else:
            place, self.next = self.next, self.next + 1
        self.bullets[id_] = [place, bullet["section"], bullet["content"], bullet["helpful"], bullet["harmful"]]

    def having(self, content, except_=()):
        return next((id_ for id_, bullet in self.bullets.items() if bullet[2] == content and id_ not in except_), None)

    def all_having(self, content):
        return [id_ for id_, bullet in self.bullets.items() if bullet[2] == content]

    def propose(self, operation):
        known = [id_ for id_, other in self.proposals.items() if other == operation]
        if not known:
            known = [f"p-{self.next_proposal:05}"]
            self.proposals[known[0]] = operation
            self.next_proposal += 1
        return PROPOSED, "", known[0]

    def operate(self, operation):
        """Outcome, id, proposal."""
        kind, ids, content = operation["kind"], operation.get("ids", []), operation.get("content")
        if kind == KIND["ADD"]:
            equal = self.having(content)
            return (UNCHANGED, self.all_having(content), "") if equal else (APPLIED, self.add(operation["section"], content), "")
        bullet = self.bullets[ids[0]]
        if kind == KIND["UPDATE"]:
            section = operation.get("section") or bullet[1]
            if (section, content) == (bullet[1], bullet[2]):
                return UNCHANGED, ids[0], ""
            if self.having(content, ids):
                return self.propose(operation)
            bullet[1:3] = section, content
        elif kind == KIND["MERGE"]:
            if any(self.bullets[id_][2] != content for id_ in ids) or self.having(content, ids):
                return self.propose(operation)
            bullet[3:5] = [sum(self.bullets[id_][at] for id_ in ids) for at in (3, 4)]
            for id_ in ids[1:]:
                del self.bullets[id_]
        elif kind == KIND["DELETE"]:
            del self.bullets[ids[0]]
            return APPLIED, "", ""
        else:
            by = operation.get("helpful", 0), operation.get("harmful", 0)
            bullet[3:5] = bullet[3] + by[0], bullet[4] + by[1]
            return (APPLIED if any(by) else UNCHANGED), ids[0], ""
        return APPLIED, ids[0], ""


class Chance(random.Random):
    def content(self):
        return hashlib.sha256(str(self.randrange(40)).encode()).hexdigest() * self.choice((1, 1, 1, 3))

    def bullet(self):
        bullet = {"section": self.choice(SECTIONS), "content": self.content(), "helpful": self.randrange(5), "harmful": self.randrange(5)}
        if self.random() < 0.6:
            bullet["id"] = self.choice((f"own-{self.randrange(60):05}", f"word{self.randrange(6)}", f"x-{self.randrange(90)}"))
        return bullet

    def operations(self, model):
        """Operations of which each can be applied to what is left by those in front of it."""
        untouched, operations = list(model.bullets), []
        self.shuffle(untouched)
        for _ in range(self.randrange(5)):
            kind = self.choice(list(KIND))
            if kind == "ADD" or not untouched:
                operations.append(add(self.choice(SECTIONS), self.content(), reason="r"))
            elif kind == "COUNT":
                operations.append(count(self.choice(untouched), self.randrange(3), self.randrange(3)))
            elif kind == "MERGE" and len(untouched) > 3:
                ids = [untouched.pop() for _ in range(self.randrange(2, 4))]
                operations.append(merge(ids, self.choice([model.bullets[ids[0]][2], self.content()])))
            elif kind == "UPDATE":
                id_ = untouched.pop()
                more = {"section": self.choice(SECTIONS)} if self.random() < 0.5 else {}
                operations.append(update(id_, self.choice([model.bullets[id_][2], self.content()]), **more))
            else:
                operations.append(delete(untouched.pop()))
        return operations


def told(bullets):
    return [(b.id, b.section, b.content, b.helpful, b.harmful) for b in bullets]


def equal(got, wanted, what):
    expect(got == wanted, f"{what}: {got!r}, not {wanted!r}")


def put_random(client, dataset, chance, model):
    """One request, and what the model says of it."""
    request, next_ = {}, model.copy()
    if chance.random() < 0.04:
        request["replace"] = True
        next_.bullets = {}
    if chance.random() < 0.3:
        request["remove_ids"] = [chance.choice([*model.bullets, "nobody"]) for _ in range(chance.randrange(4))]
        for id_ in request["remove_ids"]:
            next_.bullets.pop(id_, None)
    if chance.random() < 0.4:
        bullets = [chance.bullet() for _ in range(chance.randrange(4))]
        request["bullets"] = list({b.get("id", i): b for i, b in enumerate(bullets)}.values())
        kept = {id_: bullet[0] for id_, bullet in model.bullets.items()}
        for bullet in request["bullets"]:  # a bullet that the request removed keeps its place
            if bullet.get("id") in kept and bullet["id"] not in next_.bullets:
                next_.bullets[bullet["id"]] = [kept[bullet["id"]]]
            next_.write(bullet)
    request["operations"] = chance.operations(next_)
    results = [next_.operate(operation) for operation in request["operations"]]
    if model.proposals and chance.random() < 0.3:
        id_ = chance.choice(list(model.proposals))
        request["reject_proposals"] = [id_]
        del next_.proposals[id_]
    if chance.random() < 0.1:
        answer = client.put(dataset, dry_run=True, **request)
        equal(answer.revision, model.revision, "the revision of a dry run")
    if chance.random() < 0.2:
        refused("ABORTED", lambda: client.put(dataset, expected_revision=model.revision + 1, **request))
        request["expected_revision"] = model.revision or -1
    changed = next_.bullets != model.bullets
    if not changed and not model.exists and next_.proposals == model.proposals:  # there is still no playbook
        next_.next = model.next
    else:
        next_.exists = True
    next_.revision += changed
    answer = client.put(dataset, **request)
    equal(answer.revision, next_.revision, f"the revision after {request}")
    got = [(r.outcome, r.id, r.proposal_id) for r in answer.results]
    equal([(outcome, id_ if isinstance(id_, str) or given[1] not in id_ else given[1], proposal)
           for (outcome, id_, proposal), given in zip(results, got)], got, f"the results of {request}")
    return next_


def run_case(client, dataset, chance):
    model, states, models = Model(), {0: []}, {0: Model()}
    for step in range(chance.randrange(8, 16)):
        if chance.random() < 0.12 and model.revision:
            to = chance.choice(list(states))
            before = client.state(dataset)
            client.restore(dataset, to)
            equal(client.state(dataset), states[to], f"restored {to}")
            model.revision += before != states[to]
            model.bullets = models[to].copy().bullets
        else:
            model = put_random(client, dataset, chance, model)
        models[model.revision] = model.copy()
        if not model.revision:
            continue
        answer = client.get(dataset)
        equal((told(answer.bullets), answer.revision), (model.ordered(), model.revision), "the bullets")
        equal([p.id for p in answer.proposals], list(model.proposals), "the proposals")
        states[model.revision] = [b.SerializeToString(deterministic=True) for b in answer.bullets]
    for revision in list(states)[1:]:
        equal(client.state(dataset, revision=revision), states[revision], f"revision {revision}")
    if not model.revision:
        return 0
    state = {}
    for change in reversed(client.changes(dataset, with_bullets=True, page_size=chance.randrange(1, 9))):
        for bullet in change.bullets:
            id_ = bullet.before.id or bullet.after.id
            equal(state.pop(id_, None), bullet.before.SerializeToString(deterministic=True) if bullet.HasField("before") else None, f"{id_} before {change.revision}")
            if bullet.HasField("after"):
                state[id_] = bullet.after.SerializeToString(deterministic=True)
        equal(sorted(state.values()), sorted(states[change.revision]), f"where change {change.revision} leads to")
    return model.revision


def run_checks(kind, runner):
    @check(f"{kind}: {CASES} random playbooks are what the model says, at each revision, byte for byte")
    def _():
        chance, client = Chance(seed), Playbooks(runner)
        revisions = 0
        for case in range(CASES):
            try:
                revisions += run_case(client, f"case{case % 50}", chance)
            except AssertionError as error:
                raise AssertionError(f"case {case}: {error}") from None
            client.delete(f"case{case % 50}")
        return f"{revisions} revisions, seed {seed}"


with contextlib.ExitStack() as stack:
    redis = stack.enter_context(RedisServer())
    run_checks("memory", stack.enter_context(Runner(None, "--tool_runner.record=memory:")))
    run_checks("SQLite", stack.enter_context(Runner()))
    run_checks("Redis", stack.enter_context(Runner(None, f"--tool_runner.record={redis.url}?name=playbooks")))
checks.finish()
