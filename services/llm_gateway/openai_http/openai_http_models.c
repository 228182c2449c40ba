/* GET /v1/models and GET /v1/models/{id}. */
#include "openai_http_priv.h"

#include <string.h>

#define LIST_MAX  ((size_t)4 << 20) /* bytes: 1,024 names, all escaped */
#define BELOW     "/v1/models/"
#define OWNER     "renga"
#define FIRST(of) ((of)->deployments[0]->target)

static void write_model(struct json_writer *writer, const Renga__V1__Model *model, int64_t created_s)
{
    const char *provider = model->n_deployments && FIRST(model) ? FIRST(model)->provider : "";
    json_write_object(writer, NULL);
    json_write_string(writer, "id", model->name);
    json_write_string(writer, "object", "model");
    json_write_int(writer, "created", created_s);
    json_write_string(writer, "owned_by", provider[0] ? provider : OWNER);
    json_write_end(writer);
}

static void openai_http_models_write_list(struct json_writer *writer, const Renga__V1__ListModelsResponse *response,
                                          int64_t created_s)
{
    json_write_object(writer, NULL);
    json_write_string(writer, "object", "list");
    json_write_array(writer, "data");
    for (size_t i = 0; i < response->n_models; i++)
        write_model(writer, response->models[i], created_s);
    json_write_end(writer);
    json_write_end(writer);
}

static void reply_model(const struct openai_http_call *call, const Renga__V1__ListModelsResponse *response,
                        struct json_writer *writer)
{
    struct status st = {0};
    const char *name = http_request_path(call->request) + strlen(BELOW);
    for (size_t i = 0; i < response->n_models; i++)
        if (strcmp(response->models[i]->name, name) == 0) {
            write_model(writer, response->models[i], call->openai_http->opened_s);
            openai_http_reply(call->request, writer->out);
            return;
        }
    fail(&st, NOT_FOUND, "no model '%.128s' here; GET /v1/models has the names", name);
    openai_http_fail_status(call->request, &st);
}

static void openai_http_models_reply(struct openai_http_call *call, const Renga__V1__ListModelsResponse *response,
                                     bool one)
{
    struct buffer out;
    struct json_writer writer;
    openai_http_call_ended(call);
    if (!response) {
        openai_http_fail_status(call->request, &call->base.status);
        return;
    }
    buffer_init(&out, LIST_MAX);
    json_writer_init(&writer, &out);
    if (one) {
        reply_model(call, response, &writer);
    } else {
        openai_http_models_write_list(&writer, response, call->openai_http->opened_s);
        openai_http_reply(call->request, &out);
    }
    buffer_fini(&out);
}

static void all_came(const Renga__V1__ListModelsResponse *response, void *data)
{
    openai_http_models_reply(data, response, false);
}

static void all_came_for_one(const Renga__V1__ListModelsResponse *response, void *data)
{
    openai_http_models_reply(data, response, true);
}

static void openai_http_models_list(struct openai_http *openai_http, struct http_request *request,
                                    Renga__V1__ListModelsResponse_Closure came)
{
    static const Renga__V1__ListModelsRequest everything = RENGA__V1__LIST_MODELS_REQUEST__INIT;
    const struct rpc_principal *principal = openai_http_admit(openai_http, request, "ListModels");
    struct openai_http_call *call =
        principal ? openai_http_call_create(openai_http, request, principal, sizeof *call) : NULL;
    if (call)
        renga__v1__llm_gateway__list_models(openai_http->stub, &everything, came, &call->base);
}

void openai_http_models(struct openai_http *openai_http, struct http_request *request)
{
    openai_http_models_list(openai_http, request, all_came);
}

void openai_http_model(struct openai_http *openai_http, struct http_request *request)
{
    openai_http_models_list(openai_http, request, all_came_for_one);
}
