#!/usr/bin/env python3
"""Whether a build is the same in another folder: some units of ours, compiled in two copies of the tree, are compared,
and no program that is shipped names the folder of its build.

    reproducible.py BUILD              compiles a few units
    reproducible.py BUILD --all        compiles every unit of shared/ and services/ (minutes)
    reproducible.py BUILD --as OTHER   compares the shipped programs of two builds; it compiles nothing

By hand on 2026-11-22, at commit b60c79b, with gcc 12.2.0 of Debian 12, the preset "release" and CCACHE_DISABLE=1: two
copies of the tree in folders of different depth, built one after the other. All six programs were the same, byte by byte
(renga 11,719,392 bytes, renga-orchestrator 7,620,504, renga-llm-gateway 4,821,896, renga-tool-runner 4,540,904,
renga-reviewer 3,035,576, renga-planner 2,918,688). A third build with ccache and CCACHE_BASEDIR had the same code and
constants, but other debug information, since ccache then gives the compiler relative names; so its build IDs differ.
Build a release without ccache, as deploy/container does."""
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FEW = ["shared/base/arena.c", "shared/rpc/server.c", "services/llm_gateway/chat/chat.c"]
SHIPPED = ["renga", "renga-llm-gateway", "renga-planner", "renga-tool-runner", "renga-reviewer", "renga-orchestrator", "renga-edge"]
build = os.path.abspath(sys.argv[1])
everything = "--all" in sys.argv


def program(folder, name):
    with open(f"{folder}/bin/{name}", "rb") as file:
        return file.read()


if "--as" in sys.argv:
    other = os.path.abspath(sys.argv[sys.argv.index("--as") + 1])
    unlike = [name for name in SHIPPED if program(build, name) != program(other, name)]
    print(f"not ok - the shipped programs of two builds are the same: {', '.join(unlike)}" if unlike else
          f"ok - {len(SHIPPED)} shipped programs of two builds are the same, byte by byte")
    sys.exit(bool(unlike))


def units():
    with open(f"{build}/compile_commands.json") as file:
        for entry in json.load(file):
            name = os.path.relpath(entry["file"], ROOT)
            if name in FEW or (everything and name.startswith(("shared/", "services/"))):
                yield name, entry["command"]


def compiled(command, folder, name):
    """The object of a unit whose tree is `folder`, as bytes. Compiler caches are left out of it."""
    words = shlex.split(command.replace(build, f"{folder}/made").replace(ROOT, folder))
    while "ccache" in os.path.basename(words[0]):
        words.pop(0)
    words[words.index("-o") + 1] = f"{folder}/unit.o"
    subprocess.run(words, cwd=f"{folder}/made", check=True)
    with open(f"{folder}/unit.o", "rb") as file:
        return file.read()


def copy_to(folder):
    for part in ("shared", "services", "proto"):
        shutil.copytree(f"{ROOT}/{part}", f"{folder}/{part}")
    shutil.copytree(f"{build}/proto", f"{folder}/made/proto", ignore=shutil.ignore_patterns("*.o", "*.a"))


with tempfile.TemporaryDirectory() as scratch:
    folders = [f"{scratch}/one", f"{scratch}/another/and/deeper"]
    for folder in folders:
        copy_to(folder)
    differing, named, count = [], [], 0
    for name, command in units():
        one, other = (compiled(command, folder, name) for folder in folders)
        count += 1
        differing += [name] if one != other else []
        named += [name] if scratch.encode() in one else []
placed = [name for name in SHIPPED if ROOT.encode() in program(build, name)]
if count < len(FEW):
    print(f"not ok - units to compare are in {build}/compile_commands.json: {count} of {len(FEW)} were found")
    sys.exit(1)
for sentence, wrong in ((f"{count} units compiled in two folders are the same, byte by byte", differing),
                        ("no object names the folder it was compiled in", named),
                        ("no program that is shipped names the folder it was built in", placed)):
    print(f"not ok - {sentence}: {', '.join(wrong[:5])}" if wrong else f"ok - {sentence}")
sys.exit(bool(differing or named or placed))
