/* The sources that a research agent searches: checked in a request, and written into the input of its run. */
#include "agent_run.h"

#include "json/writer.h"

#include <stdio.h>

#define SOURCES_MAX 8

static const char *const source_names[] = {
    [RENGA__V1__DEEP_RESEARCH_SOURCE__DEEP_RESEARCH_SOURCE_INTERNAL] = "internal",
    [RENGA__V1__DEEP_RESEARCH_SOURCE__DEEP_RESEARCH_SOURCE_WEB] = "web",
};
#define SOURCE_NAMES (sizeof source_names / sizeof *source_names)

bool agent_check_sources(const Renga__V1__DeepResearchSource *sources, size_t count, struct status *st)
{
    if (count > SOURCES_MAX)
        return fail_field(st, "sources", "has %zu entries; at most %d are allowed", count, SOURCES_MAX);
    for (size_t i = 0; i < count; i++) {
        char field[STATUS_FIELD_MAX];
        size_t source = (size_t)sources[i];
        snprintf(field, sizeof field, "sources[%zu]", i);
        if (source >= SOURCE_NAMES || !source_names[source])
            return fail_field(st, field, "is %d; 1 (INTERNAL) and 2 (WEB) are allowed", (int)sources[i]);
    }
    return true;
}

void agent_write_sources(struct json_writer *out, const Renga__V1__DeepResearchSource *sources, size_t count)
{
    bool wanted[SOURCE_NAMES] = {[RENGA__V1__DEEP_RESEARCH_SOURCE__DEEP_RESEARCH_SOURCE_INTERNAL] = count == 0};
    for (size_t i = 0; i < count; i++)
        wanted[sources[i]] = true;
    json_write_array(out, "sources");
    for (size_t i = 0; i < SOURCE_NAMES; i++)
        if (wanted[i])
            json_write_string(out, NULL, source_names[i]);
    json_write_end(out);
}
