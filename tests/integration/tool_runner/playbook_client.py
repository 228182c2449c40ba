"""Calls of a tool-runner's playbook methods, and what tests ask of them.

    client = Playbooks(runner)
    client.put("d", operations=[add("strategies", "Look twice.")])
    client.state("d")        # its bullets as tuples, in their order"""
import grpc

from runner import SLOW, expect
from contract import message, number

KIND = {name: number("PlaybookOperationKind", f"PLAYBOOK_OPERATION_KIND_{name}") for name in ("ADD", "UPDATE", "MERGE", "DELETE", "COUNT")}
OUTCOME = {name: number("PlaybookOperationOutcome", f"PLAYBOOK_OPERATION_OUTCOME_{name}") for name in ("APPLIED", "MERGED", "PROPOSED", "UNCHANGED")}
TEXT, JSON = (number("PlaybookFormat", f"PLAYBOOK_FORMAT_{name}") for name in ("TEXT", "JSON"))


def add(section, content, **more):
    return {"kind": KIND["ADD"], "section": section, "content": content, **more}


def update(id_, content, **more):
    return {"kind": KIND["UPDATE"], "ids": [id_], "content": content, **more}


def merge(ids, content, **more):
    return {"kind": KIND["MERGE"], "ids": ids, "content": content, **more}


def delete(id_, **more):
    return {"kind": KIND["DELETE"], "ids": [id_], **more}


def count(id_, helpful=0, harmful=0):
    return {"kind": KIND["COUNT"], "ids": [id_], "helpful": helpful, "harmful": harmful}


class Playbooks:
    def __init__(self, runner):
        self.runner = runner

    def call(self, name, timeout=60, **fields):
        return self.begin(name, timeout, **fields).result()

    def begin(self, name, timeout=60, **fields):
        return self.runner.method(name, f"{name}Request", f"{name}Response").future(
            message(f"{name}Request")(**fields), timeout=timeout * SLOW, wait_for_ready=True)

    def put(self, dataset, **fields):
        return self.call("PutPlaybook", dataset=dataset, **fields)

    def get(self, dataset, **fields):
        return self.call("GetPlaybook", dataset=dataset, **fields)

    def restore(self, dataset, revision, **fields):
        return self.call("RestorePlaybook", dataset=dataset, revision=revision, **fields)

    def delete(self, dataset):
        return self.call("DeletePlaybook", dataset=dataset)

    def state(self, dataset, **fields):
        """Every byte of every bullet, in their order."""
        return [bullet.SerializeToString(deterministic=True) for bullet in self.get(dataset, **fields).bullets]

    def changes(self, dataset, **fields):
        """All pages, newest first."""
        changes, token = [], ""
        while True:
            page = self.call("ListPlaybookChanges", dataset=dataset, page_token=token, **fields)
            changes += page.changes
            token = page.next_page_token
            if not token:
                return changes


def refused(code, call, *parts):
    """The call fails with that code, and its text has these parts."""
    try:
        answer = call()
    except grpc.RpcError as error:
        expect(error.code() == getattr(grpc.StatusCode, code), f"it failed with {error.code()}: {error.details()}")
        for part in parts:
            expect(part in error.details(), f"'{part}' is not in '{error.details()}'")
        return error.details()
    raise AssertionError(f"it was not refused with {code}: {str(answer)[:300]}")
