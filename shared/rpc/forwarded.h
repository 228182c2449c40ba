/* The identity that travels with a call between our own services: the client for which a service calls another service.
 * Private to shared/rpc.
 *
 *      renga-forwarded-bin: tenant NUL name of the client's key
 *
 * Every remote call sends it if its caller has a name or a tenant (struct rpc_client_call), except over a channel to
 * services of another make. A server believes it from a key that has the right "package.Service/forward", and from any
 * caller if the process has no keys. Any other key is refused. */
#ifndef RENGA_RPC_FORWARDED_H
#define RENGA_RPC_FORWARDED_H

#include "rpc/auth.h"

#define FORWARDED_KEY "renga-forwarded-bin"
#define FORWARDED_MAX (RPC_AUTH_TENANT_MAX + 1 + RPC_AUTH_NAME_MAX) /* bytes */

struct rpc_outbound;

/* The client for which the call is made; NULL: the process calls for itself. */
const struct rpc_principal *forwarded_caller(const struct rpc_outbound *outbound);

/* Writes the value of the key; its size. False if a name is too long or is not text. */
bool forwarded_write(const struct rpc_principal *caller, char value[FORWARDED_MAX], size_t *size, struct status *st);

/* Reads the value of the key into `caller`, with names in the arena. INVALID_ARGUMENT names the fault.
 */
bool forwarded_read(const void *value, size_t size, struct arena *arena, struct rpc_principal *caller,
                    struct status *st);

/* Whether the key belongs to our services: it may call `method` for others. */
bool forwarded_may(const struct rpc_auth *auth, const struct rpc_principal *principal, const char *method);

/* Replaces `principal` by the caller in the value, if the key of `principal` may forward `method`. */
bool forwarded_admit(const struct rpc_auth *auth, const void *value, size_t size, const char *method,
                     struct arena *arena, struct rpc_principal *principal, struct status *st);

#endif
