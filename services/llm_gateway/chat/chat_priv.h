/* Private to chat*.c.
 *
 *      chat_begin: checked, asked
 *         |
 *         |  headers: an event stream                   anything else
 *         |           |                                      |
 *         |     pieces, each handed on at once        gathered by the transfer
 *         |           |                                      |
 *         '-----------'------ upstream_finished -------------'   the only end, whatever led to it
 *                                   |
 *                            judged (chat_judge.c): answered, or failed; then the reply,
 *                            or, once, the question again with what is wrong with its JSON (chat_repair.c)
 *
 * What happens on the way (an event that cannot be read, a client that leaves or does not read) is noted and cancels
 * the transfer, which then finishes. */
#ifndef RENGA_LLM_GATEWAY_CHAT_PRIV_H
#define RENGA_LLM_GATEWAY_CHAT_PRIV_H

#include "answer.h"
#include "base/buffer.h"
#include "chat.h"
#include "failure.h"
#include "gateway_priv.h"
#include "http/client.h"
#include "provider/ndjson.h"
#include "provider/provider.h"
#include "provider/sse.h"
#include "route/deployment.h"
#include "rpc/rpc.h"

/* One request that was sent, as far as it is told of it. */
#define ATTEMPT_ERROR_MAX 512
#define SENT_ID_MAX       128 /* Attempt.provider_request_id */
struct attempt {
    Renga__V1__Attempt told;
    Renga__V1__AnsweredBy asked;
    char request_id[SENT_ID_MAX + 1];
    char error[ATTEMPT_ERROR_MAX + 1];
};

struct chat {
    struct transfer transfer;
    struct gateway *gateway;
    struct deployment *deployment;
    struct rpc_call *call;
    Renga__V1__ChatResponse_Closure reply;   /* of Chat, else NULL */
    Renga__V1__ChatStreamEvent_Closure send; /* of ChatStream, else NULL */
    struct buffer body;
    struct answer answer;
    union { /* after the provider's stream_type */
        struct sse sse;
        struct ndjson lines;
    };
    struct failure failure;
    struct timer patience; /* with a client that does not read, or an upstream that has said all but does not end */
    const char *model;
    int64_t began_ns, asked_ns, first_ns, asked_wall_ms;
    bool timeout_is_callers; /* the caller's deadline is sooner than our own limit */
    bool reads_events;       /* the answer comes as an event stream */
    bool reads_lines;        /* ... of NDJSON, and not of SSE */
    uint32_t left_out;       /* PARAMETER_BITs that are not sent */
    bool adapted;            /* it has been asked a second time, without what it refused */
    struct attempt refused;  /* the first time */
    bool repairs;            /* it has been asked once more, with what was wrong with its JSON; of the time before: */
    struct attempt broken;
    Renga__V1__Usage broken_usage;
    struct failure broken_failure;
    bool started; /* the client has had `start` */
    bool reader_is_slow;
};

/* chat_judge.c: what to make of a transfer that has ended. True: answered, `finish` says how; false: see failure. */
bool chat_judge(struct chat *chat, Renga__V1__ChatFinish *finish);

/* chat_adapt.c: where the upstream refused a parameter that the request can do without, asks once more, remembers it,
 * and gives true: the end is still to come. */
bool chat_adapt(struct chat *chat);

/* chat_repair.c: where the answer is not the JSON that was asked for, shows the model what is wrong, asks once more and
 * gives true: the end is still to come. And what there is to say when it has come. */
bool chat_repair(struct chat *chat);
void chat_repair_end(struct chat *chat, bool good);

/* chat.c: writes the body and sends it; ends the call where that cannot be. Fills an attempt from the transfer. */
void chat_ask(struct chat *chat);
void chat_attempt(struct chat *chat, struct attempt *attempt);

/* chat_stream.c */
void chat_stream_close(struct chat *chat);
void chat_stream_open(struct chat *chat);
void chat_stream_piece(struct answer *answer, const struct answer_piece *piece);
void chat_stream_finish(struct chat *chat, Renga__V1__ChatFinish *finish);
void chat_stream_usage(struct chat *chat, const Renga__V1__Usage *usage);
void chat_stream_writable(struct rpc_call *call, void *data);
void chat_patience_over(struct timer *timer);

/* Who answers: fields of `by`, borrowed from the chat. */
void chat_answered_by(const struct chat *chat, Renga__V1__AnsweredBy *by);

#endif
