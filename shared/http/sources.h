/* How many connections each source address has, over all servers that share a port. Private to the server's files. */
#ifndef RENGA_HTTP_SOURCES_H
#define RENGA_HTTP_SOURCES_H

#include <sys/socket.h>

struct sources; /* counted: the servers of a port hold it together */
struct source;  /* an address with a connection at least */

struct sources *sources_create(unsigned connections_per_address);
struct sources *sources_hold(struct sources *sources);
void sources_release(struct sources **sources);

/* One connection more from `address`, to be given to sources_leave; NULL: it has as many as it may. An IPv6 network
 * of 64 bits is one source, since one host may have all its addresses. Any thread. */
struct source *sources_join(struct sources *sources, const struct sockaddr *address);
void sources_leave(struct sources *sources, struct source *source);

#endif
