#include "tools/page_hosts.h"

#include "base/memory.h"
#include "http/client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct page_host {
    char *own;        /* the name as the DNS has it */
    const char *name; /* points into it; without brackets */
    size_t length;
    bool below;    /* "*.example.com": hosts with this suffix; name is ".example.com". "*" is below "" */
    unsigned port; /* 0: 80 and 443 */
    enum page_reach reach;
};

struct page_hosts {
    size_t count;
    struct page_host hosts[];
};

/* ---- the lists --------------------------------------------------------------------------------------------------- */

/* The beginning of the port in "host:port" or "[::1]:port"; NULL: no port. */
static const char *find_colon(const char *text)
{
    const char *first = strchr(text, ':'), *bracket = strrchr(text, ']');
    if (text[0] == '[')
        return bracket && bracket[1] == ':' ? bracket + 1 : NULL;
    return first && first == strrchr(text, ':') ? first : NULL; /* an address with several is all host */
}

static bool read_port(const char *text, unsigned *port)
{
    char *end;
    unsigned long number = strtoul(text, &end, 10);
    *port = (unsigned)number;
    return *text >= '0' && *text <= '9' && !*end && number > 0 && number < 65536;
}

/* Its name as URLs have it. */
static bool page_hosts_name_host(struct page_host *host, const char *option, struct status *st)
{
    struct status why = {0};
    size_t dot = host->length && host->name[0] == '.';
    char *given = strndup(host->name + dot, host->length - dot);
    char *ascii = given ? http_host_ascii(given, &why) : NULL;
    int length = ascii ? asprintf(&host->own, "%s%s", dot ? "." : "", ascii) : -1;
    free(given);
    free(ascii);
    if (length < 0)
        return fail(st, INVALID_ARGUMENT, "%s: %.400s", option, why.code ? why.text : "no memory for a host");
    host->name = host->own;
    host->length = (size_t)length;
    return true;
}

static bool read_host(const char *text, const char *option, struct page_host *host, struct status *st)
{
    const char *colon = find_colon(text);
    size_t length = colon ? (size_t)(colon - text) : strlen(text);
    bool good = !colon || read_port(colon + 1, &host->port);
    host->name = text;
    if (length > 1 && text[0] == '[' && text[length - 1] == ']') {
        host->name++;
        length -= 2;
    } else if (text[0] == '*' && (length == 1 || text[1] == '.')) {
        host->below = true;
        host->name++;
        length--;
    }
    host->length = length;
    bool bare =
        !memchr(host->name, '*', length) && !memchr(host->name, '/', length) && !memchr(host->name, '@', length);
    bool named = length > 0 || (host->below && host->reach == PAGE_PUBLIC);
    if (!good || !bare || !named)
        return fail(st, INVALID_ARGUMENT,
                    "%s: '%.100s' is no host; give one like example.com, *.example.com or 10.0.0.7:8080", option, text);
    return page_hosts_name_host(host, option, st);
}

static bool page_hosts_read_list(struct page_hosts *hosts, const struct config *config, const char *option,
                                 enum page_reach reach, struct status *st)
{
    size_t count;
    const char *const *list = config_list(config, option, &count);
    for (size_t i = 0; i < count; i++) {
        struct page_host *host = &hosts->hosts[hosts->count++];
        host->reach = reach;
        if (!read_host(list[i], option, host, st))
            return false;
    }
    return true;
}

struct page_hosts *page_hosts_create(const struct config *config, struct status *st)
{
    size_t public_count, private_count;
    config_list(config, "tool_runner.pages", &public_count);
    config_list(config, "tool_runner.private_pages", &private_count);
    struct page_hosts *hosts = xcalloc(1, sizeof *hosts + (public_count + private_count) * sizeof hosts->hosts[0]);
    /* Private ones first: the first that fits counts. */
    if (!page_hosts_read_list(hosts, config, "tool_runner.private_pages", PAGE_ANYWHERE, st) ||
        !page_hosts_read_list(hosts, config, "tool_runner.pages", PAGE_PUBLIC, st))
        page_hosts_destroy(&hosts);
    return hosts;
}

void page_hosts_destroy(struct page_hosts **hosts)
{
    for (size_t i = 0; *hosts && i < (*hosts)->count; i++)
        free((*hosts)->hosts[i].own);
    free(*hosts);
    *hosts = NULL;
}

bool page_hosts_is_empty(const struct page_hosts *hosts)
{
    return !hosts->count;
}

/* ---- whether a URL fits ------------------------------------------------------------------------------------------ */

static bool page_hosts_fits(const struct page_host *host, const char *name, unsigned port)
{
    size_t length = strlen(name);
    if (host->port ? port != host->port : port != 80 && port != 443)
        return false;
    if (host->below ? length < host->length : length != host->length)
        return false;
    return strncasecmp(name + length - host->length, host->name, host->length) == 0;
}

enum page_reach page_hosts_reach(const struct page_hosts *hosts, const struct http_url *url)
{
    for (size_t i = 0; i < hosts->count; i++)
        if (page_hosts_fits(&hosts->hosts[i], http_url_host(url), http_url_port(url)))
            return hosts->hosts[i].reach;
    return PAGE_REFUSED;
}
