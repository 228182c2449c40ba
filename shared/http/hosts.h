/* The names under which a server may be called (the Host field). A web page may point a name of its own at this machine
 * and then call the services here (DNS rebinding): such a request carries that name. Private to the server. */
#ifndef RENGA_HTTP_HOSTS_H
#define RENGA_HTTP_HOSTS_H

#include <stdbool.h>

#define HOST_NAME_MAX_BYTES 255

/* "host:80", "[::1]": a host with at most a port behind it, and no other character. */
bool host_is_valid(const char *host);

/* Whether `listen` ("127.0.0.1:8080") is an address of the loopback. */
bool host_is_loopback(const char *listen);

/* localhost, 127.0.0.1, [::1], the host of `listen`, or one of `names` (apart by commas; may be NULL), in any case and
 * with any port. */
bool host_is_allowed(const char *host, const char *listen, const char *names);

#endif
