/* The PEM files of a `struct rpc_tls`: read, parsed, and read again when they have changed. Inconsistent content (half
 * written, a key of another certificate) is never used: the old content stays until the new one is valid. */
#ifndef RENGA_RPC_TLS_FILES_H
#define RENGA_RPC_TLS_FILES_H

#include "base/status.h"
#include "rpc/tls.h"

#include <stdbool.h>

struct rpc_tls_files;

/* NUL-terminated PEM; NULL if the file is not configured. */
struct rpc_tls_pem {
    char *certificate, *key, *authorities;
};

/* Copies the paths. The error gives the path and the reason. */
struct rpc_tls_files *rpc_tls_files_open(const struct rpc_tls *tls, struct status *st);
void rpc_tls_files_close(struct rpc_tls_files **files);

/* Checks with a stat each whether a file has changed; returns true if new content was loaded. New and invalid content
 * are each logged once. */
bool rpc_tls_files_refresh(struct rpc_tls_files *files);

/* Valid until the next refresh. */
const struct rpc_tls_pem *rpc_tls_files_pem(const struct rpc_tls_files *files);

#endif
