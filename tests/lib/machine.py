"""What else the machine has to do: for tests that measure, which run alone but perhaps not on a machine of their own."""
import os
import time


POLICY = 38  # its place among the fields of a stat file that stand behind the name


def stat_of(path):
    """The state, the parent and the scheduling policy of a process or a thread; nothing where it has ended meanwhile."""
    try:
        with open(path) as file:
            fields = file.read().rpartition(")")[2].split()
            return fields[0], int(fields[1]), int(fields[POLICY])
    except OSError:
        return None


def strangers():
    """Processes that this test has not started: what it tests is not among them, nor what that has started."""
    parents = {int(name): stat[1] for name in os.listdir("/proc") if name.isdigit() and (stat := stat_of(f"/proc/{name}/stat"))}

    def is_ours(pid):
        while pid > 1 and pid != os.getpid():
            pid = parents.get(pid, 0)
        return pid == os.getpid()
    return [pid for pid in parents if not is_ours(pid)]


def running(pid):
    """Its threads that run or want to. Those of SCHED_IDLE (clang-tidy) do not count: they give way to all others at once."""
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return 0
    stats = [stat for thread in threads if (stat := stat_of(f"/proc/{pid}/task/{thread}/stat"))]
    return sum(state == "R" and policy != os.SCHED_IDLE for state, _, policy in stats)


def wanted_by_others(seconds=1.0):
    """How many threads of others run or want to, on the average of some seconds."""
    counts, until = [], time.monotonic() + seconds
    while time.monotonic() < until:
        counts.append(sum(running(pid) for pid in strangers()))
        time.sleep(0.05)
    return sum(counts) / len(counts)


def busy():
    """Whether what was measured says more of others than of us; a sentence, or nothing."""
    others = wanted_by_others()
    return f"{others:.1f} threads of others want its {os.cpu_count()} cores" if others > os.cpu_count() / 2 else ""
