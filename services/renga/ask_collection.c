/* After an empty result in a named collection: checks that a collection of that name exists. */
#include "ask.h"

#include "base/nearest.h"
#include "renga/v1/tool_runner.pb-c.h"

#include <stdio.h>
#include <string.h>

#define LOOK_MS     5000
#define NAMES_SHOWN 8

struct look {
    struct command_call call; /* first */
    ProtobufCService *tool_runner;
    const char *command, *name;
};

static void ask_collection_tell(const char *command, const char *name,
                                const Renga__V1__GetKnowledgeBaseResponse *response)
{
    struct nearest nearest = nearest_to(name);
    for (size_t i = 0; i < response->n_collections; i++) {
        if (strcmp(response->collections[i]->name, name) == 0)
            return;
        nearest_try(&nearest, response->collections[i]->name);
    }
    fprintf(stderr, "%s: there is no collection '%s'", command, name);
    if (nearest.name)
        fprintf(stderr, ", did you mean '%s'?", nearest.name);
    else if (response->n_collections)
        fputs("; there are:", stderr);
    for (size_t i = 0; !nearest.name && i < response->n_collections && i < NAMES_SHOWN; i++)
        fprintf(stderr, "%s %s", i ? "," : "", response->collections[i]->name);
    fputs(response->n_collections > NAMES_SHOWN && !nearest.name ? ", …\n" : "\n", stderr);
}

static void ask_collection_answered(const Renga__V1__GetKnowledgeBaseResponse *response, void *data)
{
    struct look *look = ((struct rpc_client_call *)data)->owner;
    if (response)
        ask_collection_tell(look->command, look->name, response);
    command_call_ended(&look->call);
}

static void ask_collection_begin(struct command_call *call)
{
    struct look *look = (struct look *)call;
    Renga__V1__GetKnowledgeBaseRequest request = RENGA__V1__GET_KNOWLEDGE_BASE_REQUEST__INIT;
    renga__v1__tool_runner__get_knowledge_base(look->tool_runner, &request, ask_collection_answered, &call->call);
}

void ask_check_collection(const struct orchestrator_client *client, const char *name)
{
    struct status st = {0};
    struct look look = {.call.begin = ask_collection_begin, .command = client->command, .name = name};
    look.tool_runner = process_stub(client->process, &renga__v1__tool_runner__descriptor, &st);
    if (!look.tool_runner)
        return;
    command_call_prepare(&look.call, client->process, LOOK_MS);
    command_call_wait(&look.call); /* a remote orchestrator may serve no tool-runner: then they are unknown */
}
