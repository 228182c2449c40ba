/* TLS and mutual TLS, of servers and channels. Files are read again when they change: a new handshake uses the new
 * certificate, open connections keep the old one. */
#ifndef RENGA_RPC_TLS_H
#define RENGA_RPC_TLS_H

#include "base/status.h"

#include <stdbool.h>

/* Paths of PEM files, borrowed. */
struct rpc_tls {
    const char *certificate; /* our chain, leaf first; a client without mTLS may leave it NULL */
    const char *key;         /* of the leaf */
    const char *authorities; /* the trusted authorities; NULL on a client: the system's */
    bool client_certificate; /* a server requires a certificate signed by one of `authorities` */
};

/* Reads the files once; the error gives the path and the reason. */
bool rpc_tls_check(const struct rpc_tls *tls, struct status *st);

#endif
