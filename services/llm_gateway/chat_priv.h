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
 *                            judged (chat_judge.c): answered, or failed; then the reply
 *
 * What happens on the way (an event that cannot be read, a client that leaves or does not read) is noted and cancels
 * the transfer, which then finishes. */
#ifndef RENGA_LLM_GATEWAY_CHAT_PRIV_H
#define RENGA_LLM_GATEWAY_CHAT_PRIV_H

#include "answer.h"
#include "base/buffer.h"
#include "chat.h"
#include "deployment.h"
#include "failure.h"
#include "gateway_priv.h"
#include "http/client.h"
#include "provider.h"
#include "rpc/rpc.h"
#include "sse.h"

struct chat {
    struct transfer transfer;
    struct gateway *gateway;
    const struct deployment *deployment;
    struct rpc_call *call;
    Renga__V1__ChatResponse_Closure reply;   /* of Chat, else NULL */
    Renga__V1__ChatStreamEvent_Closure send; /* of ChatStream, else NULL */
    struct buffer body;
    struct answer answer;
    struct sse sse;
    struct failure failure;
    struct timer patience; /* with a client that does not read, or an upstream that has said all but does not end */
    const char *model;
    int64_t began_ns, first_ns, asked_wall_ms;
    bool timeout_is_callers; /* the caller's deadline is sooner than our own limit */
    bool reads_events;       /* the answer comes as an event stream */
    bool started;            /* the client has had `start` */
    bool reader_is_slow;
};

/* chat_judge.c: what to make of a transfer that has ended. True: answered, `finish` says how; false: see failure. */
bool chat_judge(struct chat *chat, Renga__V1__ChatFinish *finish);

/* chat_stream.c */
void chat_stream_open(struct chat *chat);
void chat_stream_piece(struct answer *answer, const struct answer_piece *piece);
void chat_stream_finish(struct chat *chat, Renga__V1__ChatFinish *finish);
void chat_stream_usage(struct chat *chat, const Renga__V1__Usage *usage);
void chat_stream_writable(struct rpc_call *call, void *data);
void chat_patience_over(struct timer *timer);

/* Who answers: fields of `by`, borrowed from the chat. */
void chat_answered_by(const struct chat *chat, Renga__V1__AnsweredBy *by);

#endif
