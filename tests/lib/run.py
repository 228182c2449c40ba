#!/usr/bin/env python3
"""Builds Renga and runs its tests: plain, with ASan and UBSan, and with TSan. Ends with 'N passed, N failed'.

  tests/run                 everything
  tests/run --quick         the plain build only
  tests/run --jobs=N        N tests beside each other; most of them wait, so it is two a core where nothing is said
  tests/run NAME...         only tests whose ctest name contains a NAME, in all builds

Every sentence counts: a cmocka test, or a line 'ok - …' / 'not ok - …' of a script. A test is run once: what fails only
now and then has failed. What failed is shown at the end, with what its services said last; full logs are in
build/PRESET/tests.log.
"""
import collections
import os
import re
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PRESETS = ["release", "asan", "tsan"]
# TSan looks at what threads touch: the runtime under load. Which bytes a client sends makes no difference to it, nor
# how JSON is read.
LEFT_OUT = {"tsan": "^base_json_|rpc_node|rpc_python_(limits|tls|reflection|keys)|interop|fault_|aimock|door_sdk|search_providers"}
PASSED = re.compile(r"^(\d+: )?(\[       OK \]|ok - )", re.M)
FAILED = re.compile(r"^(?:\[  FAILED  \] (?!\d+ test)(\S+)$|not ok - (.*(?:\n# (?!\d+ ok).*)*))", re.M)
REPORT = re.compile(r"^.*(?:Sanitizer: |runtime error: )(?:.*\n?){40}", re.M)
TEST_ENDED = re.compile(r"^\s*\d+/\d+ Test\s+#(\d+): (\S+) \.+\s*(Passed|\*\*\*\S+.*?)\s+([\d.]+) sec", re.M)
TERMINAL = sys.stdout.isatty()


def paint(code, text):
    return f"\033[{code}m{text}\033[0m" if TERMINAL else text


def build(preset):
    began = time.time()
    for command in (["cmake", "--preset", preset], ["cmake", "--build", "--preset", preset]):
        done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode:
            print(done.stdout[-6000:])
            print(paint(31, f"{preset}: {' '.join(command)} failed"))
            return False
    print(f"{preset}: built in {time.time() - began:.0f} s", flush=True)
    return True


def failures_of(name, how, text):
    """What a test that has ended says of why it failed."""
    sentences = list(dict.fromkeys(a or b for a, b in FAILED.findall(text)))
    if how != "Passed" and not sentences:
        sentences = [how.strip("*") + "\n" + text[-3000:]]
    report = REPORT.search(text)
    if sentences and report and not any(REPORT.search(sentence) for sentence in sentences):
        sentences.append("a sanitizer's report\n" + report.group())
    return [f"{name}: {sentence}" for sentence in sentences]


def run(preset, names, jobs):
    """Runs ctest, passing a line a test on as it ends; returns sentences passed and the texts of those that failed."""
    command = ["ctest", "--preset", preset, "--verbose", "--parallel", str(jobs)]
    if preset in LEFT_OUT:
        command += ["-E", LEFT_OUT[preset]]
    if names:
        command += ["-R", "|".join(re.escape(name) for name in names)]
    environment = dict(os.environ, TSAN_OPTIONS="ignore_noninstrumented_modules=1 halt_on_error=1",
                       UBSAN_OPTIONS="print_stacktrace=1", ASAN_OPTIONS="detect_leaks=1")
    said, ended = collections.defaultdict(list), []
    log = open(os.path.join(ROOT, "build", preset, "tests.log"), "w+", buffering=1)
    ctest = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                             text=True, errors="replace")
    for line in ctest.stdout:
        log.write(line)
        number, colon, own = line.partition(": ")
        if colon and number.isdigit():
            said[number].append(own)
        match = TEST_ENDED.match(line)
        if match:
            number, name, how, seconds = match.groups()
            ended.append((number, name, how))
            colour = 32 if how == "Passed" else 31
            print(f"  {paint(colour, how.strip('*').lower()):<8} {name} ({float(seconds):.1f} s)", flush=True)
    ctest.wait()
    log.seek(0)
    text = log.read()
    log.close()
    failures = []
    for number, name, how in ended:
        failures += failures_of(f"{preset}: {name}", how, "".join(said[number]))
    if ctest.returncode and not failures:
        failures.append(f"{preset}: ctest ended with {ctest.returncode}\n" + text[-2000:])
    return len(PASSED.findall(text)), failures


def main():
    arguments = sys.argv[1:]
    if "--help" in arguments or "-h" in arguments:
        print(__doc__.strip())
        return 0
    presets = PRESETS[:1] if "--quick" in arguments else PRESETS
    names = [argument for argument in arguments if not argument.startswith("--")]
    jobs = next((int(a.removeprefix("--jobs=")) for a in arguments if a.startswith("--jobs=")), None)
    passed, failures = 0, []
    for preset in presets:
        if not build(preset):
            failures.append(f"{preset}: the build")
            continue
        count, failed = run(preset, names, jobs or 2 * os.cpu_count())
        passed += count
        failures += failed
    if failures:
        print(paint(31, "\nWhat failed:"))
        for failure in failures:
            print("  " + failure)
    print(f"{passed} passed, {len(failures)} failed")
    return 1 if failures or not passed else 0


sys.exit(main())
