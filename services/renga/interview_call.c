/* Calls of renga.v1.FormInterview: the command's thread waits for each. */
#include "interview.h"

#include <stdlib.h>
#include <string.h>

#define REPLY_MEMORY ((size_t)64 << 20)

void interview_forget(struct talk *talk)
{
    if (talk->reply)
        arena_fini(&talk->memory);
    talk->reply = NULL;
    talk->state = NULL;
}

static void talk_keep(struct talk *talk, const Renga__V1__InterviewReply *reply)
{
    interview_forget(talk);
    arena_init(&talk->memory, NULL, 0, REPLY_MEMORY);
    talk->reply = rpc_message_copy(&talk->memory, &reply->base);
    if (!talk->reply)
        abort(); /* a message has at most 4 MiB */
    talk->state = talk->reply->state;
    snprintf(talk->session_id, sizeof talk->session_id, "%s", talk->reply->session_id);
}

static void talk_replied(const Renga__V1__InterviewReply *reply, void *data)
{
    struct talk *talk = ((struct rpc_client_call *)data)->owner;
    if (reply && reply->state)
        talk_keep(talk, reply);
    command_call_ended(&talk->call);
}

/* A session as it stands is the reply that it last gave. */
static void talk_keep_state(struct talk *talk, Renga__V1__MainSessionState *state)
{
    Renga__V1__InterviewReply reply = RENGA__V1__INTERVIEW_REPLY__INIT;
    reply.session_id = state->session_id;
    reply.state = state;
    reply.awaiting_user_response =
        !state->plan || (size_t)state->current_field_index < state->n_field_statuses || state->n_field_statuses == 0;
    for (size_t i = 0; i < state->n_messages; i++)
        if (state->messages[i]->role == RENGA__V1__CHAT_ROLE__CHAT_ROLE_ASSISTANT)
            reply.response_text = state->messages[i]->content;
    talk_keep(talk, &reply);
}

static void talk_confirmed(const Renga__V1__ConfirmInterviewResponse *response, void *data)
{
    struct talk *talk = ((struct rpc_client_call *)data)->owner;
    if (response && response->state)
        talk_keep_state(talk, response->state);
    command_call_ended(&talk->call);
}

static void talk_got(const Renga__V1__GetSessionResponse *response, void *data)
{
    struct talk *talk = ((struct rpc_client_call *)data)->owner;
    if (response && response->state)
        talk_keep_state(talk, response->state);
    command_call_ended(&talk->call);
}

static void talk_begin(struct command_call *call)
{
    struct talk *talk = (struct talk *)call;
    Renga__V1__ConfirmInterviewRequest confirm = RENGA__V1__CONFIRM_INTERVIEW_REQUEST__INIT;
    Renga__V1__GetSessionRequest get = RENGA__V1__GET_SESSION_REQUEST__INIT;
    confirm.session_id = get.session_id = talk->session_id;
    switch (talk->method) {
    case TALK_START:
        renga__v1__form_interview__start(talk->interview, &talk->start, talk_replied, &call->call);
        break;
    case TALK_ANSWER:
        renga__v1__form_interview__answer(talk->interview, &talk->answer, talk_replied, &call->call);
        break;
    case TALK_CONFIRM:
        confirm.expected_revision = talk->state->revision; /* the values that the person has seen */
        renga__v1__form_interview__confirm(talk->interview, &confirm, talk_confirmed, &call->call);
        break;
    case TALK_GET:
        renga__v1__form_interview__get_session(talk->interview, &get, talk_got, &call->call);
        break;
    }
}

bool interview_call(struct talk *talk, enum talk_method method)
{
    bool waits = talk->interactive && talk->way.terminal;
    talk->method = method;
    command_call_prepare(&talk->call, talk->way.process, config_duration_ms(talk->way.config, "timeout"));
    talk->call.begin = talk_begin;
    talk->call.cancels = true;
    if (waits) {
        printf("%s…%s", colour(&talk->way, DIM), colour(&talk->way, PLAIN));
        fflush(stdout);
    }
    bool good = command_call_wait(&talk->call);
    if (waits) {
        fputs("\r\033[K", stdout);
        fflush(stdout);
    }
    return good;
}

void interview_report(const struct talk *talk)
{
    const struct status *status = &talk->call.call.status;
    const char *elsewhere = config_string(talk->way.config, CONNECT);
    fprintf(stderr, INTERVIEW ": %s: %s", status_code_name((int)status->code), status->text);
    if (status->code == UNAVAILABLE && elsewhere)
        fprintf(stderr, "; is a suite running at %s? 'renga serve' is one", elsewhere);
    fputc('\n', stderr);
}

enum command_exit interview_failed(const struct talk *talk)
{
    interview_report(talk);
    return command_interrupted()                             ? COMMAND_INTERRUPTED
           : talk->call.call.status.code == INVALID_ARGUMENT ? COMMAND_USAGE
                                                             : COMMAND_FAILED;
}
