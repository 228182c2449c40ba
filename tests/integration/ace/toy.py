"""A toy world with hidden rules, and a model whose skill depends on the bullets that stand in its prompt alone.

The world: 200 tasks ask what it costs to send a crate. The price is the base price of the task, plus a surcharge of the
town it comes from (20 towns), plus, in every second task, one of the vehicle (5 vehicles). No task tells a surcharge.

The model: it can add. It knows the surcharges of three towns; all others it reads in bullets of its prompt, "Crates from
Brenn: add 7." or "Transport by sledge: add 40."; without one it adds nothing, and is wrong. Of two bullets about one thing
it believes the first. As reflector it compares with the right answer: where a single surcharge is unknown to it, the
difference is that surcharge, and a bullet that says otherwise is harmful; of two known surcharges with a wrong sum both are
blamed. One reflection in eight is careless: it is off
by one, so that wrong rules come into the playbook by themselves. As curator it adds what is not said yet, and deletes a
bullet that has harmed more often than it helped. All of it is a function of the prompt: the same prompt, the same answer."""
import json
import re
import zlib

TOWNS = ("Brenn", "Calvo", "Dorma", "Eskil", "Falun", "Gerda", "Hosta", "Iwaki", "Jonas", "Kalmar",
         "Lofot", "Mirin", "Nagoya", "Orkney", "Pella", "Quito", "Rovira", "Sintra", "Toledo", "Umea")
VEHICLES = ("sledge", "barge", "wagon", "mule", "tram")
TOWN = {name: 3 + 4 * number for number, name in enumerate(TOWNS)}
VEHICLE = {name: 100 + 30 * number for number, name in enumerate(VEHICLES)}
KNOWN = TOWNS[:3]
RULE = re.compile(r"(Crates from|Transport by) (\w+): add (\d+)\.")
TASK = re.compile(r"Crate (\d+) has the base price (\d+)\. What does it cost to send it from (\w+)(?: by (\w+))?\?")


def task(number):
    town, vehicle = TOWNS[number * 7 % len(TOWNS)], VEHICLES[number // 20 % len(VEHICLES)] if number % 2 else None
    base = 500 + number * 13
    return {"id": f"crate-{number}", "query": f"Crate {number} has the base price {base}. What does it cost to send it from {town}{' by ' + vehicle if vehicle else ''}?",
            "ground_truth": str(base + TOWN[town] + (VEHICLE[vehicle] if vehicle else 0)), "match": 3}


TASKS = [task(number) for number in range(200)]
HELD_OUT = sorted(TASKS, key=lambda one: zlib.crc32(one["id"].encode()))[:80]
LESSONS = [one for one in TASKS if one not in HELD_OUT]


def rules(texts):
    """What bullets say, the first of each thing."""
    said = {}
    for text in texts:
        for kind, name, amount in RULE.findall(text):
            said.setdefault(name, int(amount))
    return said


def believed(said):
    return {**said, **{name: TOWN[name] for name in KNOWN}}


def within(text, tag):
    return text.split(f"<{tag}>\n")[-1].split(f"\n</{tag}>")[0]


def generate(text):
    found = TASK.search(within(text, "task"))
    if not found:
        return "I do not know."
    number, base, town, vehicle = found.groups()
    known = believed(rules([within(text, "playbook")]))
    price = int(base) + known.get(town, 0) + (known.get(vehicle, 0) if vehicle else 0)
    return f"Crate {number} costs {price}"


def reflect(text):
    number, base, town, vehicle = TASK.search(within(text, "task")).groups()
    bullets = json.loads(within(text, "bullets"))
    truth = within(text, "ground_truth").strip()
    said = believed(rules([one["content"] for one in bullets]))
    blank = {"reasoning": "I compared the price with the right one.", "error_identification": "", "root_cause_analysis": "",
             "correct_approach": "Add the surcharges to the base price.", "key_insight": "Add what is due.", "bullet_tags": []}
    if not truth.isdigit():
        return blank
    rest = int(truth) - int(base)
    parts = [("Crates from", town)] + ([("Transport by", vehicle)] if vehicle else [])
    right = sum(said.get(name, 0) for _, name in parts) == rest
    things = {name for _, name in parts}
    tags = []
    for one in bullets:
        about = rules([one["content"]])
        mine = [name for name in about if name in things]
        if mine and right:
            tags.append({"id": one["id"], "tag": "helpful" if about[mine[0]] == said[mine[0]] else "neutral"})
        elif mine and len(parts) == 1:
            tags.append({"id": one["id"], "tag": "helpful" if about[mine[0]] == rest else "harmful"})
        elif mine and all(name in said for name in things):
            tags.append({"id": one["id"], "tag": "harmful"})  # one of the two is: it cannot tell which
        else:
            tags.append({"id": one["id"], "tag": "neutral"})
    unknown = [part for part in parts if part[1] not in said]
    wrong = parts if len(parts) == 1 and not right else unknown if len(unknown) == 1 else []
    insight = blank["key_insight"]
    if wrong and not right:
        kind, name = wrong[0]
        amount = rest - sum(said.get(other, 0) for _, other in parts if other != name)
        careless = zlib.crc32(number.encode()) % 8 == 0
        insight = f"{kind} {name}: add {amount + careless}."
    return {**blank, "error_identification": "" if right else "The price is wrong.", "key_insight": insight, "bullet_tags": tags}


def curate(text):
    reflections, bullets = json.loads(within(text, "reflections")), json.loads(within(text, "bullets"))
    harmed = {tag["id"] for one in reflections for tag in one.get("bullet_tags", []) if tag["effect"] == "BULLET_EFFECT_HARMFUL"}
    operations = [{"kind": "DELETE", "ids": [one["id"]], "section": "", "content": "", "reason": "It misled."}
                  for one in bullets if one.get("harmful", 0) + (one["id"] in harmed) > one.get("helpful", 0)]
    contents = {one["content"] for one in bullets}
    for one in reflections:
        if RULE.search(one["key_insight"]) and one["key_insight"] not in contents:
            operations.append({"kind": "ADD", "ids": [], "section": "prices", "content": one["key_insight"], "reason": "It was not known."})
            contents.add(one["key_insight"])
    return {"reasoning": "What was learnt is added, what misled is removed.", "operations": operations}


def answer(text, schema):
    """What the model says to a prompt; `schema` is the JSON Schema that was asked for, or empty."""
    if "key_insight" in schema:
        return json.dumps(reflect(text))
    return json.dumps(curate(text)) if '"operations"' in schema else generate(text)


def wilson(correct, count, z=1.959964):
    share = correct / count
    middle, scale = share + z * z / (2 * count), 1 + z * z / count
    spread = z * (share * (1 - share) / count + z * z / (4 * count * count)) ** 0.5
    return (middle - spread) / scale, (middle + spread) / scale
