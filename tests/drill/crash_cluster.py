"""Three orchestrators on one Redis, for the crash drill. Each of them, the Redis, the tool-runner (whose record is in that
Redis, too) and the nodes may be killed, several at once, and an orchestrator may be frozen for longer than its lease.

A killed orchestrator comes back at its own address, as in a pod whose container is started anew, or at another, as in a pod
that takes the place of a lost one. Clients ask any of them."""
import random
import signal
import time

from crash_site import Beside, Blow, Site

ORCHESTRATORS = ("orchestrator 1", "orchestrator 2", "orchestrator 3")
BLOWS = (((1, ()),) * 7 + ((0, ("redis",)),) * 2 + ((1, ("redis",)), (2, ()), (3, ()), (0, ("tools",)), (0, ("nodes",)), (1, ("tools", "nodes")),
                                                     (3, ("redis", "tools", "nodes"))))  # so many orchestrators, and who besides


class AnyOf:
    """Whoever of them chance names is asked: a client does not know who lives."""

    def __init__(self, all_of_them):
        self.all = all_of_them

    def __getattr__(self, name):
        return getattr(random.choice(self.all), name)


class Cluster(Site):
    def __init__(self, lease, freezes):
        self.lease, self.freezes, self.was_frozen = lease, freezes, False
        super().__init__("redis")
        self.api = AnyOf([self.parts[name] for name in ORCHESTRATORS])

    KINDS = ("a freeze", "lost for good, and Redis", "lost for good", "in place, and Redis", "in place", "Redis", "tools and nodes")
    ON_DISK = ("redis",)

    def prepare_disk(self):
        """The first file that Redis makes is there, and safe: it is written in ways that power.c does not see."""
        self.redis.start()
        self.redis.kill()
        return f"{self.store}/appendonlydir"

    def with_it(self):
        return tuple(random.sample((*ORCHESTRATORS, "tools"), random.choice((0, 0, 1, 4))))

    def record(self):
        return f"unix:{self.folder}/redis.sock?name=tools"

    def make_keepers(self):
        self.redis = Beside(self.marks, "redis", ["redis-server", "--port", "0", "--unixsocket", f"{self.folder}/redis.sock", "--dir", self.store, "--save", "",
                             "--appendonly", "yes", "--appendfsync", "always", "--auto-aof-rewrite-percentage", "0"], "ready to accept connections")
        return {"redis": self.redis, **{name: self.sharer(name, f"{self.folder}/{name[-1]}") for name in ORCHESTRATORS}}

    def sharer(self, name, folder):
        made = self.orchestrator(name, folder, "--orchestrator.address=127.0.0.1:{port}", "--loops=1",
                                  "--orchestrator.fan_out_listen=tcp://127.0.0.1:0", f"--orchestrator.lease={int(1000 * self.lease)}ms")
        made.store = f"unix:{self.folder}/redis.sock"
        made.stays = True
        return made

    def restart(self, *names):
        """Redis first: without it nobody can begin."""
        began = time.monotonic()
        if "redis" in names:
            self.redis.start()
        rest = [name for name in names if name != "redis"]
        if rest:
            super().restart(*rest)
        return began

    def hit_somebody(self):
        if not self.was_frozen or random.random() < self.freezes:
            return self.freeze(random.choice(ORCHESTRATORS))
        some, others = random.choice(BLOWS)
        names = (*random.sample(ORCHESTRATORS, some), *others)
        stays = random.random() < 0.5
        for name in names[:some]:
            self.parts[name].stays = stays
        self.kill(*names)
        kind = ("in place" if stays else "lost for good") if some else "tools and nodes"
        if "redis" in names:
            kind = f"{kind}, and Redis" if some else "Redis"
        return Blow(names, kind, self.restart(*names))

    def freeze(self, name):
        began, self.was_frozen = time.monotonic(), True
        self.marks.add(name, "is frozen")
        self.parts[name].signal(signal.SIGSTOP)
        time.sleep(self.lease * (1.2 + random.random()))
        self.parts[name].signal(signal.SIGCONT)
        self.marks.add(name, "thaws")
        return Blow(("freeze",), "a freeze", began)
