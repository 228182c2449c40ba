/* TLS of a link, on a non-blocking socket. Only link_tls.c uses OpenSSL. The caller ignores SIGPIPE. */
#ifndef RENGA_REDIS_LINK_TLS_H
#define RENGA_REDIS_LINK_TLS_H

#include "redis/link.h"

#include <sys/types.h>

struct redis_tls;

/* Before the handshake. NULL: FAILED_PRECONDITION, with the file that is not right. */
struct redis_tls *redis_tls_create(const struct redis_link_options *options, int fd, struct status *st);
void redis_tls_destroy(struct redis_tls **tls);

/* As connect, recv and send: -1 with EAGAIN if `events` (of poll) must be awaited first. */
int redis_tls_handshake(struct redis_tls *tls, short *events);
ssize_t redis_tls_recv(struct redis_tls *tls, void *bytes, size_t size, short *events);
ssize_t redis_tls_send(struct redis_tls *tls, const void *bytes, size_t size, short *events);

/* Whether the handshake failed over the peer's certificate. */
bool redis_tls_distrusts(const struct redis_tls *tls);

#endif
