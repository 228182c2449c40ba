/* The option rpc.keys: from JSON, inline or in a file, to the runtime's table of keys and their rights. Private to
 * shared/daemon.
 *
 * A file ("file:PATH") is read again when it changes. A thread checks it every second, so that parsing a large file
 * blocks no loop. An invalid file is logged, and the earlier keys stay in use. */
#ifndef RENGA_DAEMON_KEYS_H
#define RENGA_DAEMON_KEYS_H

#include "base/status.h"
#include "json/json.h"

#include <stdbool.h>

struct daemon_keys;
struct rpc_auth;

/* True if `value` is a valid list of keys or the name of a file with one. INVALID_ARGUMENT gives the place in it. */
bool daemon_keys_check(const cJSON *value, struct status *st);

/* Reads the keys and, for a file, starts to watch it. Logs a warning for keys that have expired or will within a week.
 * NULL with `st` filled if the keys cannot be used. */
struct daemon_keys *daemon_keys_open(const cJSON *value, struct status *st);
/* No call may use the keys any more. Accepts a pointer to NULL. */
void daemon_keys_close(struct daemon_keys **keys);

/* Reads the file again at once, for SIGHUP; keys given inline stay. Any thread outside of the loops: it may wait for
 * the disk. `keys` may be NULL. */
void daemon_keys_reload(struct daemon_keys *keys);

/* Lives until daemon_keys_close. NULL if `keys` is NULL. */
const struct rpc_auth *daemon_keys_auth(const struct daemon_keys *keys);

#endif
