#include "tools.h"

const struct tool *const builtin_tools[] = {
    &tool_calculate, &tool_clock, &tool_fetch_page, &tool_lookup_qa, &tool_search_documents, &tool_search_web, NULL,
};
