#!/usr/bin/env python3
"""Whether the studies of proto/README.md run as they stand there, in Python and Node, against `renga serve` over the sample
documents. Needs RENGA_BIN and RENGA_PROTO; NODE names Node, and its check is left out without it."""
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "interview"))
from desk import SLOW, Desk, expect, folder, message  # noqa: E402
from checks import check, finish  # noqa: E402

ROOT = os.path.realpath(os.path.join(HERE, "..", "..", ".."))
with open(f"{ROOT}/proto/README.md") as file:
    before, text = file.read().split("\n## A study\n")
text = text.split("\n## ")[0]
desk = Desk("--tool_runner.roots=/", store="memory:")
fill = desk.channel.unary_stream("/renga.v1.ToolRunner/IndexDocuments", request_serializer=lambda m: m.SerializeToString(),
                                 response_deserializer=message("IndexDocumentsProgress").FromString)
list(fill(message("IndexDocumentsRequest")(collection="docs", folder=f"{ROOT}/deploy/samples/docs"), timeout=60 * SLOW, wait_for_ready=True))


def example(language):
    found = re.findall(rf"^```{language}\n(.*?)^```$", text, re.M | re.S)
    expect(len(found) == 1 and "localhost:15000" in found[0], f"{len(found)} examples in {language}")
    return found[0].replace("localhost:15000", f"127.0.0.1:{desk.port}")


def beginning():
    """Of the first example in Python: until messages can be made."""
    code = re.search(r"^```python\n(.*?)^```$", before, re.M | re.S).group(1)
    return code[:code.index("channel = ")]


def run(*command):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60 * SLOW)
    expect(done.returncode == 0, done.stderr)
    for wanted in (r"^note 1: How long are backups kept\?$", "kept for 35 days", r"(?s)AES-256.*AES-256"):
        expect(re.search(wanted, done.stdout, re.M), f"{wanted!r} is missing: {done.stdout}")
    return done.stdout


@check("the study in Python shows its notes, prints report and citations, and asks further")
def _():
    os.symlink(os.path.join(os.environ["RENGA_PROTO"], "renga_descriptor_set.bin"), f"{folder}/renga.desc")
    with open(f"{folder}/study.py", "w") as file:
        file.write(beginning() + example("python"))
    expect(re.search(r"^en/backup\.md:\d+: Backups are kept for 35 days", run(sys.executable, "study.py"), re.M), "no citation")


if os.environ.get("NODE"):
    @check("the study in Node shows its notes, prints the report, and asks further")
    def _():
        os.symlink(f"{ROOT}/proto", f"{folder}/proto")
        os.symlink(os.path.realpath(f"{HERE}/../node_modules"), f"{folder}/node_modules")
        with open(f"{folder}/study.mjs", "w") as file:
            file.write(example("js"))
        run(os.environ["NODE"], "study.mjs")


desk.stop()
finish()
