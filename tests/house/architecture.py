#!/usr/bin/env python3
"""Whether ARCHITECTURE.md is true: each file:function exists, consecutive functions of a walk call each other, and each name of the
glossary is in the code. Reads the sources; runs nothing of them."""
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
failed = 0


def check(sentence, violations):
    global failed
    failed += bool(violations)
    print(f"not ok - {sentence}: " + "; ".join(violations[:5]) if violations else f"ok - {sentence}")


def read(path):
    with open(os.path.join(ROOT, path), errors="replace") as file:
        return file.read()


def body(path, function):
    """The text of a function as clang-format lays it out, or None. What a macro spells is not seen."""
    if not os.path.isfile(os.path.join(ROOT, path)):
        return None
    found = re.search(rf"^[A-Za-z_][\w \*]*[ \*]{function}\((?:[^;{{}}]|\n)*?\)\s*\{{.*?^\}}", read(path), re.M | re.S)
    return found and found.group(0)


def tracked_pages():
    told = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "*.md"], cwd=ROOT, capture_output=True, text=True,
                          check=True).stdout.splitlines()
    return [path for path in told if os.path.basename(path) in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md")
            and os.path.isfile(os.path.join(ROOT, path))]


page = read("ARCHITECTURE.md")
places = re.findall(r"`([\w/]+\.c):(\w+)`", page)
check("each file:function of the page exists", [f"{path}:{name}" for path, name in places if not body(path, name)])

walks = re.split(r"^### ", page.split("## Three walks")[1].split("## Glossary")[0], flags=re.M)[1:]
tracked = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "services", "shared"], cwd=ROOT, capture_output=True,
                         text=True, check=True).stdout.splitlines()
sources = "\n".join(read(path) for path in tracked if path.endswith((".c", ".h")) and os.path.isfile(os.path.join(ROOT, path)))
broken, unreached, malformed, arrows = [], [], [], {"→": 0, "⇢": 0}
for walk in walks:
    title = walk.splitlines()[0]
    lines = [line for line in walk.splitlines() if re.match(r"\d+\. ", line)]
    steps = [re.match(r"\d+\. `([\w/]+\.c):(\w+)` (→|⇢) ", line) for line in lines]
    malformed += [f"{title}: {line[:60]}" for line, step in zip(lines, steps) if not step]
    steps = [step.groups() for step in steps if step]
    for (path, name, arrow), (_, following, _) in zip(steps, steps[1:]):
        arrows[arrow] += 1
        if arrow == "→" and not re.search(rf"\b{following}\b", body(path, name) or ""):
            broken.append(f"{title}: {name} does not call {following}")
        if arrow == "⇢" and len(re.findall(rf"\b{following}\b", sources)) < 2:
            unreached.append(f"{title}: nobody names {following}")
check("there are three walks, and each of their lines names file:function and how it goes on", malformed or
      ([] if len(walks) == 3 else [f"{len(walks)} walks"]))
check("a function of a walk calls the next one, where an arrow says so", broken)
check("a function that a callback leads to is named somewhere beside its definition", unreached)
check("most steps of the walks are direct calls", [] if arrows["→"] > arrows["⇢"] else [str(arrows)])

words = set(re.findall(r"\w+", sources))
rows = re.findall(r"^\| ([^|]+) \| [^|]+ \| `([^`]+)` \|$", page.split("## Glossary")[1], re.M)
check("each name of the glossary is in the code",
      [f"{term}: {name}" for term, name in rows if not (os.path.isdir(os.path.join(ROOT, name)) if "/" in name else name in words)]
      or ([] if len(rows) > 30 else [f"only {len(rows)} rows"]))
terms = [term.strip() for row, _ in rows for term in row.split(",")]
check("a term has one row", sorted({term for term in terms if terms.count(term) > 1}))
folders = [name for name in re.findall(r"`((?:services|shared)/[\w/]+)`", page)]
check("each folder of the page exists", [name for name in folders if not os.path.isdir(os.path.join(ROOT, name))])
linked = []
for path in tracked_pages():
    for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", re.sub(r"```.*?```", "", read(path), flags=re.S)):
        if not os.path.exists(os.path.join(ROOT, os.path.dirname(path), link)):
            linked.append(f"{path} leads to {link}")
check("each link of a page to a file or folder leads there", linked)
sys.exit(1 if failed else 0)
