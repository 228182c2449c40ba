/* Names that are being looked up. curl does that in a thread for each, and one that nobody waits for any more sleeps on
 * until the system's resolver gives up: where names hang, every try would leave one behind. So where NAMES_HUNG_MAX
 * were given up within NAMES_HUNG_MS, names are looked up NAMES_TRIED at a time until some time has passed; and where
 * as many are being looked up and none has been found for NAMES_SILENT_MS, no more are begun. Addresses need no lookup,
 * and are always let through. */
#include "base/clock.h"
#include "http/client_priv.h"

#include <arpa/inet.h>
#include <stdio.h>

/* Whether what the handle goes to now, which may be a redirect's, is an address. */
static bool is_address(CURL *easy)
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

static bool many_hang(const struct names *names)
{
    int64_t oldest_ns = names->hung_ns[names->hung % NAMES_HUNG_MAX];
    return oldest_ns && clock_now_ns() - oldest_ns < NAMES_HUNG_MS * NS_PER_MS;
}

/* Whether another lookup would only hang beside those that do. */
static bool hopeless(const struct names *names)
{
    if (names->looking >= NAMES_HUNG_MAX && clock_now_ns() - names->answered_ns > NAMES_SILENT_MS * NS_PER_MS)
        return true;
    return names->looking >= NAMES_TRIED && many_hang(names);
}

/* CURLOPT_RESOLVER_START_FUNCTION: not called for names that are known. */
static int begin(void *resolver, void *reserved, void *data)
{
    struct easy_job *job = data;
    struct http_client *client = job->client;
    (void)resolver;
    (void)reserved;
    if (job->naming)
        return 0;
    job->refused = hopeless(&client->names) && (client->proxy[0] || !is_address(job->easy));
    if (job->refused)
        return -1;
    job->naming = true;
    if (client->names.looking++ == 0)
        client->names.answered_ns = clock_now_ns();
    return 0;
}

void names_watch(struct easy_job *job)
{
    curl_easy_setopt(job->easy, CURLOPT_RESOLVER_START_FUNCTION, begin);
    curl_easy_setopt(job->easy, CURLOPT_RESOLVER_START_DATA, job);
}

void names_end(struct easy_job *job, bool answered)
{
    if (!job->naming)
        return;
    struct names *names = &job->client->names;
    job->naming = false;
    names->looking--;
    if (answered)
        names->answered_ns = clock_now_ns();
    else
        names->hung_ns[names->hung++ % NAMES_HUNG_MAX] = clock_now_ns();
}
