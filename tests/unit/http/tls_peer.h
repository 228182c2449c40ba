/* A peer behind TLS, with a certificate of its own for 127.0.0.1. */
#ifndef RENGA_TESTS_HTTP_TLS_PEER_H
#define RENGA_TESTS_HTTP_TLS_PEER_H

#include "peer.h"

#include <openssl/ssl.h>

/* Makes a key and a certificate, and writes the latter to a new file in `path` (a template for mkstemp). */
SSL_CTX *tls_peer_context(char *path);

/* Takes the client's handshake on a descriptor; NULL where it fails. */
SSL *tls_peer_accept(SSL_CTX *context, int fd);

/* Reads a request's headers, and a body by Content-Length. False at its end, or where the peer is to stop. */
bool tls_peer_read_request(struct peer *peer, SSL *ssl);
void tls_peer_send(SSL *ssl, const void *bytes, size_t size);

#endif
