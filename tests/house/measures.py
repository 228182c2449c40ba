#!/usr/bin/env python3
"""The measures of the house: function names and lengths, prose, rooms, includes. Reads the sources of shared/ and services/.

`measures.py` prints a table, `measures.py --rooms` a row for each room, `measures.py --shared` the names that stand
in several files, `measures.py --words` the files with the most indefinite words, `measures.py --circles` the circles.
"""
import argparse
import collections
import os
import re
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
INDEFINITE = {"what", "whatever", "where", "wherever", "who", "whom", "whose", "whoever", "nothing", "none", "nobody",
              "something", "somebody", "someone", "somewhere", "anything", "anybody", "anyone", "anywhere", "everything",
              "everybody", "everyone", "everywhere", "thing", "things", "such", "thereof", "whichever", "whenever"}
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.M)
COMMENT = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|(/\*.*?\*/|//[^\n]*)', re.S)
# A definition, as clang-format lays it out: it begins in the first column and its body opens at the end of a line.
DEFINITION = re.compile(r'^(?:[A-Za-z_][\w \*]*[ \*])(\w+)\((?:[^;{}]|\n)*?\)\s*\{[ \t]*(?:/\*.*)?$', re.M)
NOT_FUNCTIONS = {"if", "for", "while", "switch", "return", "sizeof"}


def tracked():
    out = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "shared", "services"], cwd=ROOT,
                         capture_output=True, text=True, check=True)
    return [p for p in out.stdout.splitlines() if p.endswith((".c", ".h")) and os.path.isfile(os.path.join(ROOT, p))]


def read(path):
    with open(os.path.join(ROOT, path), errors="replace") as file:
        return file.read()


def functions(text):
    """(name, lines of the body with its braces) for each function that a file defines."""
    for match in DEFINITION.finditer(text):
        if match.group(1) in NOT_FUNCTIONS or match.group(0).startswith(("typedef", "struct {", "enum {")):
            continue
        end = text.find("\n}", match.end())
        if end >= 0:
            yield match.group(1), text.count("\n", match.end(), end) + 1


def comment_words(text):
    words = []
    for match in COMMENT.finditer(text):
        if match.group(1):
            words += re.findall(r"[A-Za-z][A-Za-z']*", match.group(1))
    return words


def resolve(path, name, known):
    """The file that an #include of path means, or None for one from outside."""
    parts = path.split("/")
    roots = [os.path.dirname(path), "shared"] + (["/".join(parts[:2])] if parts[0] == "services" else []) + ["services"]
    for root in roots:
        candidate = os.path.normpath(os.path.join(root, name))
        if candidate in known:
            return candidate
    return None


def circles(edges):
    """Strongly connected components of more than one room (Tarjan)."""
    index, low, stack, on, found, counter = {}, {}, [], set(), [], [0]

    def visit(room):
        index[room] = low[room] = counter[0]
        counter[0] += 1
        stack.append(room)
        on.add(room)
        for other in edges[room]:
            if other not in index:
                visit(other)
                low[room] = min(low[room], low[other])
            elif other in on:
                low[room] = min(low[room], index[other])
        if low[room] == index[room]:
            component = []
            while True:
                other = stack.pop()
                on.discard(other)
                component.append(other)
                if other == room:
                    break
            if len(component) > 1:
                found.append(sorted(component))

    for room in sorted(edges):
        if room not in index:
            visit(room)
    return found


def percentile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(len(values) * share))] if values else 0


def measure():
    paths = tracked()
    known = set(paths)
    texts = {path: read(path) for path in paths}
    names, lengths, words, indefinite = collections.defaultdict(set), [], 0, collections.Counter()
    rooms, edges, private, per_file = collections.Counter(), collections.defaultdict(set), 0, {}
    for path, text in texts.items():
        room = os.path.dirname(path)
        rooms[room] += 1
        for name, length in functions(text):
            if path.endswith(".c"):
                names[name].add(path)
                lengths.append(length)
        said = comment_words(text)
        count = sum(word.lower() in INDEFINITE for word in said)
        words += len(said)
        indefinite.update(word.lower() for word in said if word.lower() in INDEFINITE)
        per_file[path] = (count, len(said))
        for name in INCLUDE.findall(text):
            other = resolve(path, name, known)
            if other:
                private += bool(re.search(r"_priv(ate)?\.h$", other))
                if os.path.dirname(other) != room:
                    edges[room].add(os.path.dirname(other))
                    edges.setdefault(os.path.dirname(other), set())
    definitions = sum(len(files) for files in names.values())
    shared = {name: files for name, files in names.items() if len(files) > 1}
    return {"files": len(paths), "lines": sum(text.count("\n") for text in texts.values()),
            "functions": len(lengths), "shared": shared, "definitions": definitions,
            "shared_share": sum(len(files) for files in shared.values()) / max(definitions, 1),
            "median": percentile(lengths, .5), "p90": percentile(lengths, .9), "longest": max(lengths),
            "words": words, "indefinite": indefinite, "per_file": per_file,
            "indefinite_rate": 1000 * sum(indefinite.values()) / max(words, 1),
            "rooms": rooms, "circles": circles(edges), "private": private}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for option in ("rooms", "shared", "words", "circles"):
        parser.add_argument("--" + option, action="store_true")
    options = parser.parse_args()
    found = measure()
    print(f"files {found['files']}, lines {found['lines']}, functions {found['functions']}")
    print(f"function names that stand in several files: {len(found['shared'])} names, "
          f"{100 * found['shared_share']:.1f} % of the functions")
    print(f"lines of a function: median {found['median']}, p90 {found['p90']}, longest {found['longest']}")
    print(f"indefinite words: {found['indefinite_rate']:.1f} in 1,000 of {found['words']} words of comments")
    print(f"circles of includes between rooms: {len(found['circles'])}, "
          f"rooms in them {sum(len(circle) for circle in found['circles'])}")
    largest = found["rooms"].most_common(1)[0]
    print(f"rooms {len(found['rooms'])}, files in the largest {largest[1]} ({largest[0]}), "
          f"includes of private headers {found['private']}")
    if options.rooms:
        for room, count in found["rooms"].most_common():
            print(f"{count:5} {room}")
    if options.shared:
        for name, files in sorted(found["shared"].items(), key=lambda item: -len(item[1]))[:80]:
            print(f"{len(files):5} {name}")
    if options.words:
        print(found["indefinite"].most_common())
        for path, (count, total) in sorted(found["per_file"].items(), key=lambda item: -item[1][0])[:80]:
            print(f"{count:5} of {total:5} {path}")
    if options.circles:
        for circle in found["circles"]:
            print("circle: " + ", ".join(circle))


if __name__ == "__main__":
    main()
