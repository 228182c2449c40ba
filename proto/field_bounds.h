/* The option (renga.v1.bounds) of fields in a FileDescriptorSet, for programs of the build. */
#ifndef RENGA_PROTO_FIELD_BOUNDS_H
#define RENGA_PROTO_FIELD_BOUNDS_H

#include "google/protobuf/descriptor.pb-c.h"
#include "renga/v1/bounds.pb-c.h"

/* NULL without the option. The caller frees it by renga__v1__field_bounds__free_unpacked, or ends. */
Renga__V1__FieldBounds *field_bounds(const Google__Protobuf__FieldDescriptorProto *field);

#endif
