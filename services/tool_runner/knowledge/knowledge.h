/* The knowledge base: documents in collections, found by their words and, with an embedding model, by nearness of
 * meaning. Stored in one SQLite file; each tenant sees only its own collections. One in a process, shared by the loops.
 *
 * No slow work runs in a loop. Searches go to a few reader threads, each with its connection. Each indexing or
 * deletion has a thread of its own while it runs; a collection has at most one of these threads, also over several
 * processes. */
#ifndef RENGA_TOOL_RUNNER_KNOWLEDGE_H
#define RENGA_TOOL_RUNNER_KNOWLEDGE_H

#include "base/status.h"

#include "renga/v1/tool_runner.pb-c.h"

struct knowledge;
struct rpc_call;
struct service_context;

/* Opens lazily: a file that cannot be opened is an error of the later call. */
struct knowledge *knowledge_create(const struct service_context *context, struct status *st);
/* When no call is under way any more. */
void knowledge_destroy(struct knowledge **knowledge);

/* The methods. They end the call, now or later; the knowledge base outlives it. */
void knowledge_search(struct knowledge *knowledge, struct rpc_call *call, const Renga__V1__SearchRequest *request,
                      Renga__V1__SearchResponse_Closure reply);
void knowledge_index(struct knowledge *knowledge, struct rpc_call *call,
                     const Renga__V1__IndexDocumentsRequest *request, Renga__V1__IndexDocumentsProgress_Closure reply);
void knowledge_show(struct knowledge *knowledge, struct rpc_call *call,
                    Renga__V1__GetKnowledgeBaseResponse_Closure reply);
void knowledge_delete(struct knowledge *knowledge, struct rpc_call *call,
                      const Renga__V1__DeleteDocumentsRequest *request,
                      Renga__V1__DeleteDocumentsResponse_Closure reply);

#endif
