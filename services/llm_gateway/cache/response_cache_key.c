/* Keys: SHA-256 over a tag, the tenant with its length, and the request as it would be packed. protobuf-c packs into
 * the digest itself, so that no copy of the request is made. */
#include "response_cache.h"

#include "base/sha256.h"

#include <string.h>

/* First byte of the digested data. A change of the data's layout changes it, so that old answers no longer match. */
enum key_kind { KEY_OF_CHAT = 0x11, KEY_OF_EMBED = 0x12, KEY_OF_IDEMPOTENCY = 0x13 };

#define STAGE_SIZE 1024 /* bytes gathered for one update: protobuf-c appends tags and lengths of a byte or two */

struct digest {
    ProtobufCBuffer base; /* first */
    struct sha256 sha256;
    size_t staged;
    uint8_t stage[STAGE_SIZE];
};

static void response_cache_key_flush(struct digest *digest)
{
    sha256_add(&digest->sha256, digest->stage, digest->staged);
    digest->staged = 0;
}

static void response_cache_key_append(ProtobufCBuffer *buffer, size_t size, const uint8_t *bytes)
{
    struct digest *digest = (struct digest *)buffer;
    if (size > STAGE_SIZE - digest->staged) {
        response_cache_key_flush(digest);
        if (size > STAGE_SIZE) {
            sha256_add(&digest->sha256, bytes, size);
            return;
        }
    }
    memcpy(digest->stage + digest->staged, bytes, size);
    digest->staged += size;
}

static void response_cache_key_begin(struct digest *digest, enum key_kind kind, const char *tenant)
{
    const uint64_t size = strlen(tenant);
    digest->base.append = response_cache_key_append;
    digest->staged = 0;
    sha256_begin(&digest->sha256);
    digest->stage[digest->staged++] = (uint8_t)kind;
    response_cache_key_append(&digest->base, sizeof size, (const uint8_t *)&size);
    response_cache_key_append(&digest->base, size, (const uint8_t *)tenant);
}

static void response_cache_key_end(struct digest *digest, struct response_cache_key *key)
{
    response_cache_key_flush(digest);
    sha256_end(&digest->sha256, key->bytes);
}

void response_cache_key_of_chat(const char *tenant, const Renga__V1__ChatRequest *request,
                                struct response_cache_key *key)
{
    struct digest digest;
    Renga__V1__ChatRequest content = *request;
    content.cache = NULL;
    content.idempotency_key = (char *)(uintptr_t)protobuf_c_empty_string;
    content.priority = RENGA__V1__PRIORITY__PRIORITY_UNSPECIFIED;
    content.origin = NULL;
    content.max_model_calls = 0;
    response_cache_key_begin(&digest, KEY_OF_CHAT, tenant);
    protobuf_c_message_pack_to_buffer(&content.base, &digest.base);
    response_cache_key_end(&digest, key);
}

void response_cache_key_of_embed(const char *tenant, const Renga__V1__EmbedRequest *request,
                                 struct response_cache_key *key)
{
    struct digest digest;
    Renga__V1__EmbedRequest content = *request;
    content.cache = NULL;
    content.priority = RENGA__V1__PRIORITY__PRIORITY_UNSPECIFIED;
    content.origin = NULL;
    response_cache_key_begin(&digest, KEY_OF_EMBED, tenant);
    protobuf_c_message_pack_to_buffer(&content.base, &digest.base);
    response_cache_key_end(&digest, key);
}

void response_cache_key_of_idempotency(const char *tenant, const char *idempotency_key, struct response_cache_key *key)
{
    struct digest digest;
    response_cache_key_begin(&digest, KEY_OF_IDEMPOTENCY, tenant);
    response_cache_key_append(&digest.base, strlen(idempotency_key), (const uint8_t *)idempotency_key);
    response_cache_key_end(&digest, key);
}
