#!/usr/bin/env python3
"""Whether the interviews of proto/README.md run as they stand there, in Python and Node, against `renga serve`.
Needs RENGA_BIN and RENGA_PROTO; NODE names Node, and its check is left out without it."""
import os
import re
import subprocess
import sys
import threading

from desk import SLOW, Desk, expect, folder
from checks import check, finish, wait_until

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.realpath(os.path.join(HERE, "..", "..", ".."))
with open(f"{ROOT}/proto/README.md") as file:
    before, text = file.read().split("\n## An interview\n")
desk = Desk(store="memory:")


def example(language):
    found = re.findall(rf"^```{language}\n(.*?)^```$", text, re.M | re.S)
    expect(len(found) == 1 and "localhost:15000" in found[0], f"{len(found)} examples in {language}")
    return found[0].replace("localhost:15000", f"127.0.0.1:{desk.port}")


def beginning():
    """Of the first example in Python: until messages can be made."""
    code = re.search(r"^```python\n(.*?)^```$", before, re.M | re.S).group(1)
    return code[:code.index("channel = ")]


def hold(command, answers):
    """Each answer is typed when the one before has had its reply."""
    process = subprocess.Popen(command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    out = bytearray()
    reader = threading.Thread(target=lambda: [out.extend(piece) for piece in iter(lambda: os.read(process.stdout.fileno(), 65536), b"")])
    reader.start()
    try:
        for count, answer in enumerate(answers):
            wait_until(lambda: out.count(b"> ") > count or process.poll() is not None, f"question {count + 1}: {out.decode()}", 30.0 * SLOW)
            expect(process.poll() is None, f"it has ended: {out.decode()}")
            process.stdin.write(f"{answer}\n".encode())
            process.stdin.flush()
        expect(process.wait(30 * SLOW) == 0, out.decode())
    finally:
        process.kill()
        reader.join()
    return out.decode()


@check("the interview in Python asks, asks again, confirms and prints the values")
def _():
    os.symlink(os.path.join(os.environ["RENGA_PROTO"], "renga_descriptor_set.bin"), f"{folder}/renga.desc")
    with open(f"{folder}/interview.py", "w") as file:
        file.write(beginning() + example("python"))
    out = hold([sys.executable, "-u", "interview.py"], ["Ada Lovelace", "not yet", "ada@example.com"])
    expect(out.count("Your e-mail address") >= 3, f"it does not ask again: {out}")
    expect(re.search(r"^\{(?=.*'name': 'Ada Lovelace').*'mail': 'ada@example.com'", out, re.M), out)


if os.environ.get("NODE"):
    @check("the interview in Node is written as it comes, and ends with the values")
    def _():
        os.symlink(f"{ROOT}/proto", f"{folder}/proto")
        os.symlink(os.path.realpath(f"{HERE}/../node_modules"), f"{folder}/node_modules")
        with open(f"{folder}/interview.mjs", "w") as file:
            file.write(example("js"))
        out = hold([os.environ["NODE"], "interview.mjs"], ["山田太郎", "taro@example.com"])
        expect("✓ お名前: 山田太郎" in out and "メールアドレス" in out and "mail: 'taro@example.com'" in out, out)


desk.stop()
finish()
