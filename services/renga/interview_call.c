/* Calls of renga.v1.FormInterview: the command's thread waits for each. */
#include "interview.h"

#include <stdlib.h>
#include <string.h>

#define REPLY_MEMORY ((size_t)64 << 20)

void interview_forget(struct conversation *conversation)
{
    if (conversation->reply)
        arena_fini(&conversation->memory);
    conversation->reply = NULL;
    conversation->state = NULL;
}

static void conversation_keep(struct conversation *conversation, const Renga__V1__InterviewReply *reply)
{
    interview_forget(conversation);
    arena_init(&conversation->memory, NULL, 0, REPLY_MEMORY);
    conversation->reply = rpc_message_copy(&conversation->memory, &reply->base);
    if (!conversation->reply)
        abort(); /* a message has at most 4 MiB */
    conversation->state = conversation->reply->state;
    snprintf(conversation->session_id, sizeof conversation->session_id, "%s", conversation->reply->session_id);
}

static void conversation_replied(const Renga__V1__InterviewReply *reply, void *data)
{
    struct conversation *conversation = ((struct rpc_client_call *)data)->owner;
    if (reply && reply->state)
        conversation_keep(conversation, reply);
    command_call_ended(&conversation->call);
}

/* A session as it stands is the reply that it last gave. */
static void conversation_keep_state(struct conversation *conversation, Renga__V1__MainSessionState *state)
{
    Renga__V1__InterviewReply reply = RENGA__V1__INTERVIEW_REPLY__INIT;
    reply.session_id = state->session_id;
    reply.state = state;
    reply.awaiting_user_response =
        !state->plan || (size_t)state->current_field_index < state->n_field_statuses || state->n_field_statuses == 0;
    for (size_t i = 0; i < state->n_messages; i++)
        if (state->messages[i]->role == RENGA__V1__CHAT_ROLE__CHAT_ROLE_ASSISTANT)
            reply.response_text = state->messages[i]->content;
    conversation_keep(conversation, &reply);
}

static void conversation_confirmed(const Renga__V1__ConfirmInterviewResponse *response, void *data)
{
    struct conversation *conversation = ((struct rpc_client_call *)data)->owner;
    if (response && response->state)
        conversation_keep_state(conversation, response->state);
    command_call_ended(&conversation->call);
}

static void conversation_got(const Renga__V1__GetSessionResponse *response, void *data)
{
    struct conversation *conversation = ((struct rpc_client_call *)data)->owner;
    if (response && response->state)
        conversation_keep_state(conversation, response->state);
    command_call_ended(&conversation->call);
}

static void conversation_begin(struct command_call *call)
{
    struct conversation *conversation = (struct conversation *)call;
    Renga__V1__ConfirmInterviewRequest confirm = RENGA__V1__CONFIRM_INTERVIEW_REQUEST__INIT;
    Renga__V1__GetSessionRequest get = RENGA__V1__GET_SESSION_REQUEST__INIT;
    confirm.session_id = get.session_id = conversation->session_id;
    switch (conversation->method) {
    case CONVERSATION_START:
        renga__v1__form_interview__start(conversation->interview, &conversation->start, conversation_replied,
                                         &call->call);
        break;
    case CONVERSATION_ANSWER:
        renga__v1__form_interview__answer(conversation->interview, &conversation->answer, conversation_replied,
                                          &call->call);
        break;
    case CONVERSATION_CONFIRM:
        confirm.expected_revision = conversation->state->revision; /* the values that the person has seen */
        renga__v1__form_interview__confirm(conversation->interview, &confirm, conversation_confirmed, &call->call);
        break;
    case CONVERSATION_GET:
        renga__v1__form_interview__get_session(conversation->interview, &get, conversation_got, &call->call);
        break;
    }
}

bool interview_call(struct conversation *conversation, enum conversation_method method)
{
    bool waits = conversation->interactive && conversation->client.terminal;
    conversation->method = method;
    command_call_prepare(&conversation->call, conversation->client.process,
                         config_duration_ms(conversation->client.config, "timeout"));
    conversation->call.begin = conversation_begin;
    conversation->call.cancels = true;
    if (waits) {
        printf("%s…%s", colour(&conversation->client, DIM), colour(&conversation->client, PLAIN));
        fflush(stdout);
    }
    bool good = command_call_wait(&conversation->call);
    if (waits) {
        fputs("\r\033[K", stdout);
        fflush(stdout);
    }
    return good;
}

void interview_report(const struct conversation *conversation)
{
    const struct status *status = &conversation->call.call.status;
    const char *elsewhere = config_string(conversation->client.config, CONNECT);
    fprintf(stderr, INTERVIEW ": %s: %s%s", status_code_name((int)status->code), status->text, command_remedy(status));
    if (conversation->call.lost && elsewhere)
        fprintf(stderr, "; is a suite running at %s? 'renga serve' is one", elsewhere);
    fputc('\n', stderr);
}

enum command_exit interview_failed(const struct conversation *conversation)
{
    interview_report(conversation);
    return command_interrupted()                                     ? COMMAND_INTERRUPTED
           : conversation->call.call.status.code == INVALID_ARGUMENT ? COMMAND_USAGE
                                                                     : COMMAND_FAILED;
}
