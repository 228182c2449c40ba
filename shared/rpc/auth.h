/* Authentication by bearer key, and which key may call which method.
 *
 * Keys are kept as SHA-256 hashes and compared in constant time; a key itself is in nobody's configuration but its
 * owner's. `authorization: Bearer <key>` is looked for in the call's metadata. Without or with an unknown key a call
 * ends in UNAUTHENTICATED, on a method that the key may not call in PERMISSION_DENIED; grpc.health.v1 is open to all.
 */
#ifndef RENGA_RPC_AUTH_H
#define RENGA_RPC_AUTH_H

#include "base/status.h"
#include "rpc/rpc.h"

#include <stddef.h>

#define RPC_AUTH_KEYS_MAX    10000
#define RPC_AUTH_METHODS_MAX 64 /* patterns of one key */
#define RPC_AUTH_TENANT_MAX  96 /* bytes: it is part of every key in a store */

struct rpc_auth;

struct rpc_auth_key {
    struct rpc_principal principal;
    const char *sha256;         /* of the key, 64 hexadecimal digits */
    const char *const *methods; /* "renga.v1.Planner/Plan", "renga.v1.LlmGateway/" + "*", "*" */
    size_t method_count;
};

/* Copies everything. INVALID_ARGUMENT names the key and what is wrong with it. */
struct rpc_auth *rpc_auth_create(const struct rpc_auth_key *keys, size_t count, struct status *st);
void rpc_auth_destroy(struct rpc_auth **auth);

/* `header` is the value of `authorization` or NULL, `method` "package.Service/Method". The principal lives as long as
 * `auth`. Any thread. */
const struct rpc_principal *rpc_auth_check(const struct rpc_auth *auth, const void *header, size_t size,
                                           const char *method, struct status *st);

/* The key of this name and tenant; NULL where there is none. It lives as long as `auth`. Any thread. */
const struct rpc_principal *rpc_auth_find(const struct rpc_auth *auth, const char *tenant, const char *name);

/* Whether the key behind `principal` (as rpc_auth_check gave it, or a copy) has a right beyond calling a method, such
 * as "renga.v1.LlmGateway/GetUsage.all". It stands among its methods by its own name, or the key may do anything, "*":
 * that a client may call a whole service does not make it the service's operator. True where `auth` is NULL. Any
 * thread. */
bool rpc_auth_grants(const struct rpc_auth *auth, const struct rpc_principal *principal, const char *right);

/* Whether the key may use one of many things of a kind, `scope` being a right without its last word, such as
 * "renga.v1.Orchestrator/agent." and `name` that word. A key that has no right of the kind may use all of them; one
 * that has some those alone; "*" is everything. True where `auth` is NULL. Any thread. */
bool rpc_auth_reaches(const struct rpc_auth *auth, const struct rpc_principal *principal, const char *scope,
                      const char *name);

/* Whether the key is held to some of them. */
bool rpc_auth_is_limited(const struct rpc_auth *auth, const struct rpc_principal *principal, const char *scope);

#endif
