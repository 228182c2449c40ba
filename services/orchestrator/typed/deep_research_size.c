/* Makes a result fit into a message: first the longest summaries are cut, then the last citations are left out. */
#include "deep_research.h"

void deep_research_cut(Renga__V1__DeepResearchResult *result, struct arena *arena)
{
    char *summaries[DEEP_RESEARCH_NOTES_MAX];
    size_t count = 0;
    while (count < result->n_notes && count < DEEP_RESEARCH_NOTES_MAX) {
        summaries[count] = result->notes[count]->summary_md;
        count++;
    }
    bool cut = agent_cut_texts(summaries, count, agent_excess(&result->base));
    bool left_out =
        agent_cut_rows((ProtobufCMessage **)result->citations, &result->n_citations, agent_excess(&result->base));
    if (cut)
        agent_note_cut(result->outcome, "notes", "the longest summaries are cut, so that the result fits in 4 MiB",
                       arena);
    if (left_out)
        agent_note_cut(result->outcome, "citations",
                       "the last citations are left out, so that the result fits in 4 MiB", arena);
}
