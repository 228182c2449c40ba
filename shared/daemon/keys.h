/* The option rpc.keys: from JSON to the runtime's table of who may call what. Private to shared/daemon. */
#ifndef RENGA_DAEMON_KEYS_H
#define RENGA_DAEMON_KEYS_H

#include "base/json.h"
#include "base/status.h"

#include <stdbool.h>

struct rpc_auth;

bool daemon_keys_check(const cJSON *value, struct status *st);
struct rpc_auth *daemon_keys_read(const cJSON *value, struct status *st);

#endif
