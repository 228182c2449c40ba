/* Loads the agent of a remote attempt from the store if its version is not in memory. The first run of a version
 * writes its document to the store. */
#include "fanout_priv.h"

#include "base/memory.h"
#include "graph/agents.h"
#include "log/keys.h"

#include <stdlib.h>
#include <string.h>

struct document {
    struct store_scan scan;           /* first */
    struct fanout_endpoint *endpoint; /* NULL: it is not waited for */
    char version[65];
    struct remote_attempt *first;
    struct document *next;
};

static void unlink_document(struct document *document)
{
    struct document **link = &document->endpoint->documents;
    while (*link && *link != document)
        link = &(*link)->next;
    if (*link)
        *link = document->next;
}

/* It is in no list any more. */
static void tell(struct document *document, struct agent *agent, const struct status *st)
{
    for (struct remote_attempt *remote_attempt = document->first, *next; remote_attempt; remote_attempt = next) {
        next = remote_attempt->next_waiting;
        worker_agent_came(remote_attempt, agent, st);
    }
}

static void document_read_bundle(struct document *document, const struct store_scan *scan)
{
    struct agents *agents = document->endpoint->fanout->options.agents;
    struct status st = scan->status;
    struct agent *agent = NULL;
    if (st.code == OK && scan->count)
        agent = agents_of_bundle(agents, scan->rows[0].value.bytes, scan->rows[0].value.size, &st);
    else if (st.code == OK)
        fail(&st, NOT_FOUND, "version %.12s of an agent is not in the store", document->version);
    tell(document, agent, &st);
    if (agent)
        agent_release(agents, agent);
}

static void came(struct store_scan *scan)
{
    struct document *document = (struct document *)scan;
    if (document->endpoint) {
        unlink_document(document);
        document_read_bundle(document, scan);
    }
    store_scan_fini(scan);
    free(document);
}

void documents_drop(struct fanout_endpoint *endpoint)
{
    struct status st = {0};
    fail(&st, UNAVAILABLE, "the orchestrator ends");
    for (struct document *document; (document = endpoint->documents);) {
        endpoint->documents = document->next;
        tell(document, NULL, &st);
        document->endpoint = NULL; /* its rows still come */
    }
}

static struct document *ask(struct fanout_endpoint *endpoint, const char *version)
{
    struct key from;
    char to[sizeof from.bytes + 1];
    struct document *document = xcalloc(1, sizeof *document);
    document->endpoint = endpoint;
    strcpy(document->version, version);
    key_named(&from, KEY_BUNDLE, "", version);
    memcpy(to, from.bytes, from.size);
    to[from.size] = '\0';
    store_scan_init(&document->scan, endpoint->loop, came);
    document->scan.from = key_bytes(&from);
    document->scan.to = (struct store_bytes){to, from.size + 1};
    document->next = endpoint->documents;
    endpoint->documents = document;
    store_scan(endpoint->fanout->options.store, &document->scan);
    return document;
}

void document_ask(struct remote_attempt *remote_attempt, const char *version)
{
    struct document *document = remote_attempt->endpoint->documents;
    while (document && strcmp(document->version, version) != 0)
        document = document->next;
    if (!document)
        document = ask(remote_attempt->endpoint, version);
    remote_attempt->next_waiting = document->first;
    document->first = remote_attempt;
}
