"""Runs jobs beside each other, so that no core waits while there is work: see run.py.

A job is a command with its folder, environment and time limit. Foreground jobs are tests, which mostly wait: `width` of them
run at once, those with the highest `cost` first, and up to twice as many while the cores have nothing to do. Background jobs (builds, clang-tidy, fuzzers) want the processor alone: they
run one after the other, in the order in which they came, behind all others (`nice`). An `idle` job begins when the last foreground job has
begun, and gets the processor when nobody else wants it (SCHED_IDLE): the serial ones that wait leave the most. A `serial` job runs when nothing else does; those that are `waiting` most of their time run beside each
other and beside idle ones then, the longest (`cost`) first.
A job that ends may add others."""
import os
import signal
import subprocess
import tempfile
import time

BEHIND = 5  # nice of background jobs: tests beside them get three times as much
SPARE_WINDOW = 1.0  # seconds in which the machine is watched before one more test begins
SPARE_CORES = 0.4  # that had nothing to do in them


def idle_seconds():
    """Seconds that the machine's cores have had nothing to do, or have waited for its disk, since it began."""
    with open("/proc/stat") as stat:
        fields = stat.readline().split()
    return (int(fields[4]) + int(fields[5])) / os.sysconf("SC_CLK_TCK")


class Job:
    def __init__(self, name, command, *, folder, environment=None, limit=None, cost=0.0, background=False, serial=False, waiting=False,
                 idle=False, ended=None):
        self.name, self.command, self.folder, self.environment = name, command, folder, environment or {}
        self.limit, self.cost, self.background, self.serial, self.ended = limit, cost, background, serial, ended
        self.waiting, self.idle = waiting, idle
        self.status = self.process = self.output = None
        self.wall = self.processor = 0.0  # seconds; of the processor with all children that it waited for
        self.late = False  # it was ended by its limit

    def start(self, alone=False):
        self.output = tempfile.TemporaryFile()
        self.began = time.monotonic()
        behind = self.go_idle if self.idle else self.go_behind if self.background and not alone else None
        self.process = subprocess.Popen(self.command, cwd=self.folder, env=dict(os.environ, **self.environment),
                                        stdin=subprocess.DEVNULL, stdout=self.output, stderr=subprocess.STDOUT,
                                        start_new_session=True, preexec_fn=behind)

    @staticmethod
    def go_behind():
        os.nice(BEHIND)

    @staticmethod
    def go_idle():
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))

    def kill(self):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def poll(self):
        """True where it has ended; its status, times and text are there then."""
        pid, status, usage = os.wait4(self.process.pid, os.WNOHANG)
        if not pid:
            if self.limit and not self.late and time.monotonic() - self.began > self.limit:
                self.late = True
                self.kill()
            return False
        self.process.returncode = self.status = os.waitstatus_to_exitcode(status)
        self.wall = time.monotonic() - self.began
        self.processor = usage.ru_utime + usage.ru_stime
        self.output.seek(0)
        self.text = self.output.read().decode(errors="replace")
        self.output.close()
        return True

    def how(self):
        if self.late:
            return f"Timeout after {self.limit:.0f} s"
        return "Passed" if self.status == 0 else f"Failed with {self.status}" if self.status > 0 else f"Ended by signal {-self.status}"


class Schedule:
    def __init__(self, width):
        self.width = width
        self.foreground, self.background, self.idle, self.serial, self.running = [], [], [], [], []
        self.allowed = width  # tests at once, as the machine has been in the last second
        self.began, self.last_alone = (time.monotonic(), idle_seconds()), None  # when, and how idle the machine was, at each
        self.watched = self.began

    def add(self, job):
        (self.serial if job.serial else self.idle if job.idle else self.background if job.background else self.foreground).append(job)

    def _watch(self):
        """Allows one more test where a part of a core had nothing to do since the last look; a second later perhaps another one."""
        now = time.monotonic(), idle_seconds()
        seconds = now[0] - self.watched[0]
        if seconds >= SPARE_WINDOW:
            tests = sum(not job.background and not job.idle for job in self.running)
            spare = (now[1] - self.watched[1]) / seconds > SPARE_CORES
            self.allowed = min(max(tests, self.width) + 1, 2 * self.width) if spare else self.width
            self.watched = now

    def _next(self):
        """The job to start now, or None: all that may run does."""
        tests = sum(not job.background and not job.idle for job in self.running)
        behind = any(job.background for job in self.running)
        if self.background and not behind:
            return self.background.pop(0)
        if self.idle and not self.foreground and not behind and not any(job.idle for job in self.running):
            return self.idle.pop(0)
        if self.foreground and tests < self.allowed:
            job = max(self.foreground, key=lambda one: one.cost)
            self.foreground.remove(job)
            return job
        waiting = [job for job in self.serial if job.waiting]
        if waiting and tests < self.width and all(job.idle or (job.serial and job.waiting) for job in self.running):
            job = max(waiting, key=lambda one: one.cost)
            self.serial.remove(job)
            return job
        if self.serial and not self.running:
            return self.serial.pop(0)
        return None

    def run(self):
        try:
            while True:
                # A serial job is alone: nothing that it lets others add starts before it ends.
                while not any(job.serial and not job.waiting for job in self.running) and (job := self._next()):
                    job.start()
                    if job.serial and not self.last_alone:
                        self.last_alone = time.monotonic(), idle_seconds()
                    self.running.append(job)
                if not self.running:
                    return
                time.sleep(0.02)
                self._watch()
                for job in [job for job in self.running if job.poll()]:
                    self.running.remove(job)
                    job.ended(job)
        finally:
            for job in self.running:
                job.kill()
