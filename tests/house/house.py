#!/usr/bin/env python3
"""Whether the house is as it was drawn: layers, rooms, form. Reads the sources, and of them runs the library of the checks alone."""
import collections
import os
import re
import subprocess
import sys

import measures

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# A lower one never includes a higher one.
LAYERS = ["base", "json", "config", "words", "upstream", "loop", "http", "rpc", "redis", "store", "telemetry", "daemon"]
SERVICES = ["llm_gateway", "planner", "tool_runner", "reviewer", "orchestrator", "edge"]
LINES_MAX = 800
RECENT = 60  # commits
PARTS = 10
INDEFINITE_MAX = 6
SHARED_SHARE_MAX = 0.02  # tests/house/measures.py --shared names them
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.M)

failed = 0


def check(sentence, violations):
    global failed
    if violations:
        failed += 1
        print(f"not ok - {sentence}: " + "; ".join(violations[:5]))
    else:
        print(f"ok - {sentence}")


def git(*words):
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True).stdout.splitlines()


def tracked():
    return [path for path in git("ls-files", "-co", "--exclude-standard") if os.path.isfile(os.path.join(ROOT, path))]


def read(path):
    with open(os.path.join(ROOT, path), errors="replace") as file:
        return file.read()


files = tracked()
sources = [path for path in files if path.endswith((".c", ".h"))]
product = [path for path in sources if path.startswith(("shared/", "services/"))]
includes = {path: INCLUDE.findall(read(path)) for path in sources}


def including(where, what):
    return [f"{path} includes {name}" for path in where for name in includes[path] if what(path, name)]


def layer_of(path):
    parts = path.split("/")
    return parts[1] if parts[0] == "shared" and len(parts) > 2 else None


def climbs(path, name):
    own, other = layer_of(path), name.split("/")[0]
    return own in LAYERS and other in LAYERS and LAYERS.index(other) > LAYERS.index(own)


def outside(*rooms):
    return [path for path in product if not path.startswith(rooms)]


shared = [path for path in product if path.startswith("shared/")]
check("every folder of shared/ is a layer with a place of its own",
      sorted({layer_of(path) for path in shared} - set(LAYERS)))
check("a lower layer of shared/ never includes a higher one", including(shared, climbs))
check("shared/ includes neither services nor generated headers",
      including(shared, lambda path, name: name.endswith(".pb-c.h") or name.startswith("services/")))
check("gRPC's headers stay in shared/rpc",
      including(outside("shared/rpc/"), lambda path, name: name.startswith("grpc/") and not name.endswith(".pb-c.h")))
check("a thread is named by itself (base/thread.h)",
      [path for path in product if "pthread_setname_np(" in read(path)])
check("curl's headers stay in shared/http", including(outside("shared/http/"), lambda path, name: name.startswith("curl/")))
check("hiredis stays where the replies of Redis are read",
      including(outside("shared/redis/replies.c"), lambda path, name: name.startswith("hiredis")))
check("SQLite's header stays in shared/store/sqlite",
      including([path for path in product if not re.fullmatch(r"shared/store/sqlite/\w+\.c", path)],
                lambda path, name: name.startswith("sqlite3")))
check("ICU and the stemmer stay in shared/words",
      including(outside("shared/words/"), lambda path, name: name.startswith(("unicode/", "libstemmer"))))
check("nng stays in the mailbox of the orchestrator's fan-out",
      including(outside("services/orchestrator/fanout/mailbox.c", "services/orchestrator/fanout/mailbox_tls."),
                lambda path, name: name.startswith("nng/")))


# The rooms of the orchestrator, the lower first: a room includes lower rooms alone. A lower room calls a higher one by
# thread/thread_hooks.h.
ORCHESTRATOR = "services/orchestrator/"
ROOMS = ["log", "graph", "state", "nodes", "thread", "cluster", "fanout", "monitor", "journal", "watch", "engine",
         "quarantine", "lifecycle", "upgrade", "retention", "history", "runtime", "process", "api", "typed"]


def room_of(path):
    parts = path[len(ORCHESTRATOR):].split("/") if path.startswith(ORCHESTRATOR) else []
    return parts[0] if len(parts) == 2 else None


def upward(path, name):
    own, other = room_of(path), name.split("/")[0]
    return own in ROOMS and other in ROOMS and ROOMS.index(other) > ROOMS.index(own)


check("every room of the orchestrator has its place in the order",
      sorted({room_of(path) for path in product if room_of(path)} - set(ROOMS)))
check("a lower room of the orchestrator includes no higher one", including(product, upward))


names_of_headers = collections.Counter(os.path.basename(path) for path in product
                                       if path.startswith(ORCHESTRATOR) and path.endswith(".h"))
check("two rooms of the orchestrator have no headers of one name",
      sorted(name for name, count in names_of_headers.items() if count > 1))


# The state machines of the orchestrator: the file of each alone assigns the state; all others call its move function.
# Each with its variables, its field and its constants ("": the contract's, which messages have, too).
MACHINES = {
    "thread/activation_state.c": ("activation|inner|to", "state", "ACTIVATION_"),
    "thread/branch_state.c": (r"branch|branches\[[^;]*\]", "state", "BRANCH_"),
    "thread/run_state.c": ("run", "state", ""),
    "thread/frame_phase.c": ("frame|root", "phase", "FRAME_"),
    "thread/thread_phase.c": ("thread", "phase", "THREAD_"),
    "watch/subscription_state.c": ("subscription", "(?:watcher_)?state", "(?:SUBSCRIPTION|WATCHER)_"),
}


def assignments(names, field, constants):
    by_constant = rf"|(?:->|\.){field} = (?:[^;=]*[?:] )?{constants}[A-Z]" if constants else ""
    return re.compile(rf"(?:\b|->)(?:{names})(?:->|\.){field} = (?!=){by_constant}")


check("a state of a machine of the orchestrator is assigned in the machine's file alone",
      [f"{path}: {found.group()}" for home, machine in MACHINES.items() for path in product
       if room_of(path) and not path.endswith(home) for found in assignments(*machine).finditer(read(path))])


def neighbours(path, name):
    own = path.split("/")[1]
    header = name.split("/")[-1]
    if any(os.path.exists(os.path.join(ROOT, folder, name)) for folder in (os.path.dirname(path), f"services/{own}")):
        return False
    homes = [service for service in SERVICES if os.path.exists(os.path.join(ROOT, "services", service, header))]
    return own in SERVICES and homes and own not in homes and not name.endswith(".pb-c.h")


check("services never include each other", including([p for p in product if p.startswith("services/")], neighbours))
check("model_task is used by planner and reviewer alone",
      including(outside("services/model_task/", "services/planner/", "services/reviewer/"),
                lambda path, name: name.startswith("model_task/")))
check(f"no source file is longer than {LINES_MAX} lines",
      [f"{path}: {lines}" for path in sources if (lines := read(path).count("\n")) > LINES_MAX])
check("no room is called utils, helpers or common",
      [path for path in sources if re.search(r"(^|/)(utils?|helpers?|common|misc)\.[ch]$", path)])
check("every header says what it is for before anything else",
      [path for path in sources if path.endswith(".h") and not read(path).startswith("/*")])
check("the licence is Apache-2.0, and each file of the contract, which clients copy, says so in its first line",
      [path for path in files if path.endswith(".proto") and path.startswith("proto/")
       and not read(path).startswith("// SPDX-License-Identifier: Apache-2.0\n")]
      + ([] if "Apache License" in read("LICENSE")[:200] and "Version 2.0" in read("LICENSE")[:200] else ["LICENSE"]))
check("no mark of unfinished work is left",
      [path for path in sources if re.search(r"\b(TODO|FIXME|XXX|HACK)\b", read(path))])



def forgotten(pattern, files, table):
    """The constants of these files that have no row in a table."""
    rows = read(table)
    names = [(path, name) for path in product if re.fullmatch(files, path) for name in re.findall(pattern, read(path), re.M)]
    return [f"{path}: {name} is not in {table}" for path, name in names if not re.search(rf"&{name}\b", rows)] or \
        ([] if names else [f"there is no file like {files}"])


NODES = r"services/orchestrator/nodes/\w+\.c"
check("each kind of node, tool, provider and command has its row in its table",
      forgotten(r"^const struct node_kind (\w+) = \{", NODES, "services/orchestrator/nodes/kinds.c")
      + forgotten(r"^const struct tool (\w+) = \{", r"services/tool_runner/tools/\w+\.c", "services/tool_runner/tools/tools.c")
      + forgotten(r"^const struct provider (\w+) = \{", r"services/llm_gateway/\w+/\w+\.c", "services/llm_gateway/provider/providers.c")
      + forgotten(r"^const struct command (\w+) = \{", r"services/renga/\w+\.c", "services/renga/main.c"))
kinds = [name for path in product if re.fullmatch(NODES, path)
         for name in re.findall(r'^const struct node_kind \w+ = \{\s*\.name = "(\w+)"', read(path), re.M)]
check("each kind of node stands in the tables of nodes/README.md and graph/README.md",
      [f"{kind} is not in {page}" for page in ("services/orchestrator/nodes/README.md", "services/orchestrator/graph/README.md")
       for kind in kinds if not re.search(rf"^\|.*`{kind}`", read(page), re.M)])
documented = read("services/orchestrator/graph/README.md")
unnamed = [f"`{name}` of {kind}" for path in product if re.fullmatch(NODES, path)
           for kind in re.findall(r'^const struct node_kind \w+ = \{\s*\.name = "(\w+)"', read(path), re.M)
           for name in re.findall(r'\{\s*"(\w+)",\s*(?:READS|WRITES|PARAMETER)_', read(path))
           if not re.search(rf"^\|[^|]*`{kind}`[^|]*\|.*`{name}`", documented, re.M)]
unnamed += [f"`{name}` of a node" for name in re.findall(r'_OPTION\("(\w+)"', read("services/orchestrator/graph/read_node.c"))
            if f"`{name}`" not in documented]
check("each parameter of a node stands in the row of its kind in graph/README.md", unnamed)

methods = {name for path in files if path.endswith(".proto") and path != "proto/renga/v1/node.proto"
           for name in re.findall(r"^ *rpc ([A-Z][a-z]+[A-Z]\w*)\(", read(path), re.M)}
check("no text of a status names a method of gRPC: a person at HTTP or at the command line does not know it",
      [f"{path} says '{text[:60]}'" for path in product if path.startswith("services/") and "/generator/" not in path
       for text in re.findall(r'"((?:[^"\\\n]|\\.)*)"', read(path)) if " " in text and methods & set(re.findall(r"\w+", text))]
      or ([] if len(methods) > 30 else ["the contract has no methods"]))

LIBRARY_CHECK = """
from checks import check, expect, finish
@check("it has no reason to show")
def _():
    expect(False, "")
finish()
"""
told = subprocess.run([sys.executable, "-c", LIBRARY_CHECK], cwd=os.path.join(ROOT, "tests", "lib"), capture_output=True, text=True)
check("a check of tests/lib that fails without a reason has failed",
      [] if told.returncode == 1 and "not ok - it has no reason" in told.stdout else [told.stdout + told.stderr])


def to_be_formatted():
    """All C files. If RENGA_TURN is the number of commits: those that the last RECENT commits or the working tree changed, and a
    PARTS-th of the others, another one with each commit. After a change of .clang-format all of them."""
    turn = int(os.environ.get("RENGA_TURN", "0"))
    names = [["log", f"-{RECENT}", "--no-renames", "--format="], ["diff", "HEAD"]]
    changed = {path for words in names for path in git(*words, "--name-only")} | set(git("ls-files", "-o", "--exclude-standard"))
    if turn <= RECENT or ".clang-format" in changed:  # a history without its beginning does not tell
        return sources
    return [path for number, path in enumerate(sorted(sources)) if path in changed or number % PARTS == turn % PARTS]


measured = measures.measure()
check(f"at most {SHARED_SHARE_MAX:.0%} of the functions have a name that stands in several files",
      [f"{name}: {', '.join(sorted(files))}" for name, files in measured["shared"].items()]
      if measured["shared_share"] > SHARED_SHARE_MAX else [])
check(f"at most {INDEFINITE_MAX} of 1,000 words of comments are indefinite (what, whoever, nothing, ...)",
      [f"{measured['indefinite_rate']:.1f}"] if measured["indefinite_rate"] > INDEFINITE_MAX else [])

check("no rooms include each other in a circle", [", ".join(circle) for circle in measured["circles"]])

formatted = subprocess.run(["clang-format", "--dry-run", "--Werror", *to_be_formatted()], cwd=ROOT, capture_output=True, text=True)
check("every C file is formatted as .clang-format says",
      sorted(set(re.findall(r"^([^:\n]+):\d+:\d+: error", formatted.stderr, re.M))) or
      ([formatted.stderr[:200]] if formatted.returncode else []))
sys.exit(1 if failed else 0)
