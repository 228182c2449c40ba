/* The providers there are. */
#include "provider.h"

const struct provider *const providers[] = {
    &openai_provider, &azure_provider, &anthropic_provider, &ollama_provider, &extractive_provider, NULL,
};
