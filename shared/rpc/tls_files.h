/* The PEM files of a `struct rpc_tls`: read, understood, and read again when they have changed. What does not hold
 * together (half written, a key of another certificate) is never taken: the old content stays until better comes. */
#ifndef RENGA_RPC_TLS_FILES_H
#define RENGA_RPC_TLS_FILES_H

#include "base/status.h"
#include "rpc/tls.h"

#include <stdbool.h>

struct rpc_tls_files;

/* NUL-terminated PEM; NULL where the file is not part of the configuration. */
struct rpc_tls_pem {
    char *certificate, *key, *authorities;
};

/* Copies the paths. The error names the path and what is wrong with it. */
struct rpc_tls_files *rpc_tls_files_open(const struct rpc_tls *tls, struct status *st);
void rpc_tls_files_close(struct rpc_tls_files **files);

/* Looks whether a file has changed (a stat each where none has) and returns true where new content was taken; both
 * that and content that could not be taken are logged, once. */
bool rpc_tls_files_refresh(struct rpc_tls_files *files);

/* Valid until the next refresh. */
const struct rpc_tls_pem *rpc_tls_files_pem(const struct rpc_tls_files *files);

#endif
