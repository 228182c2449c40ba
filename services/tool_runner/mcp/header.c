/* Text in a header of HTTP. */
#include "http/client.h"
#include "mcp_priv.h"

#include <openssl/evp.h>
#include <string.h>

/* A name of other characters than ASCII's, as the revision of 2026-07-28 wants it. */
const char *mcp_header_text(const char *name, char room[MCP_HEADER_MAX + 1])
{
    static const char before[] = "=?base64?", after[] = "?=";
    size_t length = strlen(name);
    bool plain = true;
    for (const char *c = name; *c; c++)
        plain &= *c > 0x20 && *c < 0x7f;
    if (plain && length <= MCP_HEADER_MAX) {
        strcpy(room, name);
        return room;
    }
    if ((length + 2) / 3 * 4 + sizeof before + sizeof after > MCP_HEADER_MAX)
        return NULL;
    strcpy(room, before);
    EVP_EncodeBlock((unsigned char *)room + sizeof before - 1, (const unsigned char *)name, (int)length);
    strcat(room, after);
    return room;
}

bool mcp_add_headers(struct http_headers *headers, const struct mcp_setup *setup, struct status *st)
{
    if (!http_headers_add(headers, "Content-Type", "application/json", st) ||
        !http_headers_add(headers, "Accept", "application/json, text/event-stream", st))
        return false;
    for (size_t i = 0; i < setup->header_count; i++)
        if (!http_headers_add(headers, setup->headers[i].name, setup->headers[i].value, st))
            return false;
    return true;
}
