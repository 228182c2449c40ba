#!/usr/bin/env python3
"""Whether the examples of services/edge/README.md run as they stand there: each fenced block of `sh`, in its order, against `renga
serve`. An example that curl is refused, or that prints nothing, fails. Needs RENGA_BIN, curl and bash."""
import os
import re
import subprocess

from front import ROOT, SLOW, Front, expect, folder
from checks import check, finish

with open(f"{ROOT}/services/edge/README.md") as file:
    BLOCKS = re.findall(r"^([^\n]*)\n```sh\n(.*?)^```$", file.read(), re.M | re.S)  # each with the line in front of it
front = Front()
with open(f"{folder}/.curlrc", "w") as file:
    file.write("silent\nshow-error\nfail-with-body\nmax-time = 60\n")
os.mkdir(f"{folder}/handbook")
with open(f"{folder}/handbook/backup.md", "w") as file:
    file.write("# Backups\n\nBackups are kept for 30 days.\n")


def run(block):
    text = re.sub(r"\b(127\.0\.0\.1|localhost):8080\b", f"127.0.0.1:{front.port}", block)
    environment = {k: v for k, v in os.environ.items() if not k.startswith("RENGA_")}
    return subprocess.run(["bash", "-euo", "pipefail", "-c", text], cwd=folder, env=dict(environment, CURL_HOME=folder, KEY="none"),
                          capture_output=True, text=True, timeout=90 * SLOW)


@check("there are examples")
def _():
    expect(len(BLOCKS) >= 3 and all("curl" in block for _, block in BLOCKS), f"{len(BLOCKS)} blocks")
    return f"{len(BLOCKS)} blocks"


for said, block in BLOCKS:
    @check(f"an example runs: {said.rstrip(':')}")
    def _():
        done = run(block)
        expect(done.returncode == 0 and done.stdout.strip(), f"{done.returncode}: {done.stdout[-500:]} {done.stderr[-500:]}")

front.stop()
finish()
