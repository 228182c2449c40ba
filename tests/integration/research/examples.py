#!/usr/bin/env python3
"""Whether the studies of proto/README.md, and the research with a person, run as they stand there, in Python and Node, against `renga
serve` over the sample documents. Needs RENGA_BIN and RENGA_PROTO; NODE names Node, and its check is left out without it."""
import contextlib
import os
import re
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "interview"))
from desk import SLOW, Desk, expect, folder, message  # noqa: E402
from checks import check, finish  # noqa: E402

ROOT = os.path.realpath(os.path.join(HERE, "..", "..", ".."))
with open(f"{ROOT}/proto/README.md") as file:
    whole = file.read()
before = whole.split("\n## A study\n")[0]
STUDY, PERSON = "A study", "Research with a person"
desk = Desk("--tool_runner.roots=/", store="memory:")
fill = desk.channel.unary_stream("/renga.v1.ToolRunner/IndexDocuments", request_serializer=lambda m: m.SerializeToString(),
                                 response_deserializer=message("IndexDocumentsProgress").FromString)
list(fill(message("IndexDocumentsRequest")(collection="docs", folder=f"{ROOT}/deploy/samples/docs"), timeout=60 * SLOW, wait_for_ready=True))


def example(section, language):
    text = whole.split(f"\n## {section}\n")[1].split("\n## ")[0]
    found = re.findall(rf"^```{language}\n(.*?)^```$", text, re.M | re.S)
    expect(len(found) == 1 and "localhost:15000" in found[0], f"{len(found)} examples in {language}")
    return found[0].replace("localhost:15000", f"127.0.0.1:{desk.port}")


def beginning():
    """Of the first example in Python: until messages can be made."""
    code = re.search(r"^```python\n(.*?)^```$", before, re.M | re.S).group(1)
    return code[:code.index("channel = ")]


STUDIED = (r"^note 1: How long are backups kept\?$", "kept for 35 days", r"(?s)AES-256.*AES-256")
ASKED = ("Before the supervisor", "Before the writer", "^## Executive Summary$", r"kept for 35 days.*\[\^1\]")


def press_enter(process):
    """Now and then: what comes while no question is asked is lost."""
    while process.poll() is None:
        with contextlib.suppress(OSError):
            process.stdin.write("\n")
            process.stdin.flush()
        time.sleep(0.05)


def run(*command, shows):
    process = subprocess.Popen(command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    watchdog = threading.Timer(60 * SLOW, process.kill)
    watchdog.start()
    threading.Thread(target=press_enter, args=(process,), daemon=True).start()
    shown = process.stdout.read()
    expect(process.wait() == 0, process.stderr.read())
    watchdog.cancel()
    for wanted in shows:
        expect(re.search(wanted, shown, re.M), f"{wanted!r} is missing: {shown}")
    return shown


def run_python(section, shows):
    with open(f"{folder}/study.py", "w") as file:
        file.write(beginning() + example(section, "python"))
    return run(sys.executable, "study.py", shows=shows)


def run_node(section, shows):
    with open(f"{folder}/study.mjs", "w") as file:
        file.write(example(section, "js"))
    return run(os.environ["NODE"], "study.mjs", shows=shows)


@check("the study in Python shows its notes, prints report and citations, and asks further")
def _():
    os.symlink(os.path.join(os.environ["RENGA_PROTO"], "renga_descriptor_set.bin"), f"{folder}/renga.desc")
    expect(re.search(r"^en/backup\.md:\d+: Backups are kept for 35 days", run_python(STUDY, STUDIED), re.M), "no citation")


@check("the research in Python asks before each step and prints the report")
def _():
    run_python(PERSON, ASKED)


if os.environ.get("NODE"):
    @check("the study in Node shows its notes, prints the report, and asks further")
    def _():
        os.symlink(f"{ROOT}/proto", f"{folder}/proto")
        os.symlink(os.path.realpath(f"{HERE}/../node_modules"), f"{folder}/node_modules")
        run_node(STUDY, STUDIED)

    @check("the research in Node asks before each step and prints the report")
    def _():
        run_node(PERSON, ASKED)


desk.stop()
finish()
