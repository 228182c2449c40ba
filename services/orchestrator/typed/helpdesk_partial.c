/* The result of a run that its budget stopped before the answer, or in which no model could write it. The output may
 * lack the subtasks, so their results are taken from the run's events. Their answers become the answer. */
#include "helpdesk.h"

#include "base/buffer.h"
#include "words/sentences.h"

#include <string.h>

#define ANSWER_MAX    ((size_t)262144) /* bytes, as AgentResult.answer */
#define CITATIONS_MAX 1000

static Renga__V1__Subtask *subtask_of(struct helpdesk_call *call, size_t number, char *name)
{
    const struct subtask_note *note = &call->subtasks[number];
    Renga__V1__Subtask *subtask = arena_alloc(rpc_call_arena(call->run.call), sizeof *subtask);
    if (!subtask)
        return NULL;
    renga__v1__subtask__init(subtask);
    subtask->task_name = name;
    subtask->is_completed = note->is_completed;
    subtask->maybe_found_case = RENGA__V1__SUBTASK__MAYBE_FOUND_FOUND;
    subtask->found = note->found;
    const char *answer = note->found ? note->found_answer : note->answer;
    subtask->subtask_answer = (char *)(uintptr_t)(answer ? answer : "");
    subtask->challenge_count = note->tries;
    subtask->citations = note->found ? note->found_citations : note->citations;
    subtask->n_citations = note->found ? note->found_citation_count : note->citation_count;
    bool failed = note->status_code && !note->found;
    subtask->status_code = failed ? note->status_code : 0;
    subtask->message = (char *)(uintptr_t)(failed && note->message ? note->message : "");
    subtask->usage = (Renga__V1__Usage *)(uintptr_t)&note->usage;
    return subtask;
}

static int32_t sentences_in(const char *text)
{
    struct sentence_reader reader;
    struct span sentence;
    int32_t count = 0;
    sentences_begin(&reader, text, strlen(text));
    while (sentences_next(&reader, &sentence))
        count++;
    return count;
}

/* Appends the answer of a subtask unchanged. The sentence numbers of its citations continue from the text before. */
static bool add_answer(struct helpdesk_call *call, const struct subtask_note *note, struct buffer *answer,
                       Renga__V1__AgentResult *result)
{
    int32_t before = sentences_in(buffer_text(answer));
    buffer_printf(answer, "%s%s", answer->length ? "\n\n" : "", note->found_answer);
    for (size_t i = 0; i < note->found_citation_count && result->n_citations < CITATIONS_MAX; i++) {
        Renga__V1__Citation *citation =
            arena_copy(rpc_call_arena(call->run.call), note->found_citations[i], sizeof *citation);
        if (!citation)
            return false;
        citation->sentence_number += before;
        result->citations[result->n_citations++] = citation;
    }
    return true;
}

static bool answer_from_notes(struct helpdesk_call *call, Renga__V1__AgentResult *result)
{
    struct buffer answer;
    struct arena *arena = rpc_call_arena(call->run.call);
    bool good = true;
    result->citations = arena_alloc(arena, CITATIONS_MAX * sizeof(*result->citations));
    buffer_init(&answer, ANSWER_MAX);
    for (size_t i = 0; good && result->citations && i < result->n_subtasks; i++)
        if (call->subtasks[i].found && call->subtasks[i].found_answer)
            good = add_answer(call, &call->subtasks[i], &answer, result);
    result->answer = arena_strdup(arena, buffer_text(&answer));
    buffer_fini(&answer);
    return good && result->citations && result->answer;
}

static bool subtasks_from_notes(struct helpdesk_call *call, Renga__V1__AgentResult *result)
{
    struct arena *arena = rpc_call_arena(call->run.call);
    result->subtasks = arena_alloc(arena, HELPDESK_SUBTASKS_MAX * sizeof(*result->subtasks));
    if (!result->subtasks)
        return false;
    for (size_t i = 0; i < result->plan->n_subtasks && i < HELPDESK_SUBTASKS_MAX; i++) {
        result->subtasks[i] = subtask_of(call, i, result->plan->subtasks[i]);
        if (!result->subtasks[result->n_subtasks++])
            return false;
    }
    return true;
}

bool helpdesk_partial(struct helpdesk_call *call, Renga__V1__AgentResult *result)
{
    return (result->n_subtasks || subtasks_from_notes(call, result)) && answer_from_notes(call, result);
}
