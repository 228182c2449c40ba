/* Bounds the name lookups in progress. curl uses a thread for each lookup, and an abandoned one sleeps until the
 * system's resolver gives up. With a resolver that hangs, every attempt would leave a thread behind. After
 * RESOLVER_HUNG_MAX abandoned lookups within RESOLVER_HUNG_MS, only RESOLVER_TRIED lookups run at a time for a while.
 * If that many are running and none succeeded for RESOLVER_SILENT_MS, no lookup begins. Addresses need no lookup and
 * always pass. */
#include "base/clock.h"
#include "http/client_priv.h"

#include <arpa/inet.h>
#include <stdio.h>

/* True if the handle's present target, perhaps of a redirect, is an address. */
static bool resolver_is_address(CURL *easy)
{
    char *url = NULL, *host = NULL;
    unsigned char address[sizeof(struct in6_addr)];
    CURLU *parts = curl_url();
    curl_easy_getinfo(easy, CURLINFO_EFFECTIVE_URL, &url);
    bool found = parts && url && curl_url_set(parts, CURLUPART_URL, url, 0) == CURLUE_OK &&
                 curl_url_get(parts, CURLUPART_HOST, &host, 0) == CURLUE_OK;
    bool is = found && (host[0] == '[' || inet_pton(AF_INET, host, address) == 1);
    curl_free(host);
    curl_url_cleanup(parts);
    return is;
}

static bool many_hang(const struct resolver *resolver)
{
    int64_t oldest_ns = resolver->hung_ns[resolver->hung % RESOLVER_HUNG_MAX];
    return oldest_ns && clock_now_ns() - oldest_ns < RESOLVER_HUNG_MS * NS_PER_MS;
}

/* Whether another lookup would only hang beside those that do. */
static bool hopeless(const struct resolver *resolver)
{
    if (resolver->looking >= RESOLVER_HUNG_MAX &&
        clock_now_ns() - resolver->answered_ns > RESOLVER_SILENT_MS * NS_PER_MS)
        return true;
    return resolver->looking >= RESOLVER_TRIED && many_hang(resolver);
}

/* CURLOPT_RESOLVER_START_FUNCTION: not called for names that are known. */
static int resolver_begin(void *resolver, void *reserved, void *data)
{
    struct easy_job *job = data;
    struct http_client *client = job->client;
    (void)resolver;
    (void)reserved;
    if (job->naming)
        return 0;
    job->refused = hopeless(&client->resolver) && (client->proxy[0] || !resolver_is_address(job->easy));
    if (job->refused)
        return -1;
    job->naming = true;
    if (client->resolver.looking++ == 0)
        client->resolver.answered_ns = clock_now_ns();
    return 0;
}

void resolver_watch(struct easy_job *job)
{
    curl_easy_setopt(job->easy, CURLOPT_RESOLVER_START_FUNCTION, resolver_begin);
    curl_easy_setopt(job->easy, CURLOPT_RESOLVER_START_DATA, job);
}

void resolver_end(struct easy_job *job, bool answered)
{
    if (!job->naming)
        return;
    struct resolver *resolver = &job->client->resolver;
    job->naming = false;
    resolver->looking--;
    if (answered)
        resolver->answered_ns = clock_now_ns();
    else
        resolver->hung_ns[resolver->hung++ % RESOLVER_HUNG_MAX] = clock_now_ns();
}
