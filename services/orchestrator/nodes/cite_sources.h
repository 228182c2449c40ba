/* The sources that the node `cite` looks through: hits of searches and results of other tools, each once. */
#ifndef RENGA_ORCHESTRATOR_CITE_SOURCES_H
#define RENGA_ORCHESTRATOR_CITE_SOURCES_H

#include "base/arena.h"
#include "words/support.h"

#include "renga/v1/tool_runner.pb-c.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CITE_SOURCES_MAX 2048 /* of which sentences are looked for; later ones are left out */
#define CITE_SLOTS       (2 * CITE_SOURCES_MAX)

/* An address as it was met first, by the hash of its canonical form; 0: free. */
struct cite_address {
    uint64_t key;
    char *uri;
};

/* All zero but for `arena`, which owns the texts, and `own_addresses`. */
struct cite_sources {
    struct arena *arena;
    struct passage passages[CITE_SOURCES_MAX];
    const Renga__V1__SearchHit *hits[CITE_SOURCES_MAX];
    uint16_t slots[CITE_SLOTS]; /* index of a hit + 1, by its hash; 0: free */
    struct cite_address addresses[CITE_SLOTS];
    size_t count, address_count;
    bool no_memory;
    bool own_addresses; /* a text may have the addresses of the sources alone, not those that stand in them */
};

/* Adds the sources of a JSON value of any form. An object with a `snippet` is a hit; an object with `url` and `summary`
 * is a SearchResult. An object with `tool_name` and `text` is the result of a tool, and no source if it has a
 * `status_code`. Addresses of the same page (http/canonical.h) become the first of them. Sets `no_memory` if the arena
 * is full. Linear. */
void cite_sources_gather(struct cite_sources *sources, const cJSON *item);

/* Whether an address runs as a script when a person follows it. A SearchResult with a script as its address is no
 * source. */
bool cite_is_script(const char *uri);

#endif
