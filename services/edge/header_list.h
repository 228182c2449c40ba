/* Lists in a request's headers: Accept and Accept-Encoding with their qualities (RFC 9110, 12.4.2 and 12.5), and Cookie
 * (RFC 6265, 4.2). All in time linear in the header. */
#ifndef RENGA_EDGE_HEADER_LIST_H
#define RENGA_EDGE_HEADER_LIST_H

#include <stdbool.h>
#include <stddef.h>

enum header_list_mention {
    HEADER_LIST_ABSENT,
    HEADER_LIST_REFUSED, /* with the quality 0 */
    HEADER_LIST_ACCEPTED,
};

/* How the list names the word, in any case of letters. `list` NULL: absent. */
enum header_list_mention header_list_find(const char *list, const char *word);

/* Whether an Accept allows a media type: by its name, else by the range of its kind, else by that of all types. NULL or
 * empty: all are accepted. */
bool header_list_accepts(const char *accept, const char *type);

/* The value of the cookie of that name, within `cookies`; NULL without one, with several, and for `cookies` NULL. */
const char *header_list_cookie(const char *cookies, const char *name, size_t *length);

#endif
