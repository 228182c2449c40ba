/* The sources that a research agent searches, written into the input of its run. */
#include "agent_run.h"

#include "json/writer.h"

static const char *const source_names[] = {
    [RENGA__V1__DEEP_RESEARCH_SOURCE__DEEP_RESEARCH_SOURCE_INTERNAL] = "internal",
    [RENGA__V1__DEEP_RESEARCH_SOURCE__DEEP_RESEARCH_SOURCE_WEB] = "web",
};
#define SOURCE_NAMES (sizeof source_names / sizeof *source_names)

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
