#!/usr/bin/env python3
"""components/edge: what it adds is what Kubernetes knows, opens one way and no other, and runs: the suite as its pods, with two edges
behind the outer door, asked by clients with keys and by a browser. Needs RENGA_BIN and RENGA_PROTO."""
import http.client
import json
import os
import random
import re
import shutil
import ssl
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "..", "lib")]
import pods  # noqa: E402  (first of all: it starts this program anew, in a network of its own)
from checks import check, expect, finish, wait_until  # noqa: E402
from policies import edges_allowed, faults_of, number_of, of_kind, ports_for_anyone  # noqa: E402
from render import containers, pod_of  # noqa: E402
from shipped import CALLERS, OURS, compose, documents, door_certificate, folder, image, stage, with_clients  # noqa: E402

SETS = {"single": ["edge"], "single with mutual TLS": ["edge", "mtls"], "cluster with the HTTP door": ["edge", "http"]}
ORIGIN = "https://renga.example:9443"  # edge.json
METHODS = "renga.v1.Orchestrator/*,renga.v1.Helpdesk/*,renga.v1.LlmGateway/*,renga.v1.ToolRunner/*"

WITH, WITHOUT = ({title: compose(title.split()[0], components[first:]) for title, components in SETS.items()} for first in (0, 1))
FAULTS = faults_of(WITH)

for title, components in SETS.items():
    resources, before = WITH[title], WITHOUT[title]

    @check(f"{title}: every resource is one that Kubernetes knows, field by field")
    def _():
        expect(not FAULTS[title], FAULTS[title])

    @check(f"{title}: the edge is held to the restricted standard, and has longer to end than its drain and its preStop take")
    def _():
        edge = of_kind(resources, "Deployment")["renga-edge"]
        pod, container = pod_of(edge), containers(edge)[0]
        expect(pod["securityContext"]["runAsNonRoot"] and pod["securityContext"]["seccompProfile"]["type"] == "RuntimeDefault"
               and pod["automountServiceAccountToken"] is False, f"{pod['securityContext']}")
        expect(container["securityContext"] == {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True,
                                                "capabilities": {"drop": ["ALL"]}}, container["securityContext"])
        expect({"startupProbe", "livenessProbe", "readinessProbe", "resources"} <= set(container), str(container.keys()))
        data = next(one["data"] for name, one in of_kind(resources, "ConfigMap").items() if name.startswith("renga-edge-"))
        own = json.loads(re.sub(r"^\s*//.*$", "", data["edge.json"], flags=re.M))
        ahead = container["lifecycle"]["preStop"]["sleep"]["seconds"]
        expect(int(own["drain"]["limit"].rstrip("s")) + ahead < pod["terminationGracePeriodSeconds"], own["drain"])
        labels = edge["spec"]["template"]["metadata"]["labels"]
        expect(of_kind(resources, "Service")["renga-edge"]["spec"]["selector"].items() <= labels.items(), "no service selects it")
        expect(of_kind(resources, "PodDisruptionBudget")["renga-edge"]["spec"]["selector"]["matchLabels"] == labels, "it has no budget")

    @check(f"{title}: the door may call the edge, the edge the three services that it calls, and nothing else is opened")
    def _():
        added = edges_allowed(resources) - edges_allowed(before)
        wanted = {("renga-door", "renga-edge", 15206), ("renga-edge", "renga-orchestrator", 15005),
                  ("renga-edge", "renga-llm-gateway", 15001), ("renga-edge", "renga-tool-runner", 15003)}
        expect(added == wanted, f"too many {added - wanted}, too few {wanted - added}")
        opened = ports_for_anyone(resources, "renga-door") - ports_for_anyone(before, "renga-door")
        expect(opened == {8445} and not ports_for_anyone(resources, "renga-edge"), str(opened))
        outside = {port["port"]: number_of(of_kind(resources, "Deployment")["renga-door"], port["targetPort"])
                   for port in of_kind(resources, "Service")["renga-door"]["spec"]["ports"]}
        expect(outside[9443] == 8445, str(outside))


class Answer:
    def __init__(self, response):
        self.status, self.headers = response.status, {name.lower(): value for name, value in response.getheaders()}
        self.cookies = response.headers.get_all("set-cookie") or []
        self.text = response.read().decode()
        self.json = json.loads(self.text) if self.headers.get("content-type", "").startswith("application/json") else None


def ask(cluster, path, body=None, key=None, **headers):
    """A request through the door to an edge, a GET without a body."""
    context = ssl.create_default_context(cadata=door_certificate)
    context.check_hostname = False  # it is asked by its address
    connection = http.client.HTTPSConnection(random.choice(cluster.ready("renga-door")), 8445, timeout=20, context=context)
    headers = {"Host": "renga.example:9443", "Content-Type": "application/json", **({"Authorization": f"Bearer {key}"} if key else {}),
               **{name.replace("_", "-"): value for name, value in headers.items()}}
    connection.request("POST" if body else "GET", path, json.dumps(body) if body else None, headers)
    try:
        return Answer(connection.getresponse())
    finally:
        connection.close()


def run(title, components):
    resources, secrets, (backend, limited) = with_clients("single", components, ("backend", "acme", METHODS), ("limited", "acme"),
                                                          services=(*CALLERS, "edge"))
    cluster = pods.Cluster(resources, {"renga": image, "haproxy": "/"}, secrets)
    cluster.maps["renga-documents"] = documents()
    try:
        @check(f"{title}: every pod becomes ready by the probes of its manifest")
        def _():
            for name in (*OURS, "edge", "edge", "door"):
                cluster.start(f"renga-{name}")
            for pod in cluster.pods:
                wait_until(lambda: pod.ready, f"{pod.name} is not ready: {pod.log()}", 20)
            wait_until(lambda: ask(cluster, "/v1/agents", key=backend).status == 200, "no agents", 20, 0.2)

        @check(f"{title}: a client with a key has a question answered, a run shown as events, and models and tools listed")
        def _():
            wait_until(lambda: "days" in ask(cluster, "/v1/helpdesk:ask", {"question": "How long are backups kept?"}, backend).text,
                       "no answer", 20, 0.2)
            answered = ask(cluster, "/v1/helpdesk:ask", {"question": "How long are backups kept?"}, backend).json["result"]
            events = ask(cluster, f"/v1/runs/{answered['outcome']['runId']}/events", key=backend, accept="text/event-stream")
            expect(events.headers["content-type"].startswith("text/event-stream") and "event: end" in events.text, events.text[-300:])
            for path in ("/v1/models", "/v1/tools", "/v1/knowledgeBase"):
                expect(ask(cluster, path, key=backend).status == 200, f"{path}: {ask(cluster, path, key=backend).text[:300]}")

        @check(f"{title}: no key, an unknown key and a service's key are 401, and a key that does not open a method is 403")
        def _():
            service = secrets["renga-peers-edge"]["key"].strip()
            seen = [ask(cluster, "/v1/agents", key=key).status for key in (None, "wrong", service)]
            expect(seen == [401] * 3 and ask(cluster, "/v1/models", key=limited).status == 403, f"{seen}")

        @check(f"{title}: a browser signs in, any edge takes its session, and no page of another origin does anything in its name")
        def _():
            page = ask(cluster, "/")
            expect(page.status == 200 and "max-age" in page.headers["strict-transport-security"], f"{page.status} {page.headers}")
            signed = ask(cluster, "/v1/session", {"key": backend}, origin=ORIGIN)
            expect(signed.status == 200 and any(cookie.startswith("__Host-renga_session") and "Secure" in cookie for cookie in signed.cookies),
                   f"{signed.status} {signed.cookies}")
            cookie = next(cookie.split(";")[0] for cookie in signed.cookies if cookie.startswith("__Host-renga_session"))  # not the door's
            seen = {ask(cluster, "/v1/agents", cookie=cookie, origin=ORIGIN).status for _ in range(20)}
            expect(seen == {200}, f"{seen} with {cookie}")
            body = {"agent": "echo"}
            seen = [ask(cluster, "/v1/runs", body, cookie=cookie, origin=origin).status for origin in ("https://evil.example", "http://renga.example:9443")]
            expect(seen == [403, 403], str(seen))

        @check(f"{title}: an edge that leaves fails no request, and ends without a fault")
        def _():
            edge = next(pod for pod in cluster.pods if pod.name == "renga-edge")
            codes, statuses = [], []
            leaving = threading.Thread(target=lambda: codes.extend(cluster.stop(edge)))
            leaving.start()
            while leaving.is_alive():
                statuses.append(ask(cluster, "/v1/agents", key=backend).status)
                time.sleep(0.05)
            expect(len(statuses) > 5 and set(statuses) == {200} and codes == [0], f"{statuses} {codes}: {edge.log()}")
            return f"{len(statuses)} requests"
    finally:
        cluster.close()


@check("the container's root has the edge")
def _():
    done = stage()
    expect(done.returncode == 0 and os.path.exists(f"{image}/usr/bin/renga-edge"), done.stdout + done.stderr)


run("one machine", ["edge"])
run("one machine with mutual TLS", ["edge", "mtls"])
shutil.rmtree(folder)
finish()
