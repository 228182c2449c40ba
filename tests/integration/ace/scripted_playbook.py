"""A playbook of a tool-runner that the test scripts: as much of it as the agents that learn need. The real one has tests of
its own; here it can be made to refuse, to be overtaken and to fail."""
import threading

import grpc

from contract import message, word

ADD, UPDATE, MERGE, DELETE, COUNT = range(1, 6)


class Playbook:
    def __init__(self, *bullets):
        self.lock, self.revision, self.number = threading.Lock(), 0, 0
        self.bullets, self.puts, self.answers, self.refuse, self.before_put = {}, [], {}, [], None
        for content in bullets:
            self.add("seed", content)
        self.revision = 1 if bullets else 0

    def add(self, section, content, source=""):
        self.number += 1
        made = message("Bullet")(id=f"misc-{self.number:05}", section=section, content=content, source=source)
        self.bullets[made.id] = made
        return made.id

    def get(self, request, context):
        with self.lock:
            if not self.revision:
                context.abort(grpc.StatusCode.NOT_FOUND, "no such playbook")
            return message("GetPlaybookResponse")(bullets=self.bullets.values(), revision=self.revision)

    def search(self, request, context):
        words = set(request.query.replace(":", " ").replace("?", " ").split())
        with self.lock:
            ranked = sorted(self.bullets.values(), key=lambda one: -len(words & {one.id, *one.content.replace(":", " ").split()}) - (one.helpful + 1) / (one.helpful + one.harmful + 2))
            return message("SearchPlaybookResponse")(hits=[{"bullet": one, "score": 0.5} for one in ranked[:request.limit or 10]], revision=self.revision)

    def put(self, request, context):
        if self.before_put:
            self.before_put(request)
        with self.lock:
            self.puts.append(request)
            if request.request_id in self.answers:
                return self.answers[request.request_id]
            if self.refuse:
                context.abort(*self.refuse.pop(0))
            if request.expected_revision and request.expected_revision != (self.revision or -1):
                context.abort(grpc.StatusCode.ABORTED, f"expected_revision is {request.expected_revision}, the revision is {self.revision}")
            answer = message("PutPlaybookResponse")()
            for operation in request.operations:
                answer.results.add(outcome=1, id=self.apply(operation, request.source))
            self.revision += bool(request.operations)
            answer.revision, answer.bullets = self.revision, len(self.bullets)
            self.answers[request.request_id] = answer
            return answer

    def apply(self, operation, source):
        if operation.kind == ADD:
            return self.add(operation.section, operation.content, source)
        first = self.bullets[operation.ids[0]]
        if operation.kind == DELETE:
            del self.bullets[first.id]
        elif operation.kind == COUNT:
            first.helpful += operation.helpful
            first.harmful += operation.harmful
        else:
            first.content = operation.content
            for other in operation.ids[1:]:
                del self.bullets[other]
        return first.id

    def serve(self, services):
        services.on("ToolRunner/GetPlaybook", self.get)
        services.on("ToolRunner/SearchPlaybook", self.search)
        services.on("ToolRunner/PutPlaybook", self.put)
        return self

    def texts(self):
        with self.lock:
            return {one.id: (one.content, one.helpful, one.harmful) for one in self.bullets.values()}
