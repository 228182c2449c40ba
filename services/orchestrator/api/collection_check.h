/* Whether the knowledge base has collections of these names. The tool-runner knows those of the caller's tenant. A name
 * may also be that of a tool server, if one of its tools has an argument `collections`. If the tool-runner cannot be
 * asked, no name is refused: the searches of the run tell why. From inside the call's loop. */
#ifndef RENGA_ORCHESTRATOR_COLLECTION_CHECK_H
#define RENGA_ORCHESTRATOR_COLLECTION_CHECK_H

#include "rpc/rpc.h"

struct graph;

/* Metadata of a StartRun whose caller has checked the names. */
#define COLLECTIONS_CHECKED_KEY "renga-collections-checked"

struct collection_check {
    /* Set by the owner. */
    struct rpc_call *call; /* of the caller */
    const struct rpc_principal *principal;
    ProtobufCService *tool_runner;
    const char *field; /* the names' own: "input_json.collections" */
    char *const *names;
    size_t count;
    /* OK, or NOT_FOUND that names the first unknown one, and those that there are. Runs once, also after the caller
     * has left. */
    void (*checked)(struct collection_check *check, const struct status *st);

    /* Private. */
    struct rpc_client_call asking;
    struct status unknown;
};
void collection_check_begin(struct collection_check *check);

/* The names of collections that an input of the graph has, in the arena; none if the knowledge base is not among its
 * sources. Any thread. */
size_t collection_names_of_input(const struct graph *graph, const char *input_json, struct arena *arena,
                                 char *const **names);

#endif
