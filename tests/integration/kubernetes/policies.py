"""What rendered resources say: who may call whom, and what Kubernetes' schemas say of them."""
import json
import os
import subprocess

from checks import expect
from render import containers

HERE = os.path.dirname(os.path.abspath(__file__))


def of_kind(resources, *kinds):
    return {one["metadata"]["name"]: one for one in resources if one["kind"] in kinds}


def faults_of(sets):
    """The faults of each set of resources, as text: {title: resources} gives {title: faults}. One call for all costs a tenth."""
    done = subprocess.run(["node", os.path.join(HERE, "schemas.mjs")], input=json.dumps(list(sets.values())), capture_output=True,
                          text=True)
    expect(done.returncode == 0, done.stderr[-500:])
    return dict(zip(sets, json.loads(done.stdout)))


def selects(selector, workload):
    labels = workload["spec"]["template"]["metadata"]["labels"]
    return (selector.get("matchLabels", {}).items() <= labels.items()
            and all(labels.get(e["key"]) in e["values"] for e in selector.get("matchExpressions", [])))


def edges_allowed(resources):
    """(from, to, port) between workloads that both sides' policies let through."""
    workloads = of_kind(resources, "Deployment", "StatefulSet")
    out, into = set(), set()
    for policy in of_kind(resources, "NetworkPolicy").values():
        spec = policy["spec"]
        for name, workload in workloads.items():
            if not selects(spec["podSelector"], workload):
                continue
            for rule in spec.get("egress", []):
                out |= {(name, other, port["port"]) for to in rule["to"] if "podSelector" in to
                        for other in workloads if selects(to["podSelector"], workloads[other]) for port in rule["ports"]}
            for rule in spec.get("ingress", []):
                into |= {(other, name, number_of(workload, port["port"])) for source in rule.get("from", []) if "podSelector" in source
                         for other in workloads if selects(source["podSelector"], workloads[other]) for port in rule["ports"]}
    return out & into


def number_of(workload, port):
    return next(p["containerPort"] for c in containers(workload) for p in c["ports"] if port in (p["name"], p["containerPort"]))


def ports_for_anyone(resources, name):
    workload = of_kind(resources, "Deployment", "StatefulSet")[name]
    return {number_of(workload, port["port"]) for policy in of_kind(resources, "NetworkPolicy").values()
            for rule in policy["spec"].get("ingress", []) if selects(policy["spec"]["podSelector"], workload)
            for port in rule["ports"] if "from" not in rule}
