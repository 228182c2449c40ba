#!/usr/bin/env python3
"""Runs clang-tidy (.clang-tidy) over all sources. `tidy.py BUILD_DIR`: the folder with compile_commands.json.

Nine tenths of the time are the analyzer's paths. It follows calls into other functions only in files that the last RECENT
commits changed, DEEP_MAX files at most, the latest first; in all others it stays within each function, in half the time. `--deep`
follows them everywhere and as far as clang does by itself, in four times the time: run it now and then by hand. Commits of more
than BULK files do not count. Of the files that no recent commit changed each run reads a PARTS-th, another one with each commit;
`--all` reads all of them."""
import concurrent.futures
import os
import re
import subprocess
import sys
import zlib

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RECENT = 60     # commits
DEEP_MAX = 40   # files; a day's work on the whole tree must not make a run of all tests longer
BULK = 100      # a commit that changes more files renames or formats them, and does not count
PARTS = 10
# With 40,000 steps a function, of 225,000 that are usual, the analyzer found all eleven mistakes of a tree that had some;
# with 20,000 it missed one. Without calls it misses those that need two functions: two of seven in a file of mistakes.
PATHS = {"whole": [], "recent": ["max-nodes=40000"], "old": ["max-nodes=40000", "mode=shallow"]}


def git(*words):
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True)


def recent():
    """Files that the working tree or the last commits changed; None if the history does not tell."""
    log = git("log", f"-{RECENT}", "--no-merges", "--no-renames", "--name-only", "--format=%x00")
    commits = [commit.split() for commit in log.stdout.split("\0")[1:]]
    if log.returncode or len(commits) < RECENT:
        return None
    latest = git("diff", "--name-only", "HEAD").stdout.split() + [path for commit in commits if len(commit) <= BULK for path in commit]
    return set([path for path in dict.fromkeys(latest) if path in listed][:DEEP_MAX])


def paths_of(source, changed):
    return "whole" if "--deep" in sys.argv else "recent" if changed is None or source in changed else "old"


def has_turn(source, commits):
    return (zlib.crc32(source.encode()) + commits) % PARTS == 0 or "--all" in sys.argv or "--deep" in sys.argv


def tidy(source, paths):
    words = [word for setting in PATHS[paths] for word in ("-Xclang", "-analyzer-config", "-Xclang", setting)]
    command = ["clang-tidy", "-p", sys.argv[1], "--quiet", *(f"--extra-arg={word}" for word in ("-UNDEBUG", *words)), source]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    return sorted(set(re.findall(r"^(\S+:\d+:\d+: (?:error|warning): .*)$", done.stdout, re.M)))


listed = set(git("ls-files", "-co", "--exclude-standard", "shared/*.c", "services/*.c").stdout.split())
changed = recent()
commits = int(git("rev-list", "--count", "HEAD").stdout or 0)
sources = {source: paths_of(source, changed) for source in listed if os.path.isfile(os.path.join(ROOT, source))}
sources = {source: paths for source, paths in sources.items() if paths != "old" or has_turn(source, commits)}
order = sorted(sources, key=lambda source: -os.path.getsize(os.path.join(ROOT, source)))  # no long one is left for the end
os.nice(10)  # the tests that run beside it go first
with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    found = [finding for findings in pool.map(lambda source: tidy(source, sources[source]), order) for finding in findings]
for finding in sorted(set(found)):
    print(f"not ok - clang-tidy: {finding.replace(ROOT + '/', '')}")
if not found and sources:
    followed = sum(paths != "old" for paths in sources.values())
    print(f"ok - clang-tidy has nothing to say of {len(sources)} of {len(listed)} files, in {followed} of which it followed calls")
sys.exit(1 if found or not sources else 0)
