/* The handshake with a server: initialize, as in revisions before 2026-07-28; if the server refuses it, or the document
 * says so, server/discover. */
#include "mcp_priv.h"
#include "json/writer.h"

#include <stdio.h>
#include <string.h>

static const char *const known[] = {MCP_REVISION_LEGACY, "2025-06-18", "2025-03-26", "2024-11-05"};

static void greet(struct mcp_server *server);

static bool handshake_is_known(const char *revision)
{
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(known[i], revision) == 0)
            return true;
    return false;
}

static void handshake_give_up(struct mcp_server *server, const char *why)
{
    struct status st = {0};
    fail(&st, UNAVAILABLE, "the tool server '%s' cannot be talked to: %.400s", server->setup->name, why);
    mcp_server_fail(server, &st);
}

/* ---- before 2026-07-28 ------------------------------------------------------------------------------------------- */

static void write_initialize(struct json_writer *params, const void *data)
{
    json_write_string(params, "protocolVersion", MCP_REVISION_LEGACY);
    json_write_object(params, "capabilities");
    json_write_end(params);
    json_write_object(params, "clientInfo");
    json_write_string(params, "name", "renga");
    json_write_string(params, "version", RENGA_VERSION);
    json_write_end(params);
}

static void initialized(struct mcp_server *server, const cJSON *result)
{
    const char *revision = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(result, "protocolVersion"));
    if (!revision || !handshake_is_known(revision)) {
        handshake_give_up(server, "it speaks a revision of the protocol that is not known here");
        return;
    }
    snprintf(server->revision, sizeof server->revision, "%s", revision);
    mcp_notify(server, "notifications/initialized", NULL, NULL);
    mcp_list(server);
}

/* ---- 2026-07-28 -------------------------------------------------------------------------------------------------- */

static bool offers_modern(const cJSON *result)
{
    const cJSON *version, *versions = cJSON_GetObjectItemCaseSensitive(result, "supportedVersions");
    cJSON_ArrayForEach(version, versions)
    {
        if (cJSON_IsString(version) && strcmp(version->valuestring, MCP_REVISION_MODERN) == 0)
            return true;
    }
    return false;
}

static void discovered(struct mcp_server *server, const cJSON *result)
{
    if (!offers_modern(result)) {
        handshake_give_up(server, "it does not offer revision " MCP_REVISION_MODERN);
        return;
    }
    snprintf(server->revision, sizeof server->revision, "%s", MCP_REVISION_MODERN);
    mcp_list(server);
}

/* ---- the greeting ------------------------------------------------------------------------------------------------ */

static void handshake_answered(struct mcp_request *request, const cJSON *result, const struct status *status)
{
    struct mcp_server *server = request->server;
    if (server->failing)
        return;
    if (result && server->modern) {
        discovered(server, result);
    } else if (result) {
        initialized(server, result);
    } else if (status->code == UNKNOWN && !server->modern) {
        server->modern = true; /* it refused the old greeting */
        greet(server);
    } else {
        handshake_give_up(server, status->text);
    }
}

static void greet(struct mcp_server *server)
{
    server->handshake = (struct mcp_request){
        .method = server->modern ? "server/discover" : "initialize",
        .answered = handshake_answered,
        .timeout_ms = server->setup->start_timeout_ms,
    };
    mcp_request(server, &server->handshake, NULL, NULL, server->modern ? NULL : write_initialize, NULL);
}

void mcp_handshake(struct mcp_server *server)
{
    server->modern = server->setup->modern;
    server->revision[0] = '\0';
    greet(server);
}
