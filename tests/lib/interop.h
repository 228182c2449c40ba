/* grpc.testing.TestService (https://github.com/grpc/grpc/blob/master/doc/interop-test-descriptions.md) on our runtime.
 * For tests only. */
#ifndef RENGA_TESTS_INTEROP_H
#define RENGA_TESTS_INTEROP_H

#include <protobuf-c/protobuf-c.h>

/* One instance serves all loops: it keeps nothing. */
ProtobufCService *interop_service(void);

#endif
