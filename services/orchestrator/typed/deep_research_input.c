/* Requests to deep research: checked, and written as the initial fields of a run. */
#include "deep_research.h"

#include "json/writer.h"

#include <stdio.h>
#include <string.h>

#define CYCLES_MAX      3
#define TOKENS_DEFAULT  512
#define INPUT_BYTES_MAX 262144 /* JSON may escape a byte of text as six bytes */

/* ---- checks ------------------------------------------------------------------------------------------------------ */

bool deep_research_check(const Renga__V1__DeepResearchRequest *request, struct status *st)
{
    return agent_request_check(&request->base, request->options, st);
}

bool deep_research_check_follow_up(const Renga__V1__DeepResearchFollowUpRequest *request, struct status *st)
{
    const Renga__V1__AgentOptions *options = request->options;
    if (options && *options->thread_id)
        return fail_field(st, "options.thread_id", "is '%.128s'; leave it empty, the thread is that of the run",
                          options->thread_id);
    return agent_request_check(&request->base, options, st);
}

/* ---- the input of the run ---------------------------------------------------------------------------------------- */

static char *research_input_text(struct json_writer *out, struct buffer *text, struct arena *arena)
{
    json_write_end(out);
    char *copy = json_writer_done(out) ? arena_strdup(arena, buffer_text(text)) : NULL;
    buffer_fini(text);
    return copy;
}

/* `follow_up` is always written as empty, since the thread may have a value from an earlier follow-up question. */
char *deep_research_input(const Renga__V1__DeepResearchRequest *request, struct arena *arena)
{
    struct buffer text;
    struct json_writer out;
    buffer_init(&text, INPUT_BYTES_MAX);
    json_writer_init(&out, &text);
    json_write_object(&out, NULL);
    json_write_string(&out, "question", request->question);
    json_write_string(&out, "follow_up", "");
    json_write_int(&out, "max_cycles", request->max_cycles ? request->max_cycles : CYCLES_MAX);
    json_write_int(&out, "summary_tokens", request->summary_tokens ? request->summary_tokens : TOKENS_DEFAULT);
    agent_write_sources(&out, request->sources, request->n_sources);
    json_write_strings(&out, "collections", request->collections, request->n_collections);
    return research_input_text(&out, &text, arena);
}

char *deep_research_follow_up_input(const char *question, struct arena *arena)
{
    struct buffer text;
    struct json_writer out;
    buffer_init(&text, INPUT_BYTES_MAX);
    json_writer_init(&out, &text);
    json_write_object(&out, NULL);
    json_write_string(&out, "follow_up", question);
    return research_input_text(&out, &text, arena);
}
