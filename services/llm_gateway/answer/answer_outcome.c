/* The verdict on an ended answer: its outcome, and whether it has the requested form. */
#include "answer.h"

static bool tools_are_demanded(const Renga__V1__ChatRequest *request)
{
    if (!request->tool_choice)
        return false;
    Renga__V1__ToolChoiceMode mode = request->tool_choice->mode;
    return mode == RENGA__V1__TOOL_CHOICE_MODE__TOOL_CHOICE_MODE_REQUIRED ||
           mode == RENGA__V1__TOOL_CHOICE_MODE__TOOL_CHOICE_MODE_NAMED;
}

/* The provider's word is not final: some say "stop" and call a tool, or say "stop" after an empty answer. */
static Renga__V1__FinishReason answer_outcome_run(const struct answer *answer)
{
    Renga__V1__FinishReason stopped = answer->stopped;
    if (stopped == RENGA__V1__FINISH_REASON__FINISH_REASON_CONTENT_FILTER)
        return stopped;
    if (answer->parts[ANSWER_REFUSAL].seen)
        return RENGA__V1__FINISH_REASON__FINISH_REASON_REFUSAL;
    if (stopped == RENGA__V1__FINISH_REASON__FINISH_REASON_LENGTH)
        return stopped;
    if (answer->call_count)
        return RENGA__V1__FINISH_REASON__FINISH_REASON_TOOL_CALLS;
    if (stopped == RENGA__V1__FINISH_REASON__FINISH_REASON_TOOL_CALLS || tools_are_demanded(answer->request))
        return RENGA__V1__FINISH_REASON__FINISH_REASON_MISSING_TOOL_CALLS;
    if (!answer->parts[ANSWER_TEXT].seen)
        return RENGA__V1__FINISH_REASON__FINISH_REASON_EMPTY;
    return RENGA__V1__FINISH_REASON__FINISH_REASON_STOP;
}

static bool answer_outcome_has_ended(struct answer *answer, struct failure *failure)
{
    if (answer->stopped != RENGA__V1__FINISH_REASON__FINISH_REASON_UNSPECIFIED)
        return true;
    if (answer->word[0])
        return fail(&failure->status, DATA_LOSS, "the answer ended with '%s', which is no way to end that we know",
                    answer->word);
    if (answer->had_other_choice && !answer->had_choice)
        return fail(&failure->status, DATA_LOSS, "the answer has choices, but none with the index 0");
    if (answer->ended && !answer->had_choice) /* an empty answer: the outcome EMPTY */
        return true;
    return fail(&failure->status, DATA_LOSS, "the answer came to an end without a reason: it may have been cut");
}

static bool calls_are_whole(const struct answer *answer, struct failure *failure)
{
    for (const struct answer_call *call = answer->first_call; call; call = call->next)
        if (!call->name[0])
            return fail(&failure->status, DATA_LOSS, "the answer calls a tool without saying which");
    return true;
}

bool answer_finish(struct answer *answer, Renga__V1__ChatFinish *finish, struct failure *failure)
{
    answer_usage(answer); /* also of an answer that was cut: a worker thread counts it, not the loop */
    if (!answer_outcome_has_ended(answer, failure) || !calls_are_whole(answer, failure))
        return false;
    finish->finish_reason = answer_outcome_run(answer);
    finish->provider_finish_reason = answer->word;
    finish->finding = answer->finding;
    finish->usage = &answer->usage;
    if (answer_wants_json(answer) && finish->finish_reason == RENGA__V1__FINISH_REASON__FINISH_REASON_STOP)
        return answer_check_json(answer, &finish->structured_json, failure);
    return true;
}
