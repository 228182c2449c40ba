/* Private to chat*.c.
 *
 *      chat_begin: checked, asked (pipeline/pipeline.h drives what follows, over one deployment or several)
 *         |
 *         |  headers: an event stream                   anything else
 *         |           |                                      |
 *         |     pieces, each handed on at once        gathered by the transfer
 *         |           |                                      |
 *         '-----------'------------- finished ---------------'   the only end, whatever led to it
 *                                   |
 *                            judged (chat_read_result.c): answered, or failed;
 *                            or amended: without a parameter that was refused (chat_adapt.c),
 *                            or, once, with what is wrong with its JSON (chat_repair.c)
 *
 * What happens on the way (an event that cannot be read, a client that leaves or does not read) is noted and cancels
 * the transfer, which then finishes. */
#ifndef RENGA_LLM_GATEWAY_CHAT_PRIV_H
#define RENGA_LLM_GATEWAY_CHAT_PRIV_H

#include "answer.h"
#include "chat.h"
#include "gateway_priv.h"
#include "http/sse.h"
#include "pipeline/pipeline.h"
#include "provider/ndjson.h"
#include "provider/provider.h"
#include "routing/deployment.h"
#include "routing/route.h"

struct chat {
    struct pipeline pipeline;                /* first */
    const Renga__V1__ChatRequest *callers;   /* as it came */
    const Renga__V1__ChatRequest *request;   /* as it is asked now: the caller's, or with two turns more */
    Renga__V1__ChatResponse_Closure reply;   /* of Chat, else NULL */
    Renga__V1__ChatStreamEvent_Closure send; /* of ChatStream, else NULL */
    struct answer answer;                    /* of the request under way */
    union {                                  /* after the provider's stream_type */
        struct sse sse;
        struct ndjson lines;
    };
    struct timer patience;     /* with a client that does not read, or an upstream that has said all but does not end */
    struct chat_question here; /* of a provider in this process, while it is asked */
    bool keeps_content, keeps_rest; /* of a stream: the values of answer.keeps_… while events are read */
    bool reads_events;              /* the answer comes as an event stream */
    bool reads_lines;               /* ... of NDJSON, and not of SSE */
    uint32_t refused_parameters;    /* PARAMETER_BITs that are not sent */
    const struct target *adapted;   /* has been asked a second time, without the refused part */
    /* It has been asked once more, with what was wrong with its JSON: */
    struct failure *broken; /* ... the first time; NULL: it has not */
    Renga__V1__ChatFinish finish;
    Renga__V1__AnsweredBy answered_by;
    Renga__V1__ChatResponse *again; /* the answer that was given before; NULL: none */
};

/* chat_read_result.c: judges a transfer that has ended. True: answered, chat->finish says how. As pipeline_kind says.
 */
void chat_closed(struct pipeline *pipeline);
bool chat_read_result(struct pipeline *pipeline);
void chat_forward(struct pipeline *pipeline);

/* chat_adapt.c: where the upstream refused a parameter that the request can do without, remembers it: true. */
bool chat_adapt(struct chat *chat);

/* chat_repair.c: where the answer is not the JSON that was asked for, puts what is wrong with it into the question,
 * once: true. And what there is to say when that has failed too. */
bool chat_repair(struct chat *chat);
void chat_repair_failed(struct chat *chat);

/* chat_content.c: as pipeline_kind.tell. */
bool chat_write_content(struct pipeline *pipeline, bool answer, size_t budget, struct json_writer *writer);

/* chat_stream.c */
void chat_stream_close(struct chat *chat);
void chat_stream_open(struct chat *chat);
void chat_stream_piece(struct answer *answer, const struct answer_piece *piece);
/* An answer that was read whole, in pieces. */
void chat_stream_whole(struct chat *chat);
void chat_stream_finish(struct chat *chat);
void chat_stream_usage(struct chat *chat, const Renga__V1__Usage *usage);
void chat_stream_writable(struct rpc_call *call, void *data);
void chat_client_timed_out(struct timer *timer);

#endif
