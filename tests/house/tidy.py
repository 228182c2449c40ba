#!/usr/bin/env python3
"""Whether clang-tidy has something to say (.clang-tidy). `tidy.py BUILD_DIR`: the one with compile_commands.json."""
import concurrent.futures
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def tidy(path):
    command = ["clang-tidy", "-p", sys.argv[1], "--quiet", "--extra-arg=-UNDEBUG", path]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    return sorted(set(re.findall(r"^(\S+:\d+:\d+: (?:error|warning): .*)$", done.stdout, re.M)))


listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "shared/*.c", "services/*.c"], cwd=ROOT,
                        capture_output=True, text=True).stdout.split()
sources = [path for path in listed if os.path.isfile(os.path.join(ROOT, path))]
with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    found = [finding for findings in pool.map(tidy, sources) for finding in findings]
for finding in sorted(set(found)):
    print(f"not ok - clang-tidy: {finding.replace(ROOT + '/', '')}")
if not found and sources:
    print(f"ok - clang-tidy has nothing to say of {len(sources)} files")
sys.exit(1 if found or not sources else 0)
