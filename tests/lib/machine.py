"""What else the machine has to do: for tests that measure, which run alone but perhaps not on a machine of their own."""
import os
import time


def wanted_by_others(seconds=1.0):
    """How many threads beside this one run or want to, on the average of some seconds in which the test itself rests."""
    counts, until = [], time.monotonic() + seconds
    while time.monotonic() < until:
        with open("/proc/loadavg") as file:
            counts.append(int(file.read().split()[3].split("/")[0]) - 1)
        time.sleep(0.02)
    return sum(counts) / len(counts)


def busy():
    """Whether what was measured says more of others than of us; a sentence, or nothing."""
    others = wanted_by_others()
    return f"{others:.1f} threads of others want its {os.cpu_count()} cores" if others > os.cpu_count() / 2 else ""
