/* RunTools and ForgetThread, as functions of the service. */
#ifndef RENGA_TOOL_RUNNER_RUN_TOOLS_H
#define RENGA_TOOL_RUNNER_RUN_TOOLS_H

#include "renga/v1/tool_runner.pb-c.h"

void run_tools(Renga__V1__ToolRunner_Service *self, const Renga__V1__RunToolsRequest *request,
               Renga__V1__RunToolsResponse_Closure reply, void *data);

void forget_thread(Renga__V1__ToolRunner_Service *self, const Renga__V1__ForgetThreadRequest *request,
                   Renga__V1__ForgetThreadResponse_Closure reply, void *data);

#endif
