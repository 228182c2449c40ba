#!/usr/bin/env python3
"""deploy/kubernetes and deploy/container: what is rendered is what Kubernetes knows, agrees with itself, and runs: the
suite as the manifests describe it, in the container's root file system, behind the door.
Needs RENGA_BIN (binaries) and RENGA_PROTO (renga_descriptor_set.bin)."""
import ipaddress
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "..", "lib")]
import pods  # noqa: E402  (first of all: it starts this program anew, in a network of its own)
import grpc  # noqa: E402
from checks import check, expect, finish, wait_until  # noqa: E402
from policies import edges_allowed, faults_of, number_of, of_kind, ports_for_anyone, selects  # noqa: E402
from render import containers, pod_of  # noqa: E402
from shipped import CALLERS, DEPLOY, OURS, ask, ask_http, compose, documents, folder, image, stage, with_client, with_clients  # noqa: E402

SETS = {"single": compose("single", []), "cluster": compose("cluster", []),
        "single with mutual TLS, models and the web": compose("single", ["mtls", "model", "web"]),
        "cluster with mutual TLS, models and the web": compose("cluster", ["mtls", "model", "web"]),
        "single with the HTTP door": compose("single", ["http"]),
        "cluster with mutual TLS and the HTTP door": compose("cluster", ["http", "mtls"])}
OUTSIDE = ("93.184.216.34", "8.8.8.8")
INSIDE = ("10.96.0.1", "172.20.3.4", "192.168.1.1", "127.0.0.1", "169.254.169.254", "168.63.129.16", "100.64.0.9", "0.0.0.0", "::1", "fd00::1", "fe80::1",
          "2606:4700::1111", "64:ff9b::a9fe:a9fe", "2002:a9fe:a9fe::1")


def configuration(resources, name):
    data = next(one["data"] for n, one in of_kind(resources, "ConfigMap").items() if n.startswith("renga-config-"))
    return json.loads(re.sub(r"^\s*//.*$", "", data[f"{name}.json"], flags=re.M))


def misspelled(resources):
    broken = json.loads(json.dumps(resources))
    container = containers(of_kind(broken, "Deployment")["renga-planner"])[0]
    container["livenessProbe"]["tcpSoket"] = {"port": 1}
    containers(of_kind(broken, "StatefulSet")["renga-tool-runner"])[0]["ports"][0]["containerPort"] = "15003"
    return broken


FAULTS = faults_of(SETS | {"misspelled": misspelled(SETS["single"])})

for title, resources in SETS.items():
    @check(f"{title}: every resource is one that Kubernetes knows, field by field")
    def _():
        expect(not FAULTS[title], FAULTS[title])

    @check(f"{title}: every container is held to the restricted standard")
    def _():
        for name, workload in of_kind(resources, "Deployment", "StatefulSet").items():
            pod = pod_of(workload)
            expect(pod["securityContext"]["runAsNonRoot"] and pod["securityContext"]["seccompProfile"]["type"] == "RuntimeDefault"
                   and pod["automountServiceAccountToken"] is False, f"{name}: {pod['securityContext']}")
            for container in containers(workload) + pod.get("initContainers", []):
                context = container["securityContext"]
                expect(context == {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True,
                                   "capabilities": {"drop": ["ALL"]}}, f"{name}: {context}")
            expect({"startupProbe", "livenessProbe", "readinessProbe", "resources"} <= set(containers(workload)[0]), name)
            for volume in pod.get("volumes", []):
                expect(volume.get("secret", {}).get("defaultMode", 0o440) == 0o440, f"{name}: {volume} may be read by others")

    @check(f"{title}: every workload has a budget of disruption and a service that selects it")
    def _():
        for name, workload in of_kind(resources, "Deployment", "StatefulSet").items():
            labels = workload["spec"]["template"]["metadata"]["labels"]
            service = of_kind(resources, "Service")[name]
            expect(service["spec"]["selector"].items() <= labels.items(), name)
            expect(name == "renga-redis" or of_kind(resources, "PodDisruptionBudget")[name]["spec"]["selector"]["matchLabels"] == labels,
                   name)

    @check(f"{title}: a pod has longer to end than its drain and its preStop take")
    def _():
        for name in OURS:
            pod = pod_of(of_kind(resources, "Deployment", "StatefulSet")[f"renga-{name}"])
            limit = int(configuration(resources, name)["drain"]["limit"].rstrip("s"))
            ahead = pod["containers"][0]["lifecycle"]["preStop"]["sleep"]["seconds"]
            expect(limit + ahead < pod["terminationGracePeriodSeconds"], f"{name}: {limit} + {ahead} s")

    @check(f"{title}: whom a pod calls it may call, on the port that is served, and nobody else")
    def _():
        allowed = edges_allowed(resources)
        wanted = {("renga-door", "renga-orchestrator", port) for port in (15005, 15105)}
        wanted |= {("renga-door", "renga-llm-gateway", 15201)} if "HTTP door" in title else set()
        for name in OURS:
            for target in configuration(resources, name).get("peers", {}).values():
                host, port = re.fullmatch(r"dns:///([a-z-]+):(\d+)", target).groups()
                expect(int(port) in [p["port"] for p in of_kind(resources, "Service")[host]["spec"]["ports"]], target)
                wanted.add((f"renga-{name}", host, int(port)))
        if "renga-redis" in of_kind(resources, "StatefulSet"):
            wanted |= {("renga-orchestrator", "renga-redis", 6379), ("renga-tool-runner", "renga-redis", 6379),
                       ("renga-orchestrator", "renga-orchestrator", 15005), ("renga-orchestrator", "renga-orchestrator", 15205)}
        expect(allowed == wanted, f"too many {allowed - wanted}, too few {wanted - allowed}")


def named(service):
    """ "tool-runner" or "tool_runner" as the contract calls it."""
    return "renga.v1." + "".join(part.capitalize() for part in re.split("[-_]", service))


def keys_of(resources, name, file):
    """The list of keys that a service is given, by the keys' names."""
    env = next(e for e in containers(of_kind(resources, "Deployment", "StatefulSet")[f"renga-{name}"])[0]["env"] if e["name"] == "RENGA_RPC_KEYS")
    source = env["valueFrom"]["configMapKeyRef"]
    expect(source["key"] == file, f"{name} knows the keys of {source['key']}")
    keys = json.loads(of_kind(resources, "ConfigMap")[source["name"]]["data"][file])
    return {key["name"]: set(key["methods"]) for key in keys}


for overlay in ("single", "cluster"):
    @check(f"{overlay}: each service shows a key of its own, which may call and forward to the services that it calls, and to no others")
    def _():
        resources, secrets, _ = with_client(overlay)
        workloads, shown = of_kind(resources, "Deployment", "StatefulSet"), {}
        for name in OURS:
            mounted = {v["secret"]["secretName"] for v in pod_of(workloads[f"renga-{name}"]).get("volumes", [])
                       if "peers" in v.get("secret", {}).get("secretName", "")}
            calls = {named(peer) for peer in configuration(resources, name).get("peers", {})}
            expect(mounted == ({f"renga-peers-{name}"} if calls else set()), f"{name} mounts {mounted}")
            shown.update({secrets[secret]["key"]: name for secret in mounted})
            rights = keys_of(resources, "llm-gateway", "services.json").get(name, set())
            expect(rights == {f"{service}/{right}" for service in calls for right in ("*", "forward")}, f"{name}: {rights}")
        expect(sorted(shown.values()) == sorted(CALLERS), f"the keys are not different: {shown}")
        for name in CALLERS:
            expect(name == "orchestrator" or keys_of(resources, name, "services.json"), name)
        inside = {name: rights for name, rights in keys_of(resources, "orchestrator", "keys.json").items() if name in OURS}
        expect(inside == {"orchestrator": {"renga.v1.Orchestrator/*", "renga.v1.Orchestrator/forward", "renga.v1.Helpdesk/*"}}, inside)


@check("a name that another key has, a service that calls none and a client that would forward are refused, and no list changes")
def _():
    copy = os.path.join(tempfile.mkdtemp(dir=folder), "single")
    shutil.copytree(f"{DEPLOY}/kubernetes/overlays/single", copy)

    def refused(*arguments):
        before = [open(f"{copy}/{name}").read() for name in ("keys.json", "services.json", "keys.sha256")]
        done = subprocess.run([f"{DEPLOY}/kubernetes/client", copy, *arguments], capture_output=True, text=True)
        after = [open(f"{copy}/{name}").read() for name in ("keys.json", "services.json", "keys.sha256")]
        expect(done.returncode and not done.stdout and before == after, f"{arguments}: {done.stdout} {done.stderr}")
        return done.stderr

    subprocess.run([f"{DEPLOY}/kubernetes/client", copy, "--service", "planner"], check=True, capture_output=True)
    expect("already" in refused("--service", "planner") and "already" in refused("planner", "acme"), "it does not say why")
    expect("tool-runner" in refused("--service", "llm-gateway"), "it does not name those that call")
    for service in ("LlmGateway", "Orchestrator", "Helpdesk", "ToolRunner"):
        expect(f"renga.v1.{service}/forward is a right of services" in
               refused("assistant", "acme", f"renga.v1.{service}/*,renga.v1.{service}/forward"), f"a client may forward to {service}")


def lets_out(resources, name, address):
    """Ports at which the workload may reach an address outside of the cluster."""
    workload, ports = of_kind(resources, "Deployment", "StatefulSet")[name], set()
    for policy in of_kind(resources, "NetworkPolicy").values():
        for rule in policy["spec"].get("egress", []) if selects(policy["spec"]["podSelector"], workload) else []:
            for block in [to["ipBlock"] for to in rule["to"] if "ipBlock" in to]:
                if within(address, block["cidr"]) and not any(within(address, hole) for hole in block.get("except", [])):
                    ports |= {port["port"] for port in rule["ports"]}
    return ports


def within(address, block):
    return ipaddress.ip_address(address) in ipaddress.ip_network(block)


for title, resources in SETS.items():
    @check(f"{title}: who goes out reaches public addresses alone")
    def _():
        for name in of_kind(resources, "Deployment", "StatefulSet"):
            inside = {address: ports for address in INSIDE if (ports := lets_out(resources, name, address))}
            expect(not inside, f"{name} reaches {inside}")
            wanted = {"renga-tool-runner": {80, 443}, "renga-llm-gateway": {443}}.get(name, set()) if "web" in title else set()
            expect(lets_out(resources, name, OUTSIDE[0]) == wanted, f"{name}: {lets_out(resources, name, OUTSIDE[0])}")
        expect("web" not in title or all(lets_out(resources, "renga-tool-runner", address) for address in OUTSIDE), "not all of the web")


def said_to(resources, name):
    """Flags and environment of a workload's container."""
    container = containers(of_kind(resources, "Deployment", "StatefulSet")[name])[0]
    return container.get("args", []), {entry["name"]: entry.get("value") or entry["valueFrom"] for entry in container["env"]}


for title, resources in SETS.items():
    opened = "HTTP door" in title

    @check(f"{title}: the HTTP door is {'open through the outer door alone' if opened else 'closed'}")
    def _():
        flags, _ = said_to(resources, "renga-llm-gateway")
        listens = [flag for flag in flags if flag.startswith("--llm_gateway.http.")]
        _, door = said_to(resources, "renga-door")
        fronts = {name: value for name, value in door.items() if "_HTTP_" in name}
        services = of_kind(resources, "Service")
        outside = {port["port"]: number_of(of_kind(resources, "Deployment")["renga-door"], port["targetPort"])
                   for port in services["renga-door"]["spec"]["ports"]}
        inside = {port["port"] for port in services["renga-llm-gateway"]["spec"]["ports"]}
        if not opened:
            expect((listens, fronts, outside, inside) == ([], {}, {443: 8443}, {15001}), f"{listens} {fronts} {outside} {inside}")
            expect(ports_for_anyone(resources, "renga-door") == {8443}, ports_for_anyone(resources, "renga-door"))
            return
        expect(listens == ["--llm_gateway.http.listen=0.0.0.0:15201", "--llm_gateway.http.connections_per_address=0"], listens)
        host, port = fronts["RENGA_DOOR_HTTP_SERVICE"].split(":")
        expect(host == f"renga-llm-gateway.{pods.DOMAIN}" and int(port) == 15201 and inside == {15001, 15201}, f"{fronts} {inside}")
        expect(fronts["RENGA_DOOR_HTTP_LISTEN"] == ":8444" and outside == {443: 8443, 8443: 8444}, f"{fronts} {outside}")
        most = of_kind(resources, "HorizontalPodAutoscaler").get("renga-llm-gateway", {"spec": {"maxReplicas": 2}})["spec"]["maxReplicas"]
        expect(int(fronts["RENGA_DOOR_HTTP_SERVICE_COUNT"]) >= 2 * most, f"{fronts}: {most} gateways")
        expect(ports_for_anyone(resources, "renga-door") == {8443, 8444} and not ports_for_anyone(resources, "renga-llm-gateway"),
               f"{ports_for_anyone(resources, 'renga-door')} {ports_for_anyone(resources, 'renga-llm-gateway')}")


@check("a copy of the folders that the README names renders the same")
def _():
    readme = open(os.path.join(DEPLOY, "kubernetes", "README.md")).read()
    named = re.findall(r"`deploy/(\w+)`", re.search(r"\*\*Start\*\*.*?:\n", readme, re.S).group())
    copy = tempfile.mkdtemp(dir=folder)
    for name in named:
        shutil.copytree(os.path.join(DEPLOY, name), os.path.join(copy, "deploy", name))
    for overlay in ("single", "cluster"):
        expect(compose(overlay, [], f"{copy}/deploy/kubernetes") == SETS[overlay], f"{overlay} differs in a copy of {named}")


@check("behind the door no connection ends at an age: HAProxy 2.6 can lose the last answers on it")
def _():
    for title, resources in SETS.items():
        expect(configuration(resources, "orchestrator")["rpc"]["connection_age"] == "0s", title)
        for container in containers(of_kind(resources, "StatefulSet", "Deployment")["renga-orchestrator"]):
            said = [word for word in container.get("args", []) if word.startswith("--rpc.connection_age")]
            expect(not said, f"{title}: {said}")


@check("a field that is spelled wrongly and a value of a wrong type are found")
def _():
    faults = FAULTS["misspelled"]
    expect("tcpSoket" in faults and "containerPort" in faults, faults)


@check("the root of the container has at most 60 MiB of ours, and a list of all that is in it")
def _():
    done = stage()
    expect(done.returncode == 0, done.stdout + done.stderr)
    ours = int(re.match(r"(\d+) MiB of ours", done.stdout).group(1))
    expect(ours <= 60, done.stdout)
    with open(f"{image}/usr/share/doc/sbom.cdx.json") as file:
        listed = {part["name"] for part in json.load(file)["components"]}
    expect({"/usr/bin/renga", "libgrpc29", "libc6", "libsqlite3-0"} <= listed, listed)
    return done.stdout.strip()


def run_as_pods(title, components):
    resources, secrets, key = with_client("single", *components)
    cluster = pods.Cluster(resources, {"renga": image, "haproxy": "/"}, secrets)
    cluster.maps["renga-documents"] = documents()
    try:
        @check(f"{title}: every pod becomes ready by the probes of its manifest")
        def _():
            for name in (*OURS, "door"):
                cluster.start(f"renga-{name}")
            for pod in cluster.pods:
                wait_until(lambda: pod.ready, f"{pod.name} is not ready: {pod.log()}", 20)

        @check(f"{title}: a client with a key has a question answered through the door, out of the documents of a ConfigMap")
        def _():
            wait_until(lambda: answered(cluster, key), "no answer", 20, 0.2)
            expect("days" in ask(cluster, key).result.answer, ask(cluster, key).result.answer)

        @check(f"{title}: a client without a key is refused at the door")
        def _():
            try:
                ask(cluster, "wrong")
                expect(False, "it was answered")
            except grpc.RpcError as error:
                expect(error.code() == grpc.StatusCode.UNAUTHENTICATED, error)

        @check(f"{title}: SIGTERM ends every pod within its grace period, without a fault")
        def _():
            pods_of_ours = [pod for pod in cluster.pods if pod.name != "renga-door"]
            for pod, code in zip(pods_of_ours, cluster.stop(*pods_of_ours)):
                expect(code == 0, f"{pod.name} ended with {code}: {pod.log()}")
    finally:
        cluster.close()


def answered(cluster, key):
    try:
        return bool(ask(cluster, key).result.answer)
    except grpc.RpcError as error:
        expect(error.code() == grpc.StatusCode.UNAVAILABLE, f"{error.code()}: {error.details()}")
        return False


def log_of_ready(name, component):
    """What a pod says until it is ready, with nobody beside it."""
    resources, secrets, _ = with_client("single", component)
    cluster = pods.Cluster(resources, {"renga": image}, secrets)
    try:
        pod = cluster.start(name)
        wait_until(lambda: pod.ready, f"{pod.name} is not ready: {pod.log()}", 20)
        return pod.log()
    finally:
        cluster.close()


@check("the web: the tool-runner becomes ready with pages to read and a document of tool servers")
def _():
    log_of_ready("renga-tool-runner", "web")


@check("models of providers: the gateway becomes ready with its routes and a provider's key")
def _():
    log = log_of_ready("renga-llm-gateway", "model")
    expect("through 2 deployments" in log, log)


def run_http_door(title, components):
    """The gateway and the outer door alone: HTTP asks for no other service."""
    resources, secrets, (backend, model) = with_clients("single", ["http", *components], ("backend", "acme"), (
        "assistant", "acme", "renga.v1.LlmGateway/*"))
    cluster = pods.Cluster(resources, {"renga": image, "haproxy": "/"}, secrets)
    try:
        @check(f"{title}: a client whose key opens the gateway has a chat answered through the outer door")
        def _():
            for name in ("renga-llm-gateway", "renga-llm-gateway", "renga-door"):
                cluster.start(name)
            for pod in cluster.pods:
                wait_until(lambda: pod.ready, f"{pod.name} is not ready: {pod.log()}", 20)
            wait_until(lambda: ask_http(cluster, model, "/v1/models")[0] == 200, "no models", 20, 0.2)
            known = ask_http(cluster, model, "/v1/models")[1]["data"][0]["id"]
            status, answer = ask_http(cluster, model, "/v1/chat/completions",
                                      {"model": known, "messages": [{"role": "user", "content": "How long are backups kept?"}]})
            expect(status == 200 and answer["choices"][0]["message"]["content"], f"{status} {answer}")

        @check(f"{title}: no key, an unknown key, a service's key and a key for other services are refused")
        def _():
            service = secrets["renga-peers-planner"]["key"].strip()
            seen = [ask_http(cluster, key, "/v1/models")[0] for key in (None, "wrong", service, backend)]
            expect(seen == [401] * 4, seen)

        @check(f"{title}: a gateway that leaves fails no request")
        def _():
            leaving = threading.Thread(target=cluster.stop, args=(cluster.pods[0],))
            leaving.start()
            statuses = []
            while leaving.is_alive():
                statuses.append(ask_http(cluster, model, "/v1/models")[0])
                time.sleep(0.1)  # an address has 200 connections in 10 s
            expect(len(statuses) > 5 and set(statuses) == {200}, statuses)
            return f"{len(statuses)} requests"
    finally:
        cluster.close()


run_http_door("the HTTP door", [])
run_http_door("the HTTP door with mutual TLS", ["mtls"])
run_as_pods("one machine", [])
run_as_pods("one machine with mutual TLS", ["mtls"])
shutil.rmtree(folder)
finish()
