/* The hits at any place in the results of tools: each hit once. */
#include "cite_sources.h"

#include "base/buffer.h"
#include "base/hash.h"
#include "http/canonical.h"
#include "rpc/message_json.h"

#include <stdio.h>
#include <string.h>

#define HEADINGS_MAX  ((size_t)4096) /* bytes of a title and its headings, beyond any that may be */
#define BULLET_SCHEME "bullet:"
#define TOOL_SCHEME   "tool:" /* the place of the result of a tool that does not search */

static bool is_same_hit(const Renga__V1__SearchHit *one, const Renga__V1__SearchHit *other)
{
    return one->line_from == other->line_from && strcmp(one->uri, other->uri) == 0 &&
           strcmp(one->collection, other->collection) == 0 && strcmp(one->snippet, other->snippet) == 0;
}

/* The slot of this hit, or a free slot. */
static uint16_t *hit_slot(struct cite_sources *sources, const Renga__V1__SearchHit *hit)
{
    uint64_t hash = hash_more(0, &hit->line_from, sizeof hit->line_from);
    hash = hash_more_text(hash_more_text(hash_more_text(hash, hit->uri), hit->collection), hit->snippet);
    size_t at = hash % CITE_SLOTS;
    while (sources->slots[at] && !is_same_hit(sources->hits[sources->slots[at] - 1], hit))
        at = (at + 1) % CITE_SLOTS;
    return &sources->slots[at];
}

static char *headings(const Renga__V1__SearchHit *hit, struct arena *arena)
{
    struct buffer text;
    buffer_init(&text, HEADINGS_MAX);
    buffer_print(&text, hit->title);
    for (size_t i = 0; i < hit->n_heading_path; i++)
        buffer_printf(&text, "%s%s", text.length ? " " : "", hit->heading_path[i]);
    char *copy = arena_strndup(arena, buffer_text(&text), text.length);
    buffer_fini(&text);
    return copy;
}

static void add_source(struct cite_sources *sources, const Renga__V1__SearchHit *hit)
{
    if (!hit->snippet[0] || sources->count == CITE_SOURCES_MAX)
        return;
    uint16_t *slot = hit_slot(sources, hit);
    if (*slot)
        return;
    char *heading = headings(hit, sources->arena);
    sources->no_memory |= !heading;
    if (!heading)
        return;
    sources->passages[sources->count] = (struct passage){
        .text = hit->snippet, .length = strlen(hit->snippet), .heading = heading, .heading_length = strlen(heading)};
    sources->hits[sources->count++] = hit;
    *slot = (uint16_t)sources->count;
}

/* A page whose address was found in several spellings is a single source: its address is the first spelling. */
static char *cite_sources_source_address(struct cite_sources *sources, char *uri)
{
    struct buffer form;
    buffer_init(&form, CANONICAL_MAX);
    bool web = canonical_write(uri, &form) == CANONICAL_WEB;
    uint64_t key = web ? hash_bytes(form.data, form.length) | 1 : 0;
    buffer_fini(&form);
    size_t at = key % CITE_SLOTS;
    while (key && sources->addresses[at].key && sources->addresses[at].key != key)
        at = (at + 1) % CITE_SLOTS;
    struct cite_address *address = &sources->addresses[at];
    if (!key || (!address->key && sources->address_count == CITE_SOURCES_MAX))
        return uri;
    sources->address_count += !address->key;
    if (!address->key)
        *address = (struct cite_address){.key = key, .uri = uri};
    return address->uri;
}

static void add_hit(struct cite_sources *sources, const cJSON *item)
{
    struct status why = {0};
    Renga__V1__SearchHit *hit =
        (Renga__V1__SearchHit *)message_read_json(&renga__v1__search_hit__descriptor, item, sources->arena, &why);
    if (hit) {
        hit->uri = cite_sources_source_address(sources, hit->uri);
        add_source(sources, hit);
    }
    sources->no_memory |= why.code == RESOURCE_EXHAUSTED;
}

/* A tool that does not search is a source, too: its statements can be told apart from invented ones. */
static void cite_sources_add_tool(struct cite_sources *sources, const char *name, const char *text)
{
    Renga__V1__SearchHit *hit = arena_alloc(sources->arena, sizeof *hit);
    sources->no_memory |= !hit;
    if (!hit)
        return;
    renga__v1__search_hit__init(hit);
    hit->uri = arena_printf(sources->arena, TOOL_SCHEME "%s", name);
    hit->title = arena_strdup(sources->arena, name);
    hit->snippet = arena_strdup(sources->arena, text);
    sources->no_memory |= !hit->uri || !hit->title || !hit->snippet;
    if (!sources->no_memory)
        add_source(sources, hit);
}

static char *source_text(struct cite_sources *sources, const cJSON *item, const char *name)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(item, name));
    char *copy = arena_strdup(sources->arena, text ? text : "");
    sources->no_memory |= !copy;
    return copy;
}

bool cite_is_script(const char *uri)
{
    static const char *const schemes[] = {"javascript:", "vbscript:", "data:"};
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++)
        if (strncasecmp(uri, schemes[i], strlen(schemes[i])) == 0)
            return true;
    return false;
}

/* A SearchResult, the form in which autonomous research keeps its results. */
static void add_result(struct cite_sources *sources, const cJSON *item)
{
    Renga__V1__SearchHit *hit = arena_alloc(sources->arena, sizeof *hit);
    sources->no_memory |= !hit;
    if (!hit)
        return;
    renga__v1__search_hit__init(hit);
    hit->uri = source_text(sources, item, "url");
    hit->title = source_text(sources, item, "title");
    hit->snippet = source_text(sources, item, "summary");
    hit->source = source_text(sources, item, "source");
    if (sources->no_memory || cite_is_script(hit->uri))
        return;
    hit->uri = cite_sources_source_address(sources, hit->uri);
    add_source(sources, hit);
}

/* A bullet of a playbook, as the node kind `playbook` writes it. */
static void add_bullet(struct cite_sources *sources, const cJSON *item)
{
    Renga__V1__SearchHit *hit = arena_alloc(sources->arena, sizeof *hit);
    sources->no_memory |= !hit;
    if (!hit)
        return;
    renga__v1__search_hit__init(hit);
    hit->uri = arena_printf(sources->arena, BULLET_SCHEME "%s", source_text(sources, item, "id"));
    hit->title = source_text(sources, item, "section");
    hit->snippet = source_text(sources, item, "content");
    sources->no_memory |= !hit->uri;
    if (!sources->no_memory)
        add_source(sources, hit);
}

static bool cite_sources_is_bullet(const cJSON *item)
{
    return cJSON_IsString(cJSON_GetObjectItemCaseSensitive(item, "content")) &&
           cJSON_IsString(cJSON_GetObjectItemCaseSensitive(item, "section")) &&
           cJSON_IsNumber(cJSON_GetObjectItemCaseSensitive(item, "helpful"));
}

void cite_sources_gather(struct cite_sources *sources, const cJSON *item)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(item, "text"));
    const char *name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(item, "tool_name"));
    if (sources->no_memory)
        return;
    if (cJSON_IsString(cJSON_GetObjectItemCaseSensitive(item, "snippet"))) {
        add_hit(sources, item);
        return;
    }
    if (cJSON_IsString(cJSON_GetObjectItemCaseSensitive(item, "url")) &&
        cJSON_IsString(cJSON_GetObjectItemCaseSensitive(item, "summary"))) {
        add_result(sources, item);
        return;
    }
    if (cite_sources_is_bullet(item)) {
        add_bullet(sources, item);
        return;
    }
    if (name && text && *text && !cJSON_GetObjectItemCaseSensitive(item, "status_code"))
        cite_sources_add_tool(sources, name, text);
    for (const cJSON *inner = cJSON_IsObject(item) || cJSON_IsArray(item) ? item->child : NULL; inner;
         inner = inner->next)
        cite_sources_gather(sources, inner);
}
