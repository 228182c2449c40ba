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


def tells(pod):
    """Where it shows its metrics; None where it has none."""
    ports = {port.get("name"): port["containerPort"] for port in pod.spec["containers"][0]["ports"]}
    return f"http://{pod.address}:{ports['http']}/metrics" if "http" in ports else None


def answered(pod):
    """How many calls it has answered well, those about its health excepted; None while it cannot be asked."""
    try:
        with urllib.request.urlopen(tells(pod), timeout=0.5) as page:
            lines = page.read().decode().splitlines()
    except OSError:
        return None
    return sum(float(line.split()[-1]) for line in lines
               if (line.startswith("grpc_server_handled_total{") and 'grpc_code="OK"' in line and "grpc.health" not in line)
               or line.startswith('haproxy_backend_http_responses_total{proxy="services",code="2xx"}'))


def until(condition, began, what):
    """Seconds since `began` when the condition became true."""
    wait_until(condition, f"not {what}", PATIENCE, 0.02)
    return time.monotonic() - began


def silence(cluster, clients, pod, seconds):
    """Its cable, out and in again. When its callers and it itself had given each other up, and when it answered again."""
    callers, outward = callers_of(cluster, pod), called_by(cluster, pod)
    figures, began = {}, time.monotonic()
    pod.plug(False)
    try:
        if callers:
            figures["noticed by its callers"] = until(lambda: not callers_of(cluster, pod), began,
                                                      "noticed by its callers")
        if outward:
            figures["noticed by itself"] = until(lambda: not called_by(cluster, pod) & outward, began, "noticed by itself")
        time.sleep(max(0, began + seconds - time.monotonic()))
    finally:
        began = time.monotonic()
        pod.plug(True)
    if tells(pod):
        until(lambda: answered(pod) is not None, began, "to be reached again")
        before = answered(pod)
        figures["healed"] = until(lambda: (answered(pod) or 0) > before, began, "healed")
    else:
        figures["healed"] = until(lambda: any(client.answered > began for client in clients), began, "healed")
    return figures
