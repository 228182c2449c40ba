/* The JSON list of keys, as rows for rpc_auth_create. Private to shared/daemon. */
#ifndef RENGA_DAEMON_KEY_LIST_H
#define RENGA_DAEMON_KEY_LIST_H

#include "base/status.h"
#include "rpc/auth.h"
#include "json/json.h"

#include <stdbool.h>
#include <stddef.h>

struct key_list {
    struct rpc_auth_key *keys; /* their texts are borrowed from the JSON tree */
    const char **methods;
    size_t count;
};

/* INVALID_ARGUMENT begins with the path of the wrong value, "[3].expires". After a failure the caller frees no memory.
 */
bool key_list_read(const cJSON *value, struct key_list *list, struct status *st);
void key_list_fini(struct key_list *list);

/* "2027-01-31T00:00:00Z" as seconds since 1970: RFC 3339 in UTC without fractions, years 2000 to 9999. */
bool key_list_read_time(const char *text, int64_t *seconds);

/* A warning for each key that has expired or will within a week; the first ten by name, then their number. */
void key_list_warn_expiring(const struct key_list *list);

#endif
