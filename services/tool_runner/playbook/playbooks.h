/* Playbooks, as functions of the service. */
#ifndef RENGA_TOOL_RUNNER_PLAYBOOKS_H
#define RENGA_TOOL_RUNNER_PLAYBOOKS_H

#include "renga/v1/tool_runner.pb-c.h"

void get_playbook(Renga__V1__ToolRunner_Service *service, const Renga__V1__GetPlaybookRequest *request,
                  Renga__V1__GetPlaybookResponse_Closure reply, void *data);
void put_playbook(Renga__V1__ToolRunner_Service *service, const Renga__V1__PutPlaybookRequest *request,
                  Renga__V1__PutPlaybookResponse_Closure reply, void *data);
void list_playbooks(Renga__V1__ToolRunner_Service *service, const Renga__V1__ListPlaybooksRequest *request,
                    Renga__V1__ListPlaybooksResponse_Closure reply, void *data);
void list_playbook_changes(Renga__V1__ToolRunner_Service *service, const Renga__V1__ListPlaybookChangesRequest *request,
                           Renga__V1__ListPlaybookChangesResponse_Closure reply, void *data);
void restore_playbook(Renga__V1__ToolRunner_Service *service, const Renga__V1__RestorePlaybookRequest *request,
                      Renga__V1__RestorePlaybookResponse_Closure reply, void *data);
void delete_playbook(Renga__V1__ToolRunner_Service *service, const Renga__V1__DeletePlaybookRequest *request,
                     Renga__V1__DeletePlaybookResponse_Closure reply, void *data);
void search_playbook(Renga__V1__ToolRunner_Service *service, const Renga__V1__SearchPlaybookRequest *request,
                     Renga__V1__SearchPlaybookResponse_Closure reply, void *data);

#endif
