"""What the pods know of each other: the connections that each believes in, from its own kernel, and the calls that each has
answered, from its own metrics."""
import socket
import struct
import time
import urllib.request

from checks import wait_until

ESTABLISHED = "01"
PATIENCE = 15  # seconds for what should take three


def port_of(pod):
    """Where it serves."""
    return pod.spec["containers"][0]["ports"][0]["containerPort"]


def peers_of(pod):
    """(address, port) at the other end of each connection that the pod takes for whole."""
    found = set()
    for table in "tcp", "tcp6":
        try:
            with open(f"/proc/{pod.process.pid}/net/{table}") as lines:
                next(lines)
                for fields in map(str.split, lines):
                    if fields[3] == ESTABLISHED:
                        address, port = fields[2].split(":")
                        found.add((socket.inet_ntoa(struct.pack("<I", int(address[-8:], 16))), int(port, 16)))
        except (OSError, StopIteration):
            pass  # it has just ended
    return found


def callers_of(cluster, pod):
    """Pods that have a connection to where the pod serves."""
    place = (pod.address, port_of(pod))
    return [other for other in cluster.pods if other is not pod and place in peers_of(other)]


def called_by(cluster, pod):
    """Places of other pods to which the pod has a connection."""
    return peers_of(pod) & {(other.address, port_of(other)) for other in cluster.pods if other is not pod}


def page_of(pod):
    """Where it shows its metrics; None where it has none."""
    ports = {port.get("name"): port["containerPort"] for port in pod.spec["containers"][0]["ports"]}
    return f"http://{pod.address}:{ports['http']}/metrics" if "http" in ports else None


def metrics(pod, *wanted):
    """The sum of the series that begin so; None while it cannot be asked."""
    try:
        with urllib.request.urlopen(page_of(pod), timeout=0.5) as page:
            lines = page.read().decode().splitlines()
    except OSError:
        return None
    return sum(float(line.split()[-1]) for line in lines
               if line.startswith(wanted) and "grpc.health" not in line and ('grpc_code="OK"' in line or line.startswith("haproxy")))


def answered(pod):
    """How many calls it has answered well, those about its health excepted."""
    return metrics(pod, "grpc_server_handled_total{", 'haproxy_backend_http_responses_total{proxy="services",code="2xx"}')


def believes(other, pod):
    """Whether a pod would still give the other one calls: the door, which keeps connections that it has given up, says how many
    servers it has; of the rest a connection tells."""
    if other.name == "renga-door":
        return metrics(other, 'haproxy_backend_active_servers{proxy="services"}') != other.servers - 1
    return (pod.address, port_of(pod)) in peers_of(other)


def until(condition, began, what):
    """Seconds since `began` when the condition became true."""
    wait_until(condition, f"not {what}", PATIENCE, 0.02)
    return time.monotonic() - began


def noticed(cluster, pod, callers, outward, began):
    """When the last of its callers had given it up, and when it had given up those that it calls."""
    figures, left = {}, list(callers)

    def nobody_believes():
        if outward and "noticed by itself" not in figures and not called_by(cluster, pod) & outward:
            figures["noticed by itself"] = time.monotonic() - began
        for other in left[:]:
            if not believes(other, pod):
                left.remove(other)
                figures["noticed by its callers"] = time.monotonic() - began
        return not left and (not outward or "noticed by itself" in figures)

    wait_until(nobody_believes, f"{pod.name} is believed in by {[other.name for other in left]}, or believes itself", PATIENCE, 0.02)
    return figures


def silence(cluster, clients, pod, seconds):
    """Its cable, out and in again: when it was noticed, and when it answered again."""
    callers = callers_of(cluster, pod)
    outward = set() if pod.name == "renga-door" else called_by(cluster, pod)  # nobody comes to a door that is cut
    for other in callers:
        if other.name == "renga-door":
            other.servers = metrics(other, 'haproxy_backend_active_servers{proxy="services"}')
    began = time.monotonic()
    pod.plug(False)
    try:
        figures = noticed(cluster, pod, callers, outward, began)
        time.sleep(max(0, began + seconds - time.monotonic()))
    finally:
        began = time.monotonic()
        pod.plug(True)
    if page_of(pod):
        until(lambda: answered(pod) is not None, began, "to be reached again")
        before = answered(pod)
        figures["healed"] = until(lambda: (answered(pod) or 0) > before, began, "healed")
    else:
        figures["healed"] = until(lambda: any(client.answered > began for client in clients), began, "healed")
    return figures
