#!/usr/bin/env python3
"""Whether the programs that we ship are hardened, and no two of our libraries have a function of one name. Reads the built
files with readelf and nm: RENGA_BIN=<folder> binaries.py."""
import collections
import glob
import json
import os
import platform
import re
import subprocess
import sys

BIN = os.environ["RENGA_BIN"]
SHIPPED = ["renga", "renga-llm-gateway", "renga-planner", "renga-tool-runner", "renga-reviewer", "renga-orchestrator", "renga-edge"]
PRODUCER = ["-fPIE", "-fstack-clash-protection", "-fstack-protector-strong"]
if platform.machine() in ("x86_64", "i686"):
    PRODUCER.append("-fcf-protection=full")

failed = 0


def check(sentence, missing):
    global failed
    failed += bool(missing)
    print(f"not ok - {sentence}: {'; '.join(missing[:5])}" if missing else f"ok - {sentence}")


def readelf(name, *flags):
    out = subprocess.run(["readelf", *flags, f"{BIN}/{name}"], capture_output=True, text=True)
    if out.returncode:
        sys.exit(f"readelf cannot read {BIN}/{name}: {out.stderr}")
    return out.stdout


def segment_flags(name, segment):
    """'RW' of 'GNU_STACK 0x0 ... RW 0x10'; None where there is no such segment."""
    found = re.search(rf"^\s*{segment}\s+(?:0x[0-9a-f]+\s+){{5}}([RWE ]+?)\s+0x", readelf(name, "-lW"), re.M)
    return found and found.group(1).replace(" ", "")


def loaded_too_early(name):
    """Libraries that the loader of a program would load; shared/http/libcurl.c loads them."""
    out = subprocess.run(["ldd", f"{BIN}/{name}"], capture_output=True, text=True).stdout
    return re.findall(r"^\s*(lib(?:curl|ldap|krb5)\S*) =>", out, re.M) if "libc.so" in out else ["ldd reads nothing"]


def producers(name):
    """The compiler and its flags, as the debug information of each of our units tells them."""
    lines = set(re.findall(r"DW_AT_producer\s*:.*?(GNU C\d+ .*)", readelf(name, "--debug-dump=info", "--dwarf-depth=1")))
    return lines or {"no debug information"}


def names_of(library):
    out = subprocess.run(["nm", "--defined-only", "--extern-only", library], capture_output=True, text=True, errors="replace").stdout
    return set(re.findall(r"^[0-9a-f]+ [TDRB] (\w+)$", out, re.M))


def less_fortified():
    """Our units that are compiled below level 3, which no program shows: it checks sizes that are known at run time alone."""
    with open(f"{BIN}/../compile_commands.json") as file:
        units = [(os.path.basename(entry["file"]), entry["command"].split()) for entry in json.load(file)
                 if re.search(r"/(shared|services)/[^:]*\.c$", entry["file"])]
    return [name for name, command in units if "-D_FORTIFY_SOURCE=3" not in command] if units else ["there are no units"]


def doubled():
    """The linker takes the first of two functions of one name in static libraries, without a word."""
    owners = collections.defaultdict(list)
    for library in glob.glob(f"{BIN}/../**/librenga_*.a", recursive=True):
        for name in names_of(library):
            owners[name].append(os.path.basename(library))
    return [f"{name} in {' and '.join(sorted(where))}" for name, where in owners.items() if len(where) > 1]


check("no two libraries have a function of one name", doubled())
check("programs are position-independent",
      [name for name in SHIPPED if not re.search(r"Flags:.*\bPIE\b", readelf(name, "-dW"))])
check("relocations are read-only after the start (RELRO), and all are done then (BIND_NOW)",
      [name for name in SHIPPED if not segment_flags(name, "GNU_RELRO") or "BIND_NOW" not in readelf(name, "-dW")])
check("no stack may be executed", [name for name in SHIPPED if segment_flags(name, "GNU_STACK") != "RW"])
check("no memory is both writable and executable",
      [name for name in SHIPPED if re.search(r"^\s*LOAD.*RWE", readelf(name, "-lW"), re.M)])
check("calls of the C library are checked (_FORTIFY_SOURCE)",
      [name for name in SHIPPED if "__memcpy_chk" not in readelf(name, "-W", "--dyn-syms")])
check("at level 3 in every unit", less_fortified())
check("no program is linked with libcurl and what it needs: commands start without them",
      [f"{name}: {library}" for name in SHIPPED for library in loaded_too_early(name)])
check("stacks, their ends and indirect jumps are guarded in every unit",
      [f"{name}: {flag} is missing in '{producer[:200]}'" for name in SHIPPED for producer in producers(name)
       for flag in PRODUCER if flag not in producer.split()])
sys.exit(failed > 0)
