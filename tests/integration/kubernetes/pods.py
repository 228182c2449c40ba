"""A cluster of processes: the containers of rendered resources as pods, each in the root file system of its image with what
it mounts, read-only, as the user it names, in a network of its own with an address; names of services lead to the pods that
are ready; pods begin, are probed and end as the kubelet does it. Whoever imports this is started anew in a network of its own
(as root, or as root of a user namespace)."""
import os
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

import grpc

from render import pod_of

GATE = "10.77.0.1"  # of the bridge that all pods hang on; the name server
DOMAIN = "renga.svc.cluster.local"
RECORD_SECONDS = 5  # how long a name may be kept; CoreDNS says 5 for services without an address of their own

if "RENGA_PODS" not in os.environ:
    apart = ["unshare", "--mount", "--net"] + ([] if os.getuid() == 0 else ["--map-auto", "--map-root-user"])
    os.environ["RENGA_PODS"] = "1"
    os.execvp("unshare", [*apart, "sh", "-c", f"""
        ip link set lo up && ip link add renga0 type bridge && ip addr add {GATE}/16 dev renga0 && ip link set renga0 up &&
        exec "$0" "$@" """, sys.executable, *sys.argv])

# Builds the root of a container and becomes its process: $1 image, $2 folder of the pod, $3 user, then the command. It
# waits for a line, in which time it is given its network.
BECOME = r"""
set -e
read -r go
image=$1 pod=$2 user=$3; shift 3
root=$pod/root
mount -t overlay overlay -o "lowerdir=$image,upperdir=$pod/upper,workdir=$pod/work" "$root"
mkdir -p "$root/proc" "$root/dev" "$root/etc"
mount --rbind /proc "$root/proc"
mount --rbind /dev "$root/dev"
echo "127.0.0.1 localhost" > "$root/etc/hosts"
cat "$pod/resolv.conf" > "$root/etc/resolv.conf"
while read -r how from to; do
  if [ -d "$from" ]; then mkdir -p "$root$to"; else mkdir -p "$(dirname "$root$to")"; touch "$root$to"; fi
  mount --bind "$from" "$root$to"
  [ "$how" = rw ] || mount -o remount,bind,ro "$root$to"
done < "$pod/mounts"
mount -o remount,ro "$root"
exec chroot --userspec="$user:$user" --groups= "$root" "$@" </dev/null
"""


class Pod:
    def __init__(self, workload, address, process, log, cable):
        self.workload, self.address, self.process, self.log_path, self.cable = workload, address, process, log, cable
        self.ordinal, self.plugged = 0, True
        self.name = workload["metadata"]["name"]
        self.spec = pod_of(workload)
        self.ready = self.leaving = False

    def probe(self, kind):
        """What the kubelet would hear."""
        asked = self.spec["containers"][0][kind]
        try:
            if "grpc" in asked:
                name = asked["grpc"]["service"].encode()
                with grpc.insecure_channel(f"{self.address}:{asked['grpc']['port']}") as channel:
                    return channel.unary_unary("/grpc.health.v1.Health/Check")(bytes([0x0A, len(name)]) + name, timeout=1) == b"\x08\x01"
            at = asked.get("httpGet") or asked["tcpSocket"]
            port = next(p["containerPort"] for p in self.spec["containers"][0]["ports"] if at["port"] in (p["name"], p["containerPort"]))
            with socket.create_connection((self.address, port), timeout=1) as connection:
                if "tcpSocket" in asked:
                    return True
                connection.sendall(f"GET {at['path']} HTTP/1.0\r\n\r\n".encode())
                return b" 200 " in connection.recv(64)
        except (grpc.RpcError, OSError):
            return False

    def plug(self, in_):
        """Its cable into the bridge, or out of it: packets vanish, and nobody is told. The kubelet stands on the pod's side of
        the cable: what it knows of the pod stays as it is."""
        self.plugged = in_
        subprocess.run(["ip", "link", "set", self.cable, "master", "renga0"] if in_ else ["ip", "link", "set", self.cable, "nomaster"], check=True)

    def log(self):
        with open(self.log_path, errors="replace") as file:
            return file.read()[-800:]


class Cluster:
    """Resources, the roots of images by name, and what Secrets hold: {name: {key: text}}."""

    def __init__(self, resources, images, secrets):
        self.resources, self.images, self.secrets = resources, images, secrets
        self.folder = tempfile.mkdtemp(prefix="renga-pods-")
        os.chmod(self.folder, 0o755)
        self.pods, self.made, self.closed = [], 0, False
        self.maps = {one["metadata"]["name"]: one["data"] for one in resources if one["kind"] == "ConfigMap"}
        self.names = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.names.bind((GATE, 53))
        threading.Thread(target=self.name_server, daemon=True).start()
        threading.Thread(target=self.readiness, daemon=True).start()

    # ---- names and readiness

    def ready(self, name):
        return [pod.address for pod in self.pods if pod.name == name and pod.ready and not pod.leaving]

    def name_server(self):
        while not self.closed:
            query, sender = self.names.recvfrom(512)
            labels, at = [], 12
            while query[at]:
                labels.append(query[at + 1:at + 1 + query[at]].decode().lower())
                at += 1 + query[at]
            kind = struct.unpack("!H", query[at + 1:at + 3])[0]
            known = ".".join(labels[1:]) == DOMAIN
            addresses = self.ready(labels[0]) if known and kind == 1 else []
            answers = b"".join(b"\xc0\x0c" + struct.pack("!HHIH", 1, 1, RECORD_SECONDS, 4) + socket.inet_aton(a) for a in addresses)
            self.names.sendto(query[:2] + struct.pack("!HHHHH", 0x8580 | (0 if known else 3), 1, len(addresses), 0, 0)
                              + query[12:at + 5] + answers, sender)

    def readiness(self):
        while not self.closed:
            for pod in [pod for pod in self.pods if pod.plugged]:
                pod.ready = pod.process.poll() is None and pod.probe("readinessProbe")
            time.sleep(0.2)

    # ---- pods

    def workload(self, name):
        return next(one for one in self.resources if one["metadata"]["name"] == name and pod_of(one))

    def start(self, name):
        """Runs what comes before, each to its end, and starts what stays."""
        workload = self.workload(name)
        taken = {pod.ordinal for pod in self.pods if pod.name == name}
        ordinal = next(number for number in range(len(taken) + 1) if number not in taken)
        volumes = self.volumes(workload, ordinal)
        for container in pod_of(workload).get("initContainers", []):
            before = self.run(workload, container, volumes)
            if before.process.wait(60) != 0:
                raise RuntimeError(f"{name}: {container['name']} ended with {before.process.returncode}: {before.log()}")
        pod = self.run(workload, pod_of(workload)["containers"][0], volumes)
        pod.ordinal = ordinal
        self.pods.append(pod)
        return pod

    def run(self, workload, container, volumes):
        self.made += 1
        number, spec = self.made, pod_of(workload)
        address = f"10.77.1.{number}"
        folder = os.path.join(self.folder, f"pod-{number}")
        for part in ("root", "upper", "work"):
            os.makedirs(os.path.join(folder, part))
        write(f"{folder}/resolv.conf", f"nameserver {GATE}\nsearch {DOMAIN}\noptions ndots:5\n")
        write(f"{folder}/mounts", "".join(
            f"{'ro' if mount.get('readOnly') else 'rw'} "
            f"{os.path.join(volumes[mount['name']], mount.get('subPath', '')).rstrip('/')} {mount['mountPath']}\n"
            for mount in container.get("volumeMounts", [])))
        environment = self.environment(container, address)
        arguments = [expand(argument, environment) for argument in container["command"] + container.get("args", [])]
        with open(f"{folder}/log", "wb") as log:
            process = subprocess.Popen(
                ["unshare", "--mount", "--net", "sh", "-c", BECOME, "become", self.images[container["image"].split(":")[0]],
                 folder, str(spec["securityContext"]["runAsUser"]), *arguments],
                env={"PATH": "/usr/local/sbin:/usr/sbin:/usr/bin:/bin", **environment},
                stdin=subprocess.PIPE, stdout=log, stderr=subprocess.STDOUT)
        connect(process, f"pod{number}", address)
        return Pod(workload, address, process, f"{folder}/log", f"pod{number}")

    def environment(self, container, address):
        values = {}
        for entry in container.get("env", []):
            source = entry.get("valueFrom", {})
            if "configMapKeyRef" in source:
                values[entry["name"]] = self.maps[source["configMapKeyRef"]["name"]][source["configMapKeyRef"]["key"]]
            elif "fieldRef" in source:
                values[entry["name"]] = {"status.podIP": address}[source["fieldRef"]["fieldPath"]]
            else:
                values[entry["name"]] = entry["value"]
        return values

    def volumes(self, workload, ordinal):
        """The folder of each volume of a new pod; those that are claimed are kept from pod to pod."""
        folders = {}
        for volume in pod_of(workload).get("volumes", []):
            folders[volume["name"]] = self.volume(volume)
        for claim in workload["spec"].get("volumeClaimTemplates", []):
            folders[claim["metadata"]["name"]] = writable(f"{self.folder}/claim-{workload['metadata']['name']}-{ordinal}")
        return folders

    def volume(self, volume):
        self.made += 1
        folder = writable(os.path.join(self.folder, f"volume-{self.made}"))
        if "emptyDir" in volume:
            return folder
        for source in volume["projected"]["sources"] if "projected" in volume else [volume]:
            data, items = self.held(source)
            for key, path in [(item["key"], item["path"]) for item in items or []] or [(key, key) for key in data]:
                write(os.path.join(folder, path), data[key])
                os.chmod(os.path.join(folder, path), 0o444)
        return folder

    def held(self, source):
        if "configMap" in source:
            wanted = source["configMap"]
            return self.maps.get(wanted["name"], {}) if wanted.get("optional") else self.maps[wanted["name"]], wanted.get("items")
        secret = source["secret"]
        return self.secrets[secret.get("secretName") or secret["name"]], secret.get("items")

    def stop(self, *pods):
        """As the kubelet ends pods, all at once: their names lead elsewhere, preStop, SIGTERM, SIGKILL after the grace
        period. Their exit codes."""
        for pod in pods:
            pod.leaving = True
        began = time.monotonic()
        for pod in sorted(pods, key=ahead_of):
            time.sleep(max(0, began + ahead_of(pod) - time.monotonic()))
            pod.process.send_signal(STOP_SIGNALS.get(pod.spec["containers"][0]["image"].split(":")[0], 15))
        for pod in pods:
            try:
                pod.process.wait(max(0.1, began + pod.spec["terminationGracePeriodSeconds"] - time.monotonic()))
            except subprocess.TimeoutExpired:
                pod.process.kill()
                pod.process.wait()
            self.pods.remove(pod)
        return [pod.process.returncode for pod in pods]

    def lose(self, pod):
        """As when its machine loses its power: no packet says that it is gone."""
        pod.plug(False)
        pod.process.kill()
        pod.process.wait()
        pod.leaving = True
        self.pods.remove(pod)

    def close(self):
        self.closed = True
        for pod in self.pods:
            pod.process.kill()
            pod.process.wait()
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"\0" * 20, (GATE, 53))  # the name server looks up
        time.sleep(0.1)
        self.names.close()
        shutil.rmtree(self.folder, ignore_errors=True)


STOP_SIGNALS = {"haproxy": 10}  # what its image says: SIGUSR1


def ahead_of(pod):
    return pod.spec["containers"][0].get("lifecycle", {}).get("preStop", {}).get("sleep", {}).get("seconds", 0)


def connect(process, name, address):
    """A cable from the bridge into the process's network, once it has one; then it may go on."""
    own = os.readlink("/proc/self/ns/net")
    until = time.monotonic() + 5
    while os.readlink(f"/proc/{process.pid}/ns/net") == own:
        if time.monotonic() > until:
            raise RuntimeError("a pod got no network of its own")
        time.sleep(0.002)
    subprocess.run(["sh", "-ec", f"""
        ip link add {name} type veth peer name eth0 netns {process.pid}
        ip link set {name} master renga0 up
        nsenter -t {process.pid} -n sh -ec 'ip link set lo up; ip addr add {address}/16 dev eth0; ip link set eth0 up'"""], check=True)
    process.stdin.write(b"go\n")
    process.stdin.close()


def expand(text, environment):
    for name, value in environment.items():
        text = text.replace(f"$({name})", value)
    return text


def write(path, text):
    with open(path, "w") as file:
        file.write(text)


def writable(folder):
    os.makedirs(folder, exist_ok=True)
    os.chmod(folder, 0o777)
    return folder
