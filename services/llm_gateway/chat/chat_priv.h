/* Private to chat*.c.
 *
 *      chat_begin: checked, sent (from here pipeline/pipeline.h drives, over one deployment or several)
 *         |
 *         |  headers: an event stream                   anything else
 *         |           |                                      |
 *         |     pieces, each forwarded at once        gathered by the transfer
 *         |           |                                      |
 *         '-----------'------------- finished ---------------'   the only end of a call
 *                                   |
 *                            judged (chat_result.c): answered, or failed;
 *                            or amended: without a parameter that was refused (chat_adapt.c),
 *                            or, once, with the errors in its JSON (chat_repair.c)
 *
 * An unreadable event, and a client that leaves or does not read, are recorded and cancel the transfer, which then
 * finishes. */
#ifndef RENGA_LLM_GATEWAY_CHAT_PRIV_H
#define RENGA_LLM_GATEWAY_CHAT_PRIV_H

#include "answer/answer.h"
#include "chat.h"
#include "http/sse.h"
#include "instance/gateway_instance.h"
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
    /* The repair round: the request was sent again with the errors in its JSON. */
    struct failure *broken; /* ... the first time; NULL: it has not */
    Renga__V1__ChatFinish finish;
    Renga__V1__AnsweredBy answered_by;
    Renga__V1__ChatResponse *again; /* the cached answer; NULL: not from the cache */
};

/* chat_read_result.c: judges a transfer that has ended. True: answered, chat->finish says how. As pipeline_kind says.
 */
void chat_closed(struct pipeline *pipeline);
bool chat_read_result(struct pipeline *pipeline);
void chat_forward(struct pipeline *pipeline);

/* chat_adapt.c: true if the upstream refused an optional parameter, which is now recorded. */
bool chat_adapt(struct chat *chat);

/* chat_repair.c: true if the answer is not the requested JSON and the errors were added to the request, once. And
 * the failure to report if the repair failed too. */
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
