#!/usr/bin/env python3
"""What learning is worth, in the toy world (toy.py): the share of right answers to 80 tasks that were not learnt from, before
and after, with 95 % intervals; a curve over the epochs; wrong rules, planted and learnt, sink and leave. All services are the
real ones, in one process and as five; the model is an HTTP server that knows what its prompts tell it, and no more."""
import os
import sys
import threading

import grpc

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "helpdesk"), os.path.join(HERE, "..", "..", "lib")]
import toy  # noqa: E402
from checks import check, expect, finish  # noqa: E402
from contract import message  # noqa: E402
from suite import SLOW, Suite  # noqa: E402
from site_of_ace import GATEWAY, Site  # noqa: E402

EPOCHS = 4
PLANTED = [("Crates from Toledo: add 1.", 0), ("Crates from Umea: add 2.", 3), ("Transport by tram: add 5.", 0), ("Crates from Sintra: add 9.", 6)]


def share(correct, count):
    low, high = toy.wilson(correct, count)
    return f"{correct}/{count} = {correct / count:.2f} [{low:.2f}, {high:.2f}]"


def wrong(bullets):
    """Bullets that say what is not so."""
    return [one for one in bullets for name, amount in toy.rules([one.content]).items() if {**toy.TOWN, **toy.VEHICLE}[name] != amount]


def learning_is_worth(site):
    planted = site.put(bullets=[{"section": "prices", "content": content, "helpful": helpful} for content, helpful in PLANTED])
    expect(len(planted.new_ids) == len(PLANTED), f"{planted}")
    _, before = site.adapt(3, toy.HELD_OUT)
    samples, result = site.adapt(1, toy.LESSONS, epochs=EPOCHS)
    _, after = site.adapt(3, toy.HELD_OUT)
    curve = [sum(one.verdict == 1 for one in samples if one.epoch == epoch) for epoch in range(1, EPOCHS + 1)]
    bullets = site.bullets()
    told = (f"held out: before {share(before.correct, before.judged)}, after {share(after.correct, after.judged)}; "
            f"epochs {', '.join(f'{correct / len(toy.LESSONS):.2f}' for correct in curve)}; "
            f"{result.added} added, {result.deleted} deleted, {result.merged} merged, {result.proposed} proposed, {len(bullets)} bullets; wrong: {[(one.content, one.helpful, one.harmful) for one in wrong(bullets)]}")
    errors = {one.error_message for one in samples if one.error_message}
    expect(not errors, f"{errors}; {told}")
    expect(after.accuracy_low > before.accuracy_high and after.correct / after.judged > 0.8, told)
    expect(curve[-1] > curve[0] and (before.judged, after.judged, result.judged) == (80, 80, len(toy.LESSONS)), told)
    low, high = toy.wilson(after.correct, after.judged)
    expect(abs(after.accuracy_low - low) < 1e-4 and abs(after.accuracy_high - high) < 1e-4, "the interval is not Wilson's")
    left = {one.id for one in bullets} & set(planted.new_ids)
    expect(not left, f"planted rules that are still there: {left}; {told}")
    expect(not wrong(bullets), f"wrong rules that are still there: {[(one.content, one.helpful, one.harmful) for one in wrong(bullets)]}; {told}")
    expect(result.deleted >= len(PLANTED), told)
    return told


def tasks_as_they_come(site, dataset="online"):
    """Online: each is judged as it was answered before it was learnt from."""
    samples, result = site.adapt(2, toy.LESSONS, dataset=dataset)
    half = len(samples) // 2
    early, late = (sum(one.verdict == 1 for one in part) for part in (samples[:half], samples[half:]))
    expect((len(samples), result.judged, result.correct) == (len(toy.LESSONS), len(toy.LESSONS), early + late) and late > early + 5, f"{early} and {late}")
    return f"first half {share(early, half)}, second half {share(late, len(samples) - half)}"


def two_at_once(site):
    """Two clients learn on one data set: nothing is lost, ids are unique."""
    out, half = {}, len(toy.LESSONS) // 2
    clients = [threading.Thread(target=lambda part=part, name=name: out.update({name: site.adapt(2, part, dataset="shared")}))
               for name, part in (("one", toy.LESSONS[:half]), ("two", toy.LESSONS[half:]))]
    [client.start() for client in clients]
    [client.join() for client in clients]
    samples = [sample for made, _ in out.values() for sample in made]
    errors = {one.error_message for one in samples if one.error_message}
    expect(not errors and len(samples) == len(toy.LESSONS), f"{errors}")
    added = sum(result.added for _, result in out.values())
    bullets, deleted = site.bullets("shared"), sum(result.deleted for _, result in out.values())
    merged = sum(result.merged for _, result in out.values())
    expect(len({one.id for one in bullets}) == len(bullets) and added - deleted - merged <= len(bullets) <= added - deleted, f"{added} added, {deleted} deleted, {merged} merged, {len(bullets)} there")
    return f"{added} added, {deleted} deleted, {len(bullets)} there"


def bound(site):
    """The cost of a step does not grow with the number of samples: the last of many is as fast as the first."""
    rounds = 5 if SLOW == 1 else 1
    many = [{"query": one["query"], "ground_truth": one["ground_truth"], "match": 3, "id": f"{number}-{one['id']}"} for number in range(rounds) for one in toy.TASKS]
    part = len(many) // 4
    events = site.call(site.suite.channel, "AceGenerator", "Adapt", message("AdaptRequest")(mode=3, samples=many, dataset="toy"), "AdaptEvent", True)
    times = [event.time_ms for event in events if event.WhichOneof("event") == "sample"]
    expect(len(times) == len(many) and events[-1].result.judged == len(many), f"{len(times)} samples")
    first, last = (times[part] - times[0]) / part, (times[-1] - times[-part - 1]) / part
    told = f"{first:.1f} ms for each of the first {part} samples, {last:.1f} ms for each of the last"
    expect(last < 3 * first + 5 * SLOW, told)  # a cost that grows would be 7 times as high
    return told


one = Suite(renga=GATEWAY).one()
site = Site(one, one.channel)
check("offline learning makes held-out tasks right, and wrong rules sink and leave")(lambda: learning_is_worth(site))
check("online learning is worth it as tasks come")(lambda: tasks_as_they_come(site))
check("two clients that learn on one data set at once lose nothing")(lambda: two_at_once(site))
check("a thousand samples cost no more each than a few")(lambda: bound(site))
one.stop()
five = Suite(llm_gateway=GATEWAY).five()
apart = Site(five, grpc.insecure_channel(f"127.0.0.1:{five.processes['tool-runner'].port}"))
check("online learning is worth it with five services as well")(lambda: tasks_as_they_come(apart, "apart"))
apart.tools.close()
five.stop()
finish()
