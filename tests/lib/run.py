#!/usr/bin/env python3
"""Builds Renga and runs its tests: plain, with ASan and UBSan, and with TSan. Ends with 'N passed, N failed'.

  tests/run                 everything
  tests/run --quick         the plain build only
  tests/run --jobs=N        N tests beside each other; most of them wait, so it is two a core where nothing is said
  tests/run NAME...         only tests whose ctest name contains a NAME, in all builds

Every sentence counts: a cmocka test, or a line 'ok - …' / 'not ok - …' of a script. A test that failed beside others is
run once more, alone, when its build's tests have ended: if it passes then, it is listed as unsteady, with its first failure.
A sanitizer's report is final, and more than RERUN_MAX failures are. Failures are shown at the end, with the last output of
their services; full logs are in build/PRESET/tests.log and rerun.log.
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
RERUN_MAX = 4  # tests of a build; a broken build fails in more, and gets no second chance


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


def run_ctest(preset, log_name, jobs, selection):
    """Runs ctest, passing a line a test on as it ends. Returns its exit status, its whole output, and of each test that
    ended (name, how it ended, its own output)."""
    command = ["ctest", "--preset", preset, "--verbose", "--parallel", str(jobs), *selection]
    environment = dict(os.environ, TSAN_OPTIONS="ignore_noninstrumented_modules=1 halt_on_error=1",
                       UBSAN_OPTIONS="print_stacktrace=1", ASAN_OPTIONS="detect_leaks=1")
    said, ended = collections.defaultdict(list), []
    log = open(os.path.join(ROOT, "build", preset, log_name), "w+", buffering=1)
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
    return ctest.returncode, text, [(name, how, "".join(said[number])) for number, name, how in ended]


def run(preset, names, jobs):
    """Returns the sentences passed, the texts of those that failed, and those of tests that passed the second time."""
    selection = ["-E", LEFT_OUT[preset]] if preset in LEFT_OUT else []
    if names:
        selection += ["-R", "|".join(re.escape(name) for name in names)]
    status, text, ended = run_ctest(preset, "tests.log", jobs, selection)
    passed = len(PASSED.findall(text))
    failed = {name: (own, failures_of(f"{preset}: {name}", how, own)) for name, how, own in ended}
    failed = {name: of for name, of in failed.items() if of[1]}
    if status and not failed:
        return passed, [f"{preset}: ctest ended with {status}\n" + text[-2000:]], []
    unsteady = []
    if len(failed) <= RERUN_MAX:
        for name in [name for name, (own, _) in failed.items() if not REPORT.search(own)]:
            print(f"  {name} failed beside others; it is run once more, alone", flush=True)
            status, text, ended = run_ctest(preset, "rerun.log", 1, ["-R", f"^{re.escape(name)}$"])
            if status == 0 and ended and not any(failures_of(name, how, own) for _, how, own in ended):
                own, sentences = failed.pop(name)
                unsteady += sentences
                passed += len(PASSED.findall(text)) - len(PASSED.findall(own))
    return passed, [sentence for _, sentences in failed.values() for sentence in sentences], unsteady


def main():
    arguments = sys.argv[1:]
    if "--help" in arguments or "-h" in arguments:
        print(__doc__.strip())
        return 0
    presets = PRESETS[:1] if "--quick" in arguments else PRESETS
    names = [argument for argument in arguments if not argument.startswith("--")]
    jobs = next((int(a.removeprefix("--jobs=")) for a in arguments if a.startswith("--jobs=")), None)
    passed, failures, unsteady = 0, [], []
    for preset in presets:
        if not build(preset):
            failures.append(f"{preset}: the build")
            continue
        count, failed, shaky = run(preset, names, jobs or 2 * os.cpu_count())
        passed += count
        failures += failed
        unsteady += shaky
    if unsteady:
        print(paint(33, "\nUnsteady: failed beside other tests, passed alone:"))
        for failure in unsteady:
            print("  " + failure)
    if failures:
        print(paint(31, "\nWhat failed:"))
        for failure in failures:
            print("  " + failure)
    print(f"{passed} passed, {len(failures)} failed")
    return 1 if failures or not passed else 0


sys.exit(main())
