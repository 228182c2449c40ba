/* Which sources a request asks: by name, or all of a group that are no stand-ins. */
#include "search/search_priv.h"

#include "instance/tool_runner_instance.h"

#include <stdio.h>
#include <string.h>

static bool choose_is_group(const char *name)
{
    return strcmp(name, SEARCH_INTERNAL) == 0 || strcmp(name, SEARCH_WEB) == 0;
}

bool search_is_outside(const struct search_sources *sources, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        bool documents = strcmp(names[i], SEARCH_DOCUMENTS) == 0;
        bool internal = strcmp(names[i], SEARCH_INTERNAL) == 0;
        if (!documents && !(internal && !search_sources_in(sources, SEARCH_INTERNAL)))
            return true;
    }
    return false;
}

static struct search_subquery *choose_find(const struct search *search, const struct search_site *site)
{
    for (size_t i = 0; i < search->subquery_count; i++)
        if (search->subqueries[i]->site == site)
            return search->subqueries[i];
    return NULL;
}

/* A source is asked once, however often it is named. False: memory is out. */
static bool choose_add(struct search *search, struct search_site *site, struct status *st)
{
    if (choose_find(search, site))
        return true;
    struct search_subquery *subquery = arena_zalloc(&search->arena, sizeof *subquery);
    if (!subquery || search->subquery_count == SEARCH_SUBQUERIES_MAX)
        return fail(st, RESOURCE_EXHAUSTED, "no memory for a search");
    subquery->search = search;
    subquery->site = site;
    search->subqueries[search->subquery_count++] = subquery;
    return true;
}

/* ---- groups ------------------------------------------------------------------------------------------------------ */

static bool choose_group(struct search *search, const char *group, struct status *st)
{
    const struct search_sources *sources = search->runner->shared->sources;
    struct search_site *first_stand_in = NULL;
    size_t before = search->subquery_count;
    bool internal = strcmp(group, SEARCH_INTERNAL) == 0;
    if (internal && !choose_add(search, NULL, st))
        return false;
    for (size_t i = 0; i < sources->count; i++) {
        struct search_site *site = sources->sites[i];
        if (strcmp(site->setup->group, group) != 0)
            continue;
        if (!site->setup->is_stand_in && !choose_add(search, site, st))
            return false;
        if (site->setup->is_stand_in && !first_stand_in)
            first_stand_in = site;
    }
    if (!internal && search->subquery_count == before && first_stand_in)
        return choose_add(search, first_stand_in, st); /* there are only stand-ins: the first stand-in is asked */
    return true;
}

/* If the request names another source, a missing source of the web is reported and skipped. */
static bool choose_web(struct search *search, struct status *st)
{
    static const char reason[] = "no source of the web is configured; set tool_runner.search";
    if (search_sources_in(search->runner->shared->sources, SEARCH_WEB))
        return choose_group(search, SEARCH_WEB, st);
    if (search->source_count == 1)
        return fail(st, FAILED_PRECONDITION, "%s", reason);
    search_degrade(search, SEARCH_WEB, RENGA__V1__DEGRADATION_KIND__DEGRADATION_KIND_PARTIAL, FAILED_PRECONDITION,
                   reason);
    return true;
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

static bool choose_unknown(const struct search *search, size_t i, struct status *st)
{
    const struct search_sources *sources = search->runner->shared->sources;
    char field[STATUS_FIELD_MAX], known[256] = "";
    for (size_t k = 0; k < sources->count; k++) {
        size_t length = strlen(known);
        snprintf(known + length, sizeof known - length, ", %s", sources->sites[k]->setup->source.name);
    }
    snprintf(field, sizeof field, "sources[%zu]", i);
    return fail_field(st, field,
                      "is '%.64s', which is no source; there are " SEARCH_DOCUMENTS ", " SEARCH_INTERNAL ", " SEARCH_WEB
                      "%s",
                      search->sources[i], known);
}

static bool choose_name(struct search *search, size_t i, struct status *st)
{
    const char *name = search->sources[i];
    struct search_site *site = search_sources_find(search->runner->shared->sources, name);
    if (strcmp(name, SEARCH_WEB) == 0)
        return choose_web(search, st);
    if (choose_is_group(name))
        return choose_group(search, name, st);
    if (!site && strcmp(name, SEARCH_DOCUMENTS) != 0)
        return choose_unknown(search, i, st);
    return choose_add(search, site, st);
}

bool search_choose(struct search *search, struct status *st)
{
    for (size_t i = 0; i < search->source_count; i++)
        if (!choose_name(search, i, st))
            return false;
    if (!search->subquery_count)
        return fail(st, FAILED_PRECONDITION, "%s", search->degradations[0].reason);
    return true;
}

/* ---- stand-ins --------------------------------------------------------------------------------------------------- */

static struct search_site *choose_stand_in(const struct search *search, const struct search_subquery *failed)
{
    const struct search_sources *sources = search->runner->shared->sources;
    for (size_t i = 0; failed->site && i < sources->count; i++) {
        struct search_site *site = sources->sites[i];
        if (site->setup->is_stand_in && strcmp(site->setup->group, failed->site->setup->group) == 0 &&
            !choose_find(search, site))
            return site;
    }
    return NULL;
}

bool search_has_stand_in(const struct search *search, const struct search_subquery *subquery)
{
    return choose_stand_in(search, subquery) != NULL;
}

struct search_subquery *search_stand_in(struct search *search, const struct search_subquery *failed)
{
    struct status ignored = {0};
    struct search_site *site = choose_stand_in(search, failed);
    if (!site || !choose_add(search, site, &ignored))
        return NULL;
    struct search_subquery *subquery = search->subqueries[search->subquery_count - 1];
    subquery->replaces = search_subquery_name(failed);
    return subquery;
}
