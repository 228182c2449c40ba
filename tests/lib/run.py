#!/usr/bin/env python3
"""Builds Renga and runs its tests: plain, with ASan and UBSan, and with TSan. Ends with 'N passed, N failed'.

  tests/run                 everything
  tests/run --quick         the plain build only
  tests/run --builds=NAMES  these builds: release,asan,tsan
  tests/run --whole         no test takes turns
  tests/run --lines         the plain build's debug information has lines alone (gdb shows no variables): a tenth less to build
  tests/run --jobs=N        N tests beside each other; most of them wait, so it is three a core where nothing is said
  tests/run NAME...         only tests whose ctest name contains a NAME, in all builds

All is one schedule (schedule.py): while the tests of a build wait, the next build is made; the fuzzers and clang-tidy take what
is left of the processor; tests with RUN_SERIAL run alone, when all else has ended, those with the label `waiting` beside each other.

Every sentence counts: a cmocka test, or a line 'ok - …' / 'not ok - …' of a script. A test that failed beside others is
run once more, alone, when all else has ended: if it passes then, it is listed as unsteady, with its first failure.
A sanitizer's report is final (but not leaks behind a failed assertion), and more than RERUN_MAX failures are. Failures are shown at the end, with the last output of
their services; full logs are in build/PRESET/tests.log and rerun.log. A table says which tests cost most.
"""
import functools
import json
import os
import re
import signal
import subprocess
import sys
import time

from schedule import Job, Schedule, idle_seconds

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PRESETS = ["release", "asan", "tsan"]
# TSan looks at what threads do to each other. A program that can start none is left out by itself (starts_threads). These are,
# because more of the same makes no difference to it: which bytes a client sends, how large or damaged a kept row is, which words
# a document or a model has. What runs in one process and as five runs in one, where more threads meet. Kills at each step of an
# agent are kills of the same engine, whose own stay. ASan leaves out the costliest of those that only repeat what it has seen.
# The plain build leaves out tests of hostile bytes that judge no time and no memory: ASan and UBSan see more in the same bytes.
LEFT_OUT = {"release": "^(tool_runner_playbook_hostile|orchestrator_run_damaged_test|tool_runner_files|rpc_python_limits|rpc_node|"
                       "fault_garbage|autonomous_hostile|research_audit|interop_official)$",
            "asan": "^(interview_session_five|helpdesk_(unhelpful|retries)_five|autonomous_flow_five|edge_calls_five|research_outside_five|ace_world|edge_openapi|renga_readme|"
                    "orchestrator_killer|search_(providers|sources)|(interview|research)_terminal)$",
            "tsan": "rpc_node|rpc_python_(limits|tls|reflection|keys)|interop|fault_|aimock|openai_http_sdk|search_(providers|sources)|"
                    "orchestrator_run_(large|damaged)_test|ace_(world|properties|copies)|_five$|autonomous_(quality|tavily|hostile)|helpdesk_unhelpful|"
                    "tool_runner_playbook_(model|rows|hostile|search)|interview_(samples|examples|dialogues|terminal|disk)|"
                    "(research|autonomous|orchestrator|helpdesk)_terminal|tool_runner_files|research_audit|"
                    "renga_(eval|readme|markdown)|llm_gateway_(embedding_|limits_sdk|tokens)|edge_(large|openapi|twins|readme)|ace_command|"
                    "(ace|autonomous|interview|research|drill)_(kills|deaths)|orchestrator_killer|model_task_draft_test"}
# In the sanitizers' builds tests of services take turns: those of the first list run with every other commit, those of the second with
# the commits between. All run with each commit in the plain build. In a row stand tests that run the same code: a script on another
# store or in more processes, another client of an agent, another part of a service.
TURNS = {
    "asan": ("""
        interview_session_one           orchestrator_run_large_test     ace_command
        orchestrator_watching           orchestrator_others             tool_runner_index
        drill_kills                     autonomous_kills_on_redis       ace_deaths_on_redis  interview_kills_redis
        rpc_drain                       helpdesk_unhelpful_one          autonomous_flow_agent
        research_outside_one            drill_autonomous                orchestrator_kinds
        helpdesk_five                   tenants_five                    tenants_answers_one
        ace_whole_one                   autonomous_run_tree_five        research_flow_one
        orchestrator_crash              orchestrator_atomic             orchestrator_steps_on_redis
        edge_calls_one                  orchestrator_terminal           orchestrator_helpdesk
        orchestrator_deep_research      tool_runner_run""", """
        interview_disk interview_dialogues interview_samples            edge_large  ace_properties ace_learn ace_person
        orchestrator_chat               orchestrator_promises orchestrator_control orchestrator_sharing
        tool_runner_playbook_model tool_runner_playbook_writers
        autonomous_kills ace_kills      research_kills interview_kills_sqlite  ace_deaths  ace_kills_on_redis
        daemon                          helpdesk_terminal               autonomous_flow_one
        autonomous_tavily autonomous_quality                            drill_autonomous_on_redis  orchestrator_own_tools
        helpdesk_one                    tenants_one                     tenants_answers_five
        ace_whole_five                  autonomous_run_tree_one         research_flow_five
        orchestrator_crash_on_redis     orchestrator_atomic_on_redis    orchestrator_steps
        edge_twins                      renga_eval                      helpdesk_faults
        autonomous_graph                tool_runner_npm"""),
    "tsan": ("""
        tool_runner_index               orchestrator_watching           edge_calls_one
        orchestrator_others             orchestrator_promises           autonomous_flow_agent
        orchestrator_own_tools          research_outside_one            ace_learn
        ace_option                      drill_autonomous                orchestrator_loops
        orchestrator_steps              orchestrator_atomic             orchestrator_crash_on_redis
        interview_session_one           orchestrator_helpdesk           helpdesk_retries_one
        tenants_answers_one             tool_runner_mcp                 orchestrator_sharing  autonomous_run_tree_one""", """
        tool_runner_playbook tool_runner_playbook_writers tool_runner_run  orchestrator_chat
        edge_start edge_errors edge_foreign_pages
        orchestrator_control            orchestrator_kinds              autonomous_flow_one
        orchestrator_deep_research      research_flow_one research_graph research_examples  ace_person
        ace_whole_one                   drill_autonomous_on_redis autonomous_graph  orchestrator_fanout
        orchestrator_steps_on_redis     orchestrator_steps_of_one_loop  orchestrator_atomic_on_redis  orchestrator_crash
        interview_misbehaves interview_outage                           helpdesk_faults  helpdesk_one
        tenants_one                     tool_runner_npm                 orchestrator_remote  autonomous_whole""")}
TURNS = {preset: [part.split() for part in parts] for preset, parts in TURNS.items()}
WHOLE = "--whole" in sys.argv
CONFIGURE = {"release": " '-DCMAKE_C_FLAGS_RELWITHDEBINFO=-O2 -g1 -DNDEBUG'"} if "--lines" in sys.argv else {}
STARTS_THREADS = {"pthread_create", "grpc_init", "curl_global_init"}  # one of these is called by a program that has threads
PASSED = re.compile(r"^(?:\[       OK \]|ok - )", re.M)
FAILED = re.compile(r"^(?:\[  FAILED  \] (?!\d+ test)(\S+)$|not ok - (.*(?:\n# (?!\d+ ok).*)*))", re.M)
REPORT = re.compile(r"^.*(?:Sanitizer: |runtime error: )(?:.*\n?){40}", re.M)
LEAKS = "LeakSanitizer: detected memory leaks"  # a failed assertion leaves its test without freeing
TERMINAL = sys.stdout.isatty()
RERUN_MAX = 4  # tests of a build; a broken build fails in more, and gets no second chance


COSTLIEST = 12  # lines of the table
# What sanitizers are told. Of ignored modules: gRPC and others are not built with TSan.
SANITIZERS = {"TSAN_OPTIONS": "ignore_noninstrumented_modules=1 halt_on_error=1", "UBSAN_OPTIONS": "print_stacktrace=1",
              "ASAN_OPTIONS": "detect_leaks=1"}


def paint(code, text):
    return f"\033[{code}m{text}\033[0m" if TERMINAL else text


def failures_of(name, how, text):
    """What a test that has ended says of why it failed."""
    sentences = list(dict.fromkeys(a or b for a, b in FAILED.findall(text)))
    if how != "Passed" and not sentences:
        sentences = [how + "\n" + text[-3000:]]
    report = REPORT.search(text)
    if sentences and report and not any(REPORT.search(sentence) for sentence in sentences):
        sentences.append("a sanitizer's report\n" + report.group())
    return [f"{name}: {sentence}" for sentence in sentences]


def is_program(command):
    """True where the test is a program of ours; False for a script, which starts services."""
    return os.path.basename(os.path.dirname(command[0])) == "test"


def starts_threads(command):
    """False where the test is a program of ours that cannot start a thread, by the functions that it takes from libraries."""
    asked = subprocess.run(["nm", "-D", "--undefined-only", command[0]], stdout=subprocess.PIPE, text=True)
    wanted = {line.split()[-1].split("@")[0] for line in asked.stdout.splitlines()}
    return not is_program(command) or asked.returncode != 0 or bool(wanted & STARTS_THREADS)


def listed(preset):
    """The tests of a build as ctest knows them."""
    return json.loads(subprocess.run(["ctest", "--preset", preset, "--show-only=json-v1"], cwd=ROOT, check=True,
                                     stdout=subprocess.PIPE, text=True).stdout)["tests"]


@functools.cache
def turn():
    """A number that grows with each commit: tests that take turns do another part with it."""
    counted = subprocess.run(["git", "rev-list", "--count", "HEAD"], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return counted.stdout.strip() or "0"


def has_turn(preset, name):
    parts = TURNS.get(preset, ())
    return WHOLE or all(name not in part or int(turn()) % len(parts) == number for number, part in enumerate(parts))


def is_left_out(preset, name, names):
    """Tests that were asked for by name do not take turns."""
    if re.search(LEFT_OUT[preset], name):
        return True
    return not any(part in name for part in names) if names else not has_turn(preset, name)


def tests_of(preset, names, not_run):
    """The tests of a build as jobs that nobody has started."""
    for test in listed(preset):
        name = test["name"]
        if name in not_run or is_left_out(preset, name, names) or preset == "tsan" and not starts_threads(test["command"]):
            continue
        of = {one["name"]: one["value"] for one in test["properties"]}
        yield Job(name, test["command"], folder=of["WORKING_DIRECTORY"], limit=of["TIMEOUT"], cost=of.get("COST", 0.0),
                  environment=SANITIZERS | ({} if WHOLE else {"RENGA_TURN": turn()}) | dict(one.split("=", 1) for one in of.get("ENVIRONMENT", [])),
                  background="background" in of.get("LABELS", []), idle="idle" in of.get("LABELS", []),
                  serial=of.get("RUN_SERIAL", False), waiting="waiting" in of.get("LABELS", []))


def not_run_under_tsan(names):
    """Names of test programs that need not be built with TSan, as the programs of the plain build tell."""
    return [test["name"] for test in listed("release") if is_program(test["command"]) and
            (is_left_out("tsan", test["name"], names) or not starts_threads(test["command"]))]


class Preset:
    """A build and its tests."""

    def __init__(self, name, names, schedule):
        self.name, self.names, self.schedule = name, names, schedule
        self.passed, self.failed, self.unsteady, self.tests = 0, {}, [], []  # failed: of a test's name, (job, sentences)
        self.not_run, self.build, self.next = [], None, None  # next: is built when this one is

    def begin(self, not_run=()):
        """Adds the build, without the programs of these tests."""
        self.not_run = not_run
        configure = f"cmake --preset {self.name} '-DRENGA_NOT_RUN={';'.join(not_run)}'" + CONFIGURE.get(self.name, "")
        self.build = Job(f"{self.name}: the build", ["sh", "-c", f"{configure} && cmake --build --preset {self.name}"], folder=ROOT,
                         background=True, ended=self.built)
        self.schedule.add(self.build)

    def built(self, job):
        if job.status:
            print(job.text[-6000:])
            print(paint(31, f"{job.name} failed"), flush=True)
            self.failed["the build"] = (None, [job.name])
            if self.next:
                self.next.begin()
            return
        print(f"{self.name}: built in {job.wall:.0f} s, {job.processor:.0f} s of the processor", flush=True)
        for name in ("tests.log", "rerun.log"):
            open(os.path.join(ROOT, "build", self.name, name), "w").close()
        if self.next:
            self.next.begin(not_run_under_tsan(self.names))
        for test in tests_of(self.name, self.names, self.not_run):
            test.ended = self.ended
            self.schedule.add(test)

    def log(self, job, log_name):
        how = job.how()
        with open(os.path.join(ROOT, "build", self.name, log_name), "a") as log:
            log.write(f"=== {job.name}: {how}, {job.wall:.1f} s, {job.processor:.1f} s of the processor\n{job.text}\n")
        print(f"  {paint(32 if how == 'Passed' else 31, how.lower()):<8} {self.name}: {job.name} "
              f"({job.wall:.1f} s, {job.processor:.1f} s of the processor)", flush=True)

    def ended(self, job):
        self.log(job, "tests.log")
        self.tests.append(job)
        self.passed += len(PASSED.findall(job.text))
        sentences = failures_of(f"{self.name}: {job.name}", job.how(), job.text)
        if sentences:
            self.failed[job.name] = (job, sentences)

    def rerun(self):
        """Adds the tests that may run once more, alone."""
        if len(self.failed) > RERUN_MAX:
            return
        for job, _ in self.failed.values():
            report = job and REPORT.search(job.text)
            if job and (not report or (LEAKS in report.group() and FAILED.search(job.text))):
                self.schedule.add(Job(job.name, job.command, folder=job.folder, environment=job.environment, limit=job.limit,
                                      serial=True, ended=self.rerun_ended))

    def rerun_ended(self, job):
        self.log(job, "rerun.log")
        if job.status == 0 and not failures_of(job.name, job.how(), job.text):
            first, sentences = self.failed.pop(job.name)
            self.unsteady += sentences
            self.passed += len(PASSED.findall(job.text)) - len(PASSED.findall(first.text))


def print_costs(presets, schedule):
    """Seconds on the clock, and of the processor with all children that a test waited for."""
    def line(wall, processor, what):
        print(f"  {wall:10.0f} {processor:10.0f}   {what}")
    tests = [(test, preset) for preset in presets for test in preset.tests]
    for title, cost in (("cost the processor most", lambda test: test.processor), ("took longest", lambda test: test.wall)):
        print(f"\n     seconds  processor   what {title}")
        for test, preset in sorted(tests, key=lambda one: -cost(one[0]))[:COSTLIEST]:
            line(test.wall, test.processor, f"{preset.name}: {test.name}")
    print("\n     seconds  processor   all")
    for preset in presets:
        line(preset.build.wall, preset.build.processor, preset.build.name)
        line(sum(one.wall for one in preset.tests), sum(one.processor for one in preset.tests),
             f"{preset.name}: {len(preset.tests)} tests, one by one")
    processor = sum(preset.build.processor + sum(one.processor for one in preset.tests) for preset in presets)
    ended = time.monotonic(), idle_seconds()
    alone = schedule.last_alone or ended
    line(ended[0] - schedule.began[0], processor, f"from beginning to end, on {os.cpu_count()} cores")
    for title, first, last in (("beside each other", schedule.began, alone), ("alone, at the end", alone, ended)):
        print(f"  {last[0] - first[0]:10.0f}              {title}; its cores were idle for {last[1] - first[1]:.0f} s")


def main():
    arguments = sys.argv[1:]
    if "--help" in arguments or "-h" in arguments:
        print(__doc__.strip())
        return 0
    names = [argument for argument in arguments if not argument.startswith("--")]
    jobs = next((int(a.removeprefix("--jobs=")) for a in arguments if a.startswith("--jobs=")), None)
    wanted = next((a.removeprefix("--builds=").split(",") for a in arguments if a.startswith("--builds=")), PRESETS)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # and what was started ends, too
    signal.signal(signal.SIGINT, lambda *_: sys.exit(130))
    schedule = Schedule(jobs or 3 * os.cpu_count())
    presets = [Preset(name, names, schedule) for name in (PRESETS[:1] if "--quick" in arguments else wanted)]
    of = {preset.name: preset for preset in presets}
    if "tsan" in of and "release" in of:
        of["release"].next = of["tsan"]
    for preset in presets:
        if preset is not of.get("release", preset).next:
            preset.begin()
    print(f"Builds of {', '.join(of)}: each takes minutes, and its tests follow. A line comes with each result; all output is in build/*/tests.log",
          flush=True)
    schedule.run()
    for preset in presets:
        preset.rerun()
    if schedule.serial:
        print("  What failed beside others is run once more, alone", flush=True)
        schedule.run()
    print_costs(presets, schedule)
    unsteady = [sentence for preset in presets for sentence in preset.unsteady]
    failures = [sentence for preset in presets for _, sentences in preset.failed.values() for sentence in sentences]
    passed = sum(preset.passed for preset in presets)
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
