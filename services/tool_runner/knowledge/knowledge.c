#include "knowledge/knowledge_priv.h"

#include "base/memory.h"
#include "config/config.h"
#include "daemon/service.h"
#include "renga/v1/llm_gateway.pb-c.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SQLITE "sqlite:"

const char *tenant_of(const struct rpc_principal *principal)
{
    return principal && principal->tenant ? principal->tenant : "";
}

bool check_collection(const char *field, const char *name, struct status *st)
{
    size_t length = strlen(name);
    if (length == 0)
        return fail_field(st, field, "is empty; name the collection");
    if (length > COLLECTION_NAME_MAX || strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_-") != length)
        return fail_field(st, field, "is '%.100s'; a name is 1 to %d of a-z, 0-9, '_' and '-'", name,
                          COLLECTION_NAME_MAX);
    return true;
}

/* The path of "sqlite:FILE", or of FILE alone; a private store of the process if none is set. NULL: no such store. */
static char *knowledge_path_of(const struct config *config, const void *owner, struct status *st)
{
    const char *store = config_string(config, "tool_runner.store");
    char *own = NULL;
    if (!store || !store[0] || strcmp(store, SQL_MEMORY) == 0)
        return asprintf(&own, SQL_MEMORY "%p", owner) < 0 ? NULL : own;
    bool named = strncmp(store, SQLITE, strlen(SQLITE)) == 0;
    const char *path = store + (named ? strlen(SQLITE) : 0);
    if (path[0] && (named || !strstr(path, "://")))
        return xstrdup(path);
    fail(st, INVALID_ARGUMENT, "tool_runner.store is '%.200s', %s; give sqlite:FILE, or memory:", store,
         named ? "which names no file" : "and the knowledge base is kept in SQLite alone");
    return NULL;
}

static bool find_gateway(struct knowledge *knowledge, const struct service_context *context, struct status *st)
{
    const char *model = config_string(context->config, "tool_runner.embedding_model");
    if (!model || !model[0])
        return true;
    if (strlen(model) > MODEL_NAME_MAX)
        return fail(st, INVALID_ARGUMENT, "tool_runner.embedding_model has %zu bytes; at most %d are possible",
                    strlen(model), MODEL_NAME_MAX);
    knowledge->embedding_model = model;
    knowledge->gateway = service_peer(context, &renga__v1__llm_gateway__descriptor, st);
    return knowledge->gateway != NULL;
}

static bool keep_memory(struct knowledge *knowledge, struct status *st)
{
    return strncmp(knowledge->path, SQL_MEMORY, strlen(SQL_MEMORY)) != 0 ||
           tables_open(&knowledge->keeper, knowledge->path, st);
}

struct knowledge *knowledge_create(const struct service_context *context, struct status *st)
{
    struct knowledge *knowledge = xcalloc(1, sizeof *knowledge);
    pthread_mutex_init(&knowledge->lock, NULL);
    knowledge->path = knowledge_path_of(context->config, knowledge, st);
    knowledge->roots = config_list(context->config, "tool_runner.roots", &knowledge->root_count);
    knowledge->pdf_program = config_string(context->config, "tool_runner.pdf_program");
    knowledge->pdf_time_ms = config_duration_ms(context->config, "tool_runner.pdf_time");
    knowledge->shares = config_boolean(context->config, "tool_runner.shared_collections");
    knowledge->quota = config_size(context->config, "tool_runner.tenant_quota");
    knowledge->spans = context->spans;
    knowledge->shows_content = config_boolean(context->config, "tool_runner.trace_content");
    knowledge->readers = knowledge->path ? reader_pool_create(knowledge->path, st) : NULL;
    if (!knowledge->readers || !keep_memory(knowledge, st) || !find_gateway(knowledge, context, st))
        knowledge_destroy(&knowledge);
    return knowledge;
}

void knowledge_destroy(struct knowledge **knowledge)
{
    if (!*knowledge)
        return;
    reader_pool_destroy(&(*knowledge)->readers);
    tables_close(&(*knowledge)->keeper);
    pthread_mutex_destroy(&(*knowledge)->lock);
    free((*knowledge)->path);
    free(*knowledge);
    *knowledge = NULL;
}
