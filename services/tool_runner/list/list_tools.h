/* ListTools, as a function of the service. */
#ifndef RENGA_TOOL_RUNNER_LIST_TOOLS_H
#define RENGA_TOOL_RUNNER_LIST_TOOLS_H

#include "renga/v1/tool_runner.pb-c.h"

void list_tools(Renga__V1__ToolRunner_Service *self, const Renga__V1__ListToolsRequest *request,
                Renga__V1__ListToolsResponse_Closure reply, void *data);

#endif
