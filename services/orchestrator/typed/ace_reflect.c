/* AceGenerator.Reflect: a trajectory and the known facts of its answer become a run of the agent "ace_reflector". */
#include "ace.h"

#include "base/text.h"

#include <string.h>

#define AGENT      "ace_reflector"
#define ANSWER_MAX ((size_t)131072) /* bytes of the answer that the agent gets: it cuts it once more, at a sentence */

struct reflect_call {
    struct agent_run run; /* first */
    Renga__V1__AceReflectResponse_Closure reply;
};

static bool reflect_check_feedback(const Renga__V1__AceFeedback *feedback, struct status *st)
{
    if (!feedback || (!feedback->verdict && !*feedback->ground_truth && !*feedback->test_output && !*feedback->remark))
        return fail_field(st, "feedback",
                          "is empty; give at least one of verdict, ground_truth, test_output and remark");
    if (feedback->verdict > RENGA__V1__ACE_VERDICT__ACE_VERDICT_BAD)
        return fail_field(st, "feedback.verdict", "is %d; it must be GOOD or BAD, or absent", (int)feedback->verdict);
    return ace_check_text("feedback.ground_truth", feedback->ground_truth, ACE_TEXT_MAX, st) &&
           ace_check_text("feedback.test_output", feedback->test_output, ACE_TEXT_MAX, st) &&
           ace_check_text("feedback.remark", feedback->remark, ACE_REMARK_MAX, st);
}

static char *reflect_input(const Renga__V1__AceReflectRequest *request, struct arena *arena)
{
    const Renga__V1__Trajectory *trajectory = request->trajectory;
    const Renga__V1__AceFeedback *feedback = request->feedback;
    const char *answer = trajectory->generated_answer;
    bool failed = trajectory->maybe_error_message_case == RENGA__V1__TRAJECTORY__MAYBE_ERROR_MESSAGE_ERROR_MESSAGE;
    struct ace_input input;
    ace_input_open(&input);
    json_write_string(&input.out, "query", trajectory->query);
    json_write_string(&input.out, "dataset", trajectory->dataset);
    json_write_text(&input.out, "answer", answer, text_cut(answer, strlen(answer), ANSWER_MAX));
    json_write_string(&input.out, "error", failed ? trajectory->error_message : "");
    json_write_strings(&input.out, "steps", trajectory->reasoning_steps, trajectory->n_reasoning_steps);
    json_write_strings(&input.out, "used_bullet_ids", trajectory->used_bullet_ids, trajectory->n_used_bullet_ids);
    json_write_string(&input.out, "verdict", ace_verdict_word(feedback->verdict));
    json_write_string(&input.out, "ground_truth", feedback->ground_truth);
    json_write_string(&input.out, "test_output", feedback->test_output);
    json_write_string(&input.out, "remark", feedback->remark);
    return ace_input_close(&input, arena);
}

static void reflect_stopped(struct agent_run *run, const Renga__V1__Run *message)
{
    struct reflect_call *call = (struct reflect_call *)run;
    Renga__V1__AceReflectResponse response = RENGA__V1__ACE_REFLECT_RESPONSE__INIT;
    struct status st = {0};
    cJSON *output = ace_output(run, message);
    if (!output)
        return;
    response.reflection = ace_output_message(run, output, "reflection", &renga__v1__reflection__descriptor, &st);
    response.outcome = ace_outcome(run, message, &st);
    cJSON_Delete(output);
    if (ace_may_reply(run, &st))
        call->reply(&response, run->call);
}

void ace_reflect(Renga__V1__AceGenerator_Service *self, const Renga__V1__AceReflectRequest *request,
                 Renga__V1__AceReflectResponse_Closure reply, void *data)
{
    struct rpc_call *rpc = data;
    struct status st = {0};
    bool good = ace_check_trajectory(request->trajectory, &st) && reflect_check_feedback(request->feedback, &st) &&
                agent_request_check(&request->base, request->options, &st);
    struct reflect_call *call = ace_call_open(rpc, good, sizeof *call, &st);
    if (!call)
        return;
    call->reply = reply;
    ace_run_init(&call->run, self, rpc, AGENT, request->trajectory->query, request->options);
    call->run.input_json = reflect_input(request, rpc_call_arena(rpc));
    call->run.stopped = reflect_stopped;
    agent_run_begin(&call->run);
}
