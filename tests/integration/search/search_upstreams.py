"""The fakes of upstreams.py in a process of their own, for tests in Python.

    upstreams = Upstreams()
    upstreams["brave"]["url"], upstreams["brave"]["key"]
    upstreams.seen("brave", "backups")            # the requests of that query
    upstreams.script({"query": "tide", "fault": "slow"}, {"engine": "tavily", "query": "", "fault": "503", "times": 2})
    upstreams.documents([...])"""
import json
import os
import subprocess
import urllib.parse
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))


class Upstreams(dict):
    def __init__(self):
        self.process = subprocess.Popen(["/usr/bin/python3", f"{HERE}/upstreams.py"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        super().__init__(json.loads(self.process.stdout.readline()))

    def control(self, path, value=None):
        data = None if value is None else json.dumps(value).encode()
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        return json.load(opener.open(urllib.request.Request(self["control"]["url"] + path, data), timeout=60))

    def seen(self, engine, query=""):
        return self.control("/seen?" + urllib.parse.urlencode({"engine": engine, "query": query}))

    def script(self, *scripts):
        self.control("/script", list(scripts))

    def documents(self, documents):
        self.control("/documents", documents)

    def forget(self):
        self.control("/forget", {})

    def secrets(self):
        """All that may be in no log and no error."""
        return [entry[name] for entry in self.values() for name in ("key", "token", "password") if entry.get(name)]

    def close(self):
        self.process.stdin.close()
        self.process.wait(20)
