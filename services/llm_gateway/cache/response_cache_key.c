/* Keys: SHA-256 over a tag, the tenant with its length, and the request as it would be packed. protobuf-c packs into
 * the digest itself, so that no copy of the request is made. */
#include "response_cache.h"

#include "base/log.h"

#include <openssl/evp.h>
#include <pthread.h>
#include <string.h>

/* First byte of the digested data. A change of the data's layout changes it, so that old answers no longer match. */
enum key_kind { KEY_OF_CHAT = 0x11, KEY_OF_EMBED = 0x12, KEY_OF_IDEMPOTENCY = 0x13 };

#define STAGE_SIZE 1024 /* bytes gathered for one update: protobuf-c appends tags and lengths of a byte or two */

struct digest {
    ProtobufCBuffer base; /* first */
    EVP_MD_CTX *context;
    size_t staged;
    uint8_t stage[STAGE_SIZE];
};

static EVP_MD *sha256;
static pthread_once_t fetched = PTHREAD_ONCE_INIT;

/* Once: looking an algorithm up by its name takes OpenSSL 3 longer than digesting a short request. */
static void fetch(void)
{
    sha256 = EVP_MD_fetch(NULL, "SHA256", NULL);
}

static void response_cache_key_check(int good)
{
    if (good != 1)
        fatal("response_cache.digest", "libcrypto has no SHA-256, or no memory for it");
}

static void response_cache_key_flush(struct digest *digest)
{
    response_cache_key_check(EVP_DigestUpdate(digest->context, digest->stage, digest->staged));
    digest->staged = 0;
}

static void response_cache_key_append(ProtobufCBuffer *buffer, size_t size, const uint8_t *bytes)
{
    struct digest *digest = (struct digest *)buffer;
    if (size > STAGE_SIZE - digest->staged) {
        response_cache_key_flush(digest);
        if (size > STAGE_SIZE) {
            response_cache_key_check(EVP_DigestUpdate(digest->context, bytes, size));
            return;
        }
    }
    memcpy(digest->stage + digest->staged, bytes, size);
    digest->staged += size;
}

static void response_cache_key_begin(struct digest *digest, enum key_kind kind, const char *tenant)
{
    const uint64_t size = strlen(tenant);
    pthread_once(&fetched, fetch);
    digest->base.append = response_cache_key_append;
    digest->staged = 0;
    digest->context = EVP_MD_CTX_new();
    response_cache_key_check(sha256 && digest->context && EVP_DigestInit_ex2(digest->context, sha256, NULL));
    digest->stage[digest->staged++] = (uint8_t)kind;
    response_cache_key_append(&digest->base, sizeof size, (const uint8_t *)&size);
    response_cache_key_append(&digest->base, size, (const uint8_t *)tenant);
}

static void response_cache_key_end(struct digest *digest, struct response_cache_key *key)
{
    response_cache_key_flush(digest);
    response_cache_key_check(EVP_DigestFinal_ex(digest->context, key->bytes, NULL));
    EVP_MD_CTX_free(digest->context);
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
