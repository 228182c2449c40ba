/* The canonical form of an address: equal for two addresses of the same page. It is a key for comparing, never an
 * address to fetch, since a server may tell apart two addresses of one form.
 *
 * The form of a web address (after the WHATWG URL standard):
 *      1. blanks at the ends, tabs and line ends within, user and password, and the fragment go; a fragment that begins
 *         with "!" or "/" is a page of its own and stays
 *      2. http becomes https; the default port goes, either scheme's
 *      3. the host is in lower case and in ASCII (xn--), without its last dot and without a leading "www."; an IPv4
 *         address has four decimal parts
 *      4. "." and ".." are resolved, "\" is "/", several "/" are one, and a "/" at the end goes
 *      5. percent-encoding is in upper case, of all bytes beyond ASCII and of "%", and of no letter, digit, "-", ".",
 *         "_" or "~"
 *      6. parameters that only tell the reader's origin go (utm_*, gclid, fbclid, …: canonical_names.c), the
 *         others are ordered by name
 *
 *      HTTP://WWW.Example.COM:80/a/../b/?utm_source=x&B=2&a=1#top --> https://example.com/b?B=2&a=1 */
#ifndef RENGA_HTTP_CANONICAL_H
#define RENGA_HTTP_CANONICAL_H

#include "base/buffer.h"

#include <stdbool.h>
#include <stddef.h>

#define CANONICAL_MAX ((size_t)16 << 10) /* bytes of a form: eight times those of the longest address, 2,048 */

enum canonical_kind {
    CANONICAL_WEB,    /* http or https */
    CANONICAL_NAME,   /* no scheme, or another one: a document in some store; the form is the text itself */
    CANONICAL_BROKEN, /* no host that can be, or a scheme without a document (javascript, data, mailto, …) */
};

/* Writes the form into `out`, which is cleared first, with a limit of CANONICAL_MAX. O(length log length). */
enum canonical_kind canonical_write(const char *uri, struct buffer *out);

/* True for a parameter of a query that only tracks the reader's origin. */
bool canonical_is_tracking(const char *name, size_t length);

#endif
