/* Lists and deletes sessions of the form interview. */
#include "interview.h"

#include "api/refuse.h"
#include "json/json.h"

#include <string.h>

#define PAGE_DEFAULT 50

struct listing {
    struct interview *service;
    struct rpc_call *rpc;
    struct rpc_client_call call;
    struct rpc_principal principal;
    Renga__V1__ListSessionsResponse_Closure reply;
    Renga__V1__ListSessionsResponse response;
    Renga__V1__Thread **threads;
    size_t count, next;
};

static void listing_prepare(struct listing *listing)
{
    rpc_client_call_init(&listing->call, rpc_call_loop(listing->rpc), listing->rpc);
    listing->call.principal = &listing->principal;
    listing->call.owner = listing;
}

static void listing_read_next(struct listing *listing);

static void listing_state_loaded(const Renga__V1__GetStateResponse *response, void *data)
{
    struct listing *listing = ((struct rpc_client_call *)data)->owner;
    const Renga__V1__Thread *thread = listing->threads[listing->next++];
    struct status st = listing->call.status;
    cJSON *state = response ? json_parse(response->state_json, strlen(response->state_json), NULL, &st) : NULL;
    const cJSON *revision = cJSON_GetObjectItemCaseSensitive(state, "revision");
    if (!state && st.code != NOT_FOUND) { /* NOT_FOUND: deleted after the list was read */
        refuse_as(listing->rpc, &listing->call, &st);
        return;
    }
    Renga__V1__SessionSummary *summary = cJSON_IsNumber(revision) && revision->valuedouble > 0
                                             ? interview_summary(state, thread, rpc_call_arena(listing->rpc))
                                             : NULL;
    if (summary)
        listing->response.sessions[listing->response.n_sessions++] = summary;
    cJSON_Delete(state);
    listing_read_next(listing);
}

static void listing_read_next(struct listing *listing)
{
    static char revision[] = "revision", plan[] = "plan", form[] = "form", fields[] = "fields",
                confirmed[] = "confirmed", labels[] = "labels";
    static char *const needed[] = {revision, plan, form, fields, confirmed, labels};
    Renga__V1__GetStateRequest request = RENGA__V1__GET_STATE_REQUEST__INIT;
    if (listing->next == listing->count) {
        listing->reply(&listing->response, listing->rpc);
        return;
    }
    request.thread_id = listing->threads[listing->next]->thread_id;
    request.fields = (char **)(uintptr_t)needed;
    request.n_fields = sizeof needed / sizeof *needed;
    listing_prepare(listing);
    renga__v1__orchestrator__get_state(listing->service->orchestrator, &request, listing_state_loaded, &listing->call);
}

/* Copies the threads, since the received message is freed when the callback returns. */
static bool listing_keep_threads(struct listing *listing, const Renga__V1__ListThreadsResponse *response)
{
    struct arena *arena = rpc_call_arena(listing->rpc);
    listing->threads = arena_alloc(arena, (response->n_threads + 1) * sizeof *listing->threads);
    listing->response.sessions = arena_alloc(arena, (response->n_threads + 1) * sizeof *listing->response.sessions);
    listing->response.next_page_token = arena_strdup(arena, response->next_page_token);
    if (!listing->threads || !listing->response.sessions || !listing->response.next_page_token)
        return false;
    for (size_t i = 0; i < response->n_threads; i++) {
        Renga__V1__Thread *thread = arena_copy(arena, response->threads[i], sizeof *thread);
        if (!thread || !(thread->thread_id = arena_strdup(arena, thread->thread_id)))
            return false;
        thread->n_labels = 0;
        listing->threads[listing->count++] = thread;
    }
    return true;
}

static void listing_threads_loaded(const Renga__V1__ListThreadsResponse *response, void *data)
{
    struct listing *listing = ((struct rpc_client_call *)data)->owner;
    if (!response)
        refuse_as(listing->rpc, &listing->call, &listing->call.status);
    else if (!listing_keep_threads(listing, response))
        rpc_fail_with(listing->rpc, RESOURCE_EXHAUSTED, "no memory for the call");
    else
        listing_read_next(listing);
}

void interview_list_sessions(Renga__V1__FormInterview_Service *self, const Renga__V1__ListSessionsRequest *request,
                             Renga__V1__ListSessionsResponse_Closure reply, void *data)
{
    struct status st = {0};
    struct rpc_call *rpc = data;
    Renga__V1__ListThreadsRequest threads = RENGA__V1__LIST_THREADS_REQUEST__INIT;
    struct listing *listing = arena_zalloc(rpc_call_arena(rpc), sizeof *listing);
    if (!listing)
        fail(&st, RESOURCE_EXHAUSTED, "no memory for the call");
    if (!listing || !interview_check_list(request, &st)) {
        rpc_fail(rpc, &st);
        return;
    }
    renga__v1__list_sessions_response__init(&listing->response);
    listing->service = (struct interview *)self;
    listing->rpc = rpc;
    listing->reply = reply;
    listing->principal = *rpc_call_principal(rpc);
    threads.agent = (char *)(uintptr_t)INTERVIEW_AGENT;
    threads.page_size = request->page_size ? request->page_size : PAGE_DEFAULT;
    threads.page_token = request->page_token;
    threads.labels = (Renga__V1__ListThreadsRequest__LabelsEntry **)request->labels; /* same entry layout */
    threads.n_labels = request->n_labels;
    listing_prepare(listing);
    renga__v1__orchestrator__list_threads(listing->service->orchestrator, &threads, listing_threads_loaded,
                                          &listing->call);
}

/* ---- deletion ---------------------------------------------------------------------------------------------------- */

struct deletion {
    struct interview *service;
    struct rpc_call *rpc;
    struct rpc_client_call call;
    struct rpc_principal principal;
    const char *session_id;
    Renga__V1__DeleteSessionResponse_Closure reply;
};

static void deletion_prepare(struct deletion *deletion)
{
    rpc_client_call_init(&deletion->call, rpc_call_loop(deletion->rpc), deletion->rpc);
    deletion->call.principal = &deletion->principal;
    deletion->call.owner = deletion;
}

static void deletion_answer(struct deletion *deletion, bool deleted)
{
    Renga__V1__DeleteSessionResponse answer = RENGA__V1__DELETE_SESSION_RESPONSE__INIT;
    answer.deleted = deleted;
    deletion->reply(&answer, deletion->rpc);
}

static void thread_deleted(const Renga__V1__DeleteThreadResponse *response, void *data)
{
    struct deletion *deletion = ((struct rpc_client_call *)data)->owner;
    if (response)
        deletion_answer(deletion, response->deleted);
    else
        refuse_as(deletion->rpc, &deletion->call, &deletion->call.status);
}

/* A thread of another agent is not a session, and is not deleted. */
static void session_found(const Renga__V1__GetStateResponse *response, void *data)
{
    struct deletion *deletion = ((struct rpc_client_call *)data)->owner;
    Renga__V1__DeleteThreadRequest request = RENGA__V1__DELETE_THREAD_REQUEST__INIT;
    bool other = response && strcmp(response->agent, INTERVIEW_AGENT) != 0;
    if (other || (!response && deletion->call.status.code == NOT_FOUND)) {
        deletion_answer(deletion, false);
        return;
    }
    if (!response) {
        refuse_as(deletion->rpc, &deletion->call, &deletion->call.status);
        return;
    }
    request.thread_id = (char *)(uintptr_t)deletion->session_id;
    request.cancel_runs = true;
    deletion_prepare(deletion);
    renga__v1__orchestrator__delete_thread(deletion->service->orchestrator, &request, thread_deleted, &deletion->call);
}

void interview_delete_session(Renga__V1__FormInterview_Service *self, const Renga__V1__DeleteSessionRequest *request,
                              Renga__V1__DeleteSessionResponse_Closure reply, void *data)
{
    static char confirmed[] = "confirmed";
    static char *const fields[] = {confirmed};
    struct status st = {0};
    struct rpc_call *rpc = data;
    Renga__V1__GetStateRequest state = RENGA__V1__GET_STATE_REQUEST__INIT;
    struct deletion *deletion = arena_zalloc(rpc_call_arena(rpc), sizeof *deletion);
    if (!deletion)
        fail(&st, RESOURCE_EXHAUSTED, "no memory for the call");
    if (!deletion || !interview_check_session(request->session_id, &st)) {
        rpc_fail(rpc, &st);
        return;
    }
    deletion->service = (struct interview *)self;
    deletion->rpc = rpc;
    deletion->reply = reply;
    deletion->principal = *rpc_call_principal(rpc);
    deletion->session_id = request->session_id;
    state.thread_id = request->session_id;
    state.fields = (char **)(uintptr_t)fields;
    state.n_fields = 1;
    deletion_prepare(deletion);
    renga__v1__orchestrator__get_state(deletion->service->orchestrator, &state, session_found, &deletion->call);
}
