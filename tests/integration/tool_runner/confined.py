#!/usr/bin/env python3
"""A tool server that is an enemy: hostile_child tries each known way out and to us. RENGA_BIN, RENGA_PROTO; the program
is the argument; one line a check."""
import os
import shutil
import subprocess
import sys
import tempfile

from runner import BIN, HERE, Runner, SLOW, check, checks, expect

OK = 0
ROOT = os.geteuid() == 0
KEY = "a key of ours that no tool server may read"

open_folder = tempfile.TemporaryDirectory(prefix="renga-hostile-")
os.chmod(open_folder.name, 0o755)  # any user may start what is in it
program = shutil.copy(sys.argv[1], f"{open_folder.name}/hostile")
script = shutil.copy(f"{HERE}/odd.py", open_folder.name)
may_write = f"{open_folder.name}/may"
os.mkdir(may_write)
os.chmod(may_write, 0o777)


def server(**more):
    return {"command": "/usr/bin/python3", "args": [script], "cwd": open_folder.name, **more}


def outcomes(text):
    lines = [line for line in text.splitlines() if " passed" in line or " refused" in line]
    return [line for line in lines[:-1] if line.endswith(" passed")], len(lines) - 1


servers = {"plain": server(), "fenced": server(writable=[may_write])}
if ROOT:
    servers.update(ours=server(user="root"), other=server(user="65532:65531"))

# Core dumps are allowed, so that Landlock has to hold by itself.
for flags in ([], ["--core_dumps=true"]):
    with Runner(servers, "--peers.key=" + KEY, *flags) as runner:
        for name in servers:
            @check(f"a hostile server passes nowhere: '{name}' {''.join(flags)}")
            def _():
                result = runner.one(f"{name}__attack", {"program": program, "pid": runner.process.pid})
                expect(result.status_code == OK, str(result))
                passed, tried = outcomes(result.text)
                expect(tried >= 95, f"only {tried} tries: {result.text}")
                expect(not passed, f"{len(passed)} of {tried}: {passed}")
                return f"{tried} tries"

        @check(f"we live on, and our memory is {'open to root alone' if not flags else 'as it was asked for'}")
        def _():
            with open(f"/proc/{runner.process.pid}/status") as status:
                uid = next(line for line in status if line.startswith("Uid:")).split()[1]
            owner = os.stat(f"/proc/{runner.process.pid}/environ").st_uid
            expect(runner.process.poll() is None and uid == str(os.geteuid()) and owner in (0, int(uid)), f"{uid} {owner}")

with Runner(servers) as runner:
    if ROOT:
        @check("where we are root a server is another user, without groups")
        def _():
            for name, uid, gid in (("plain", None, None), ("other", "65532", "65531"), ("ours", "0", "0")):
                result = runner.one(f"{name}__status", {})
                fields = dict(line.split(":\t", 1) for line in result.text.splitlines() if ":\t" in line)
                uids, gids = set(fields["Uid"].split()), set(fields["Gid"].split())
                expect(len(uids) == len(gids) == 1 and uids == ({uid} if uid else uids - {"0"}), f"{name}: {uids}")
                expect(not gid or gids == {gid}, f"{name}: {gids}")
                expect(not fields["Groups"].strip() or name == "ours", f"{name}: {fields['Groups']}")
                expect(int(fields["CapPrm"], 16) == int(fields["CapBnd"], 16) == 0, f"{name}: {fields['CapPrm']}")

    @check("folders are written to as before, and files move between them")
    def _():
        for name in ("plain", "fenced"):
            result = runner.one(f"{name}__move", {"folder": may_write})
            expect(result.text == "moved", str(result))

@check("no process of ours is dumpable, unless it is asked for")
def _():
    binary = os.open(f"{BIN}/renga-tool-runner", os.O_RDONLY)  # the folders on the way may be closed to that user
    other = {"user": 65534, "group": 65534, "extra_groups": []} if ROOT else {}
    for flags, closed in (([], True), (["--core_dumps=true"], False)):
        with subprocess.Popen([f"/proc/self/fd/{binary}", "--rpc.listen=127.0.0.1:0", "--http.listen=127.0.0.1:0", "--log.format=json",
                               "--tool_runner.store=memory:", "--tool_runner.record=memory:", *flags], pass_fds=[binary], cwd="/",
                              stderr=subprocess.PIPE, text=True, **other) as process:
            try:
                expect(any("rpc.listening" in line for line in process.stderr), "it does not listen")
                owner = os.stat(f"/proc/{process.pid}/environ").st_uid  # root's where the memory is closed
                expect((owner == 0) == closed, f"{flags}: /proc/PID/environ is of user {owner}")
            finally:
                process.kill()
    os.close(binary)


@check("unconfined, the same tries do pass: they are no straw men")
def _():
    victim = subprocess.Popen(["sleep", "100"])
    try:
        tried = subprocess.run([program, str(victim.pid)], capture_output=True, text=True, timeout=30 * SLOW)
    finally:
        victim.kill()
    passed, count = outcomes(tried.stdout)
    needs = ["open /proc/PID/environ to read", "kill", "prlimit", "shmget", "F_SETOWN", "gain rights by a program"]
    for needed in (f"{name} passed" for name in needs + ["open /proc/PID/mem to write"] * ROOT):
        expect(needed in passed, f"{needed}: {passed}")
    return f"{len(passed)} of {count} pass"


checks.finish()
