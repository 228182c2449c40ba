/* The tools that a node offers to a model, and the arguments that the model does not choose. These arguments are taken
 * out of the offered schema, and put into the model's calls. */
#ifndef RENGA_ORCHESTRATOR_TOOL_OFFER_H
#define RENGA_ORCHESTRATOR_TOOL_OFFER_H

#include "service_call.h"

#include "renga/v1/chat.pb-c.h"
#include "renga/v1/tool_runner.pb-c.h"

#define OFFER_TOOLS_MAX     128 /* as ChatRequest.tools */
#define OFFER_ARGUMENTS_MAX 8

struct tool_offer {
    struct arena *arena;
    Renga__V1__ToolDefinition *tools[OFFER_TOOLS_MAX];
    size_t count;

    /* Private. */
    struct service_call *call;
    void (*listed)(struct service_call *call, const Renga__V1__ListToolsResponse *tools);
    Renga__V1__ListToolsRequest request;
    char **names; /* that may be offered; 0: all */
    size_t name_count;
    struct {
        const char *name, *json; /* json NULL: it is hidden, and left out */
    } arguments[OFFER_ARGUMENTS_MAX];
    size_t argument_count;
    uint8_t takes[OFFER_TOOLS_MAX]; /* a bit for each argument that the tool has */
};

/* For `check`: the row is {ARGUMENT: FIELD}, and the fields are inputs. */
bool offer_check(const struct node *node, size_t arguments_row, struct status *st);

/* Reads rows and inputs, before the call is closed. */
bool offer_prepare(struct tool_offer *offer, struct service_call *call, size_t names_row, size_t arguments_row,
                   struct status *st);
/* Lists the tools: from an answer that was kept a moment ago, else from the tool-runner. `listed` runs once, perhaps
 * before offer_list returns, unless the task has ended with the failure. The call is free for another service then. */
void offer_list(struct tool_offer *offer, struct service_call *call,
                void (*listed)(struct service_call *call, const Renga__V1__ListToolsResponse *tools));
/* `tools` lives as long as the offer. */
bool offer_tools(struct tool_offer *offer, const Renga__V1__ListToolsResponse *tools, struct status *st);
/* Takes a tool out of the offer, if it is there. */
void offer_drop(struct tool_offer *offer, const char *name);
/* Puts the arguments into the calls of a turn. Those that are no object stay as the model wrote them. */
bool offer_complete(struct tool_offer *offer, Renga__V1__ChatMessage *turn, struct status *st);

#endif
