"""google.rpc.Status in `grpc-status-details-bin`, read with the contract's own google/rpc/*.proto."""
import functools
import os
import subprocess
import tempfile

from google.protobuf import descriptor_pb2

from probe import Messages

PROTO_DIR = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../proto")


@functools.lru_cache(maxsize=None)
def messages():
    with tempfile.NamedTemporaryFile() as out:
        subprocess.run(["protoc", "-I" + PROTO_DIR, "-I/usr/include", "--include_imports",
                        "--descriptor_set_out=" + out.name, "google/rpc/status.proto", "google/rpc/error_details.proto"],
                       check=True)
        return Messages(descriptor_pb2.FileDescriptorSet.FromString(out.read()).file)


def details_of(error):
    """The Status of an error and its details by their type's name."""
    packed = dict(error.trailing_metadata()).get("grpc-status-details-bin", b"")
    status = messages()["google.rpc.Status"].FromString(packed)
    parts = {}
    for any_ in status.details:
        name = any_.type_url.rsplit("/", 1)[-1]
        parts[name] = messages()[name].FromString(any_.value)
    return status, parts
