"""The messages of proto/, from the descriptors that the build has made. Needs RENGA_PROTO (renga_descriptor_set.bin).

    message("ChatRequest")(model="m")         # of renga.v1; any other by its whole name
    word("ChatRole", request.messages[0].role)
"""
import os

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

pool = descriptor_pool.DescriptorPool()
with open(os.path.join(os.environ["RENGA_PROTO"], "renga_descriptor_set.bin"), "rb") as _file:
    for _descriptor in descriptor_pb2.FileDescriptorSet.FromString(_file.read()).file:
        pool.Add(_descriptor)
_factory = message_factory.MessageFactory(pool)


def message(name):
    return _factory.GetPrototype(pool.FindMessageTypeByName(name if "." in name else "renga.v1." + name))


def number(enum, name):
    return pool.FindEnumTypeByName("renga.v1." + enum).values_by_name[name].number


def word(enum, value):
    return pool.FindEnumTypeByName("renga.v1." + enum).values_by_number[value].name
