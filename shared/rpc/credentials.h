/* gRPC credentials made of a `struct rpc_tls`, for the server and the channel of this folder alone. Both read the files
 * again when they change, refuse TLS below 1.2, and free their memory when gRPC releases them. */
#ifndef RENGA_RPC_CREDENTIALS_H
#define RENGA_RPC_CREDENTIALS_H

#include "base/status.h"
#include "rpc/tls.h"

#include <grpc/grpc.h>
#include <grpc/grpc_security.h>

/* A changed file is used from the next handshake on. */
grpc_server_credentials *rpc_tls_server_credentials(const struct rpc_tls *tls, struct status *st);

/* The name of the peer is verified against the channel's target, or GRPC_SSL_TARGET_NAME_OVERRIDE_ARG. A changed file
 * is used by handshakes that begin a second and a quarter later. Each object has a thread of gRPC's, and may serve any
 * number of channels. */
grpc_channel_credentials *rpc_tls_channel_credentials(const struct rpc_tls *tls, struct status *st);

#endif
