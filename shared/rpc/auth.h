/* Authentication by bearer key, and which key may call which method.
 *
 * Keys are kept as SHA-256 hashes and compared in constant time; only the key's owner has the key itself. The call's
 * metadata is searched for `authorization: Bearer <key>`. Without a key or with an unknown one a call ends in
 * UNAUTHENTICATED, on a method that the key may not call in PERMISSION_DENIED; grpc.health.v1 is open to all. A key may
 * have a time of expiry; after it, calls with the key end in UNAUTHENTICATED.
 *
 * The keys may be replaced while calls are under way. A call keeps the rights of the key that it began with: a
 * principal always means the key that rpc_auth_check or rpc_auth_find found, also after a replacement.
 */
#ifndef RENGA_RPC_AUTH_H
#define RENGA_RPC_AUTH_H

#include "base/status.h"
#include "rpc/rpc.h"

#include <stddef.h>
#include <stdint.h>

#define RPC_AUTH_KEYS_MAX    10000
#define RPC_AUTH_METHODS_MAX 64  /* patterns of a key */
#define RPC_AUTH_TENANT_MAX  96  /* bytes: it is part of every key in a store */
#define RPC_AUTH_NAME_MAX    128 /* bytes, as accounts keep it */
#define RPC_AUTH_RIGHT_MAX   256 /* bytes */

struct rpc_auth;

struct rpc_auth_key {
    struct rpc_principal principal;
    const char *sha256;         /* of the key, 64 hexadecimal digits */
    const char *const *methods; /* "renga.v1.Planner/Plan", "renga.v1.LlmGateway/" + "*", "*" */
    size_t method_count;
    int64_t expires_s; /* seconds since 1970, UTC, up to the year 9999; 0: never */
};

/* Copies all keys. INVALID_ARGUMENT names the key and the problem. */
struct rpc_auth *rpc_auth_create(const struct rpc_auth_key *keys, size_t count, struct status *st);
void rpc_auth_destroy(struct rpc_auth **auth);

/* Replaces all keys at once, and copies them. After a failure the old keys stay. The replaced keys stay in memory
 * until `auth` is destroyed, since principals of running calls point into them: replace only changed keys. Any thread,
 * but no two calls at the same time. */
bool rpc_auth_replace(struct rpc_auth *auth, const struct rpc_auth_key *keys, size_t count, struct status *st);

/* Whether a tenant and a name may be used: within their length, UTF-8, and without control characters. INVALID_ARGUMENT
 * says which is wrong. */
bool rpc_auth_check_names(const struct rpc_principal *principal, struct status *st);

/* `header` is the value of `authorization` or NULL, `method` "package.Service/Method". The principal lives as long as
 * `auth`. Any thread. */
const struct rpc_principal *rpc_auth_check(const struct rpc_auth *auth, const void *header, size_t size,
                                           const char *method, struct status *st);

/* The key of this name and tenant; NULL if it does not exist. An expired key is found too: the process that received it
 * has judged its expiry. It lives as long as `auth`. Any thread. */
const struct rpc_principal *rpc_auth_find(const struct rpc_auth *auth, const char *tenant, const char *name);

/* Whether the key behind `principal` (as rpc_auth_check gave it, or a copy) has a right beyond calling a method, as
 * "renga.v1.LlmGateway/GetUsage.all" and "renga.v1.Planner/forward". The right stands among the key's methods by its
 * own name, or the key has all rights: "*" and no tenant. Permission to call a whole service does not make a client the
 * service's operator, and all methods for one tenant are not a right over another one. False for a key that is not
 * known here, as that of a forwarded call may be. If `auth` is NULL: true for a caller without a name and a tenant. Any
 * thread. */
bool rpc_auth_grants(const struct rpc_auth *auth, const struct rpc_principal *principal, const char *right);

/* True if the key may use the object `name` of a kind; `scope` is a right without its last word, as
 * "renga.v1.Orchestrator/agent.". A key without rights of the kind may use all objects. A key with some of these rights
 * may use only those objects; "*" means all of them. An unknown key has no right. True if `auth` is NULL. Any
 * thread. */
bool rpc_auth_reaches(const struct rpc_auth *auth, const struct rpc_principal *principal, const char *scope,
                      const char *name);

/* Whether the key is held to some of them. */
bool rpc_auth_is_limited(const struct rpc_auth *auth, const struct rpc_principal *principal, const char *scope);

#endif
