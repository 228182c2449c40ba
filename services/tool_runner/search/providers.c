#include "search/provider.h"

#include <string.h>

const struct search_provider *const search_providers[] = {
    &search_tavily, &search_searxng, &search_brave, &search_azure_ai_search, &search_opensearch, NULL,
};

const struct search_provider *search_provider_of(const char *kind)
{
    for (size_t i = 0; search_providers[i]; i++)
        if (strcmp(search_providers[i]->kind, kind) == 0)
            return search_providers[i];
    return NULL;
}
