/* The providers there are. */
#include "provider.h"

#include <string.h>

const struct provider *const providers[] = {
    &openai_provider, &azure_provider, &anthropic_provider, &ollama_provider, &extractive_provider, NULL,
};

const struct provider *provider_named(const char *name)
{
    for (size_t i = 0; providers[i]; i++)
        if (strcmp(providers[i]->name, name) == 0)
            return providers[i];
    return NULL;
}
