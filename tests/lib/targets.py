"""The build targets that one test needs: targets.py BUILD TEST. A program is its own target. A script needs the programs that it
and the modules beside it name; a name made at run time (renga-{name}) stands for all services. Prints the targets in one line."""
import json
import os
import re
import subprocess
import sys

LIB = os.path.dirname(os.path.abspath(__file__))
SERVICES = ["renga-llm-gateway", "renga-planner", "renga-tool-runner", "renga-reviewer", "renga-orchestrator", "renga-edge"]
OWN = ["probe-server", "renga", *SERVICES]
WHOLE = {"binaries", "reproducible", "tidy"}  # they read all that is built


def script_text(path, seen):
    """The text of a script and of the modules that it imports: from its own folder, from tests/lib, and from a folder that it adds to
    sys.path, os.path.join(HERE, "..", "orchestrator")."""
    path = os.path.realpath(path)
    if path in seen or not os.path.isfile(path):
        return ""
    seen.add(path)
    with open(path, errors="replace") as file:
        text = file.read()
    here = os.path.dirname(path)
    modules = re.findall(r"^\s*(?:from|import)\s+(\w+)", text, re.M)
    relative = re.findall(r"from '(\.[^']+)'", text)
    added = [os.path.join(here, *re.findall(r'"([^"]+)"', parts)) for parts in re.findall(r"sys\.path\.insert\(0, .*?, (\"\.\.\".*?)\)", text)]
    paths = [f"{folder}/{module}.py" for module in modules for folder in (here, LIB, *added)]
    return text + "".join(script_text(other, seen) for other in paths + [os.path.join(here, name) for name in relative])


def tests_named(build, name):
    told = subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1", "-R", f"^{re.escape(name)}$"],
                          capture_output=True, text=True, check=True).stdout
    return json.loads(told)["tests"]


def targets(build, name):
    tests = tests_named(build, name)
    if not tests:  # a file may be newer than the configuration
        subprocess.run(["cmake", build], capture_output=True, check=False)
        tests = tests_named(build, name)
    if not tests:
        sys.exit(f"there is no test '{name}'; tests/dev tests lists the names")
    command = tests[0].get("command", [name])
    known = subprocess.run(["cmake", "--build", build, "--target", "help"], capture_output=True, text=True).stdout
    programs = set(re.findall(r"^(?:\.\.\. )?([\w-]+)(?:: phony)?$", known, re.M))
    folder = {p["name"]: p["value"] for p in tests[0].get("properties", [])}.get("WORKING_DIRECTORY", build)
    files = [os.path.join(folder, part) for part in command[1:] if "/" in part or "." in part]
    scripts = [path for path in files if os.path.isfile(path) and not path.startswith(build)]
    if name in WHOLE:
        return ["all"]
    if not scripts:
        return sorted({part for part in [name, *(os.path.basename(part) for part in command)] if part in programs})
    if "/tests/house/" in scripts[0]:
        return []
    text = "".join(script_text(path, set()) for path in scripts) + " ".join(command)
    found = {program for program in OWN if re.search(rf"(?<![\w-]){program}(?![\w-])", text)}
    found |= {program for program in programs if f"BIN}}/{program}" in text or f"/test/{program}" in text}
    if re.search(r"renga-\{|BIN\}/\{", text):
        found |= set(SERVICES)
    if "RENGA_PROTO" in text or "RENGA_DESC" in text:
        found |= {"renga_proto", "renga_desc"}
    return sorted(found)


if __name__ == "__main__":
    print(*targets(*sys.argv[1:]))
