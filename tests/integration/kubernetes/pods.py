"""Pods as processes: the containers of rendered resources, each in the root file system of its image with what it mounts,
read-only, as the user it names, without a privilege, with the names of services in its hosts; all in one network of
their own. Whoever imports this becomes root of that network (and of a user namespace where it was not root)."""
import os
import shutil
import subprocess
import sys
import tempfile
import time

from render import pod_of

if "RENGA_PODS" not in os.environ:
    apart = ["unshare", "--mount", "--net"] + ([] if os.getuid() == 0 else ["--map-auto", "--map-root-user"])
    os.environ["RENGA_PODS"] = "1"
    os.execvp("unshare", [*apart, "sh", "-c", 'ip link set lo up && exec "$0" "$@"', sys.executable, *sys.argv])

# Builds the root of a container and becomes its process: $1 image, $2 folder of the pod, $3 user, then the command.
BECOME = r"""
set -e
image=$1 pod=$2 user=$3; shift 3
root=$pod/root
mount -t overlay overlay -o "lowerdir=$image,upperdir=$pod/upper,workdir=$pod/work" "$root"
mkdir -p "$root/proc" "$root/dev" "$root/etc"
mount --rbind /proc "$root/proc"
mount --rbind /dev "$root/dev"
cat "$pod/hosts" > "$root/etc/hosts"
: > "$root/etc/resolv.conf"
while read -r how from to; do
  if [ -d "$from" ]; then mkdir -p "$root$to"; else mkdir -p "$(dirname "$root$to")"; touch "$root$to"; fi
  mount --bind "$from" "$root$to"
  [ "$how" = rw ] || mount -o remount,bind,ro "$root$to"
done < "$pod/mounts"
mount -o remount,ro "$root"
exec chroot --userspec="$user:$user" --groups= "$root" "$@"
"""


class Cluster:
    """Resources, the roots of images by name, and what Secrets hold: {name: {key: text}}."""

    def __init__(self, resources, images, secrets):
        self.resources, self.images, self.secrets = resources, images, secrets
        self.folder = tempfile.mkdtemp(prefix="renga-pods-")
        self.pods = {}
        self.maps = {one["metadata"]["name"]: one["data"] for one in resources if one["kind"] == "ConfigMap"}
        names = [one["metadata"]["name"] for one in resources if one["kind"] == "Service"]
        self.hosts = "127.0.0.1 localhost\n" + "".join(f"127.0.0.1 {n} {n}.renga.svc.cluster.local\n" for n in names)

    def workload(self, name):
        return next(one for one in self.resources if one["metadata"]["name"] == name and pod_of(one))

    def start(self, name):
        """Runs what comes before, each to its end, and starts what stays."""
        spec = pod_of(self.workload(name))
        volumes = self.volumes(name)
        for container in spec.get("initContainers", []):
            before = self.run(f"{name}-{container['name']}", container, spec, volumes)
            if before.wait(60) != 0:
                raise RuntimeError(f"{name}: {container['name']} ended with {before.returncode}: {tail_of(before)}")
        self.pods[name] = self.run(name, spec["containers"][0], spec, volumes)

    def run(self, name, container, spec, volumes):
        pod = os.path.join(self.folder, f"{name}-{len(os.listdir(self.folder))}")
        for part in ("root", "upper", "work"):
            os.makedirs(os.path.join(pod, part))
        write(f"{pod}/hosts", self.hosts)
        write(f"{pod}/mounts", "".join(
            f"{'ro' if mount.get('readOnly') else 'rw'} "
            f"{os.path.join(volumes[mount['name']], mount.get('subPath', '')).rstrip('/')} {mount['mountPath']}\n"
            for mount in container.get("volumeMounts", [])))
        with open(f"{pod}/log", "wb") as log:
            process = subprocess.Popen(
                ["unshare", "--mount", "sh", "-c", BECOME, "become", self.images[container["image"].split(":")[0]], pod,
                 str(spec["securityContext"]["runAsUser"]), *container["command"], *container.get("args", [])],
                env={"PATH": "/usr/local/sbin:/usr/sbin:/usr/bin:/bin", **self.environment(container)},
                stdout=log, stderr=subprocess.STDOUT)
        process.log = f"{pod}/log"
        return process

    def environment(self, container):
        values = {}
        for entry in container.get("env", []):
            source = entry.get("valueFrom", {}).get("configMapKeyRef")
            values[entry["name"]] = self.maps[source["name"]][source["key"]] if source else entry["value"]
        return values

    def volumes(self, name):
        """The folder of each volume of a new pod; those that are claimed are kept from pod to pod."""
        workload, folders = self.workload(name), {}
        for volume in pod_of(workload).get("volumes", []):
            folders[volume["name"]] = self.volume(volume)
        for claim in workload["spec"].get("volumeClaimTemplates", []):
            folders[claim["metadata"]["name"]] = writable(f"{self.folder}/claim-{name}-{claim['metadata']['name']}")
        return folders

    def volume(self, volume):
        folder = writable(os.path.join(self.folder, f"volume-{len(os.listdir(self.folder))}"))
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

    def stop(self, *names):
        """SIGTERM as the kubelet sends it, to all at once; their exit codes, once each has had its grace period at most."""
        for name in names:
            self.pods[name].terminate()
        return {name: self.pods[name].wait(pod_of(self.workload(name))["terminationGracePeriodSeconds"]) for name in names}

    def log(self, name):
        return tail_of(self.pods[name])

    def close(self):
        for process in self.pods.values():
            process.kill()
            process.wait()
        time.sleep(0.05)  # their mounts go with them
        shutil.rmtree(self.folder, ignore_errors=True)


def tail_of(process):
    with open(process.log, errors="replace") as file:
        return file.read()[-800:]


def write(path, text):
    with open(path, "w") as file:
        file.write(text)


def writable(folder):
    os.makedirs(folder, exist_ok=True)
    os.chmod(folder, 0o777)
    return folder
