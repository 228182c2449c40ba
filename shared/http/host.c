/* Host names of other scripts than Latin: as the DNS, Host fields and lists have them. libcurl would read them in the
 * encoding of the locale, but we do not set one. */
#include "http/client.h"

#include "base/memory.h"

#include <ctype.h>
#include <idn2.h>
#include <stdlib.h>
#include <string.h>

#define HOST_MAX 1024 /* bytes of UTF-8: the DNS has names of 253 */

static bool host_is_ascii(const char *text)
{
    while (*text && isascii((unsigned char)*text))
        text++;
    return !*text;
}

char *http_host_ascii(const char *host, struct status *st)
{
    char *name = NULL;
    int result;
    if (host_is_ascii(host)) {
        name = strdup(host);
        if (!name)
            fail_memory(st, "a host name");
        return name;
    }
    if (strlen(host) > HOST_MAX) {
        fail(st, INVALID_ARGUMENT, "the host has %zu bytes; a name has at most 253 letters", strlen(host));
        return NULL;
    }
    result = idn2_lookup_u8((const uint8_t *)host, (uint8_t **)&name, IDN2_NFC_INPUT | IDN2_NONTRANSITIONAL);
    if (result == IDN2_OK)
        return name;
    fail(st, INVALID_ARGUMENT, "the host '%.200s' is no international name (%s); write it as in a browser, or as xn--…",
         host, idn2_strerror(result));
    return NULL;
}
