/* The whole contract as a serialised google.protobuf.FileDescriptorSet, imports included, comments left out. */
#ifndef RENGA_PROTO_DESCRIPTOR_SET_H
#define RENGA_PROTO_DESCRIPTOR_SET_H

#include <stddef.h>

extern const unsigned char renga_descriptor_set[];
extern const size_t renga_descriptor_set_size;

#endif
