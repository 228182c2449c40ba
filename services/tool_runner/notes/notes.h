/* Notes of a research, as functions of the service: kept beside the thread until ForgetThread. */
#ifndef RENGA_TOOL_RUNNER_NOTES_H
#define RENGA_TOOL_RUNNER_NOTES_H

#include "renga/v1/tool_runner.pb-c.h"

void save_note(Renga__V1__ToolRunner_Service *service, const Renga__V1__SaveNoteRequest *request,
               Renga__V1__SaveNoteResponse_Closure reply, void *data);

void list_notes(Renga__V1__ToolRunner_Service *service, const Renga__V1__ListNotesRequest *request,
                Renga__V1__ListNotesResponse_Closure reply, void *data);

#endif
