/* Keys: SHA-256 over a tag, the tenant with its length, and the request as it would be packed. protobuf-c packs into
 * the digest itself, so that no copy of the request is made. */
#include "recall.h"

#include "base/log.h"

#include <openssl/evp.h>
#include <pthread.h>
#include <string.h>

/* The first byte of what is digested. Changed when what goes in changes, so that old answers are not found by it. */
enum key_kind { KEY_OF_CHAT = 0x11, KEY_OF_EMBED = 0x12, KEY_OF_WORD = 0x13 };

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

static void check(int good)
{
    if (good != 1)
        fatal("recall.digest", "libcrypto has no SHA-256, or no memory for it");
}

static void flush(struct digest *digest)
{
    check(EVP_DigestUpdate(digest->context, digest->stage, digest->staged));
    digest->staged = 0;
}

static void append(ProtobufCBuffer *buffer, size_t size, const uint8_t *bytes)
{
    struct digest *digest = (struct digest *)buffer;
    if (size > STAGE_SIZE - digest->staged) {
        flush(digest);
        if (size > STAGE_SIZE) {
            check(EVP_DigestUpdate(digest->context, bytes, size));
            return;
        }
    }
    memcpy(digest->stage + digest->staged, bytes, size);
    digest->staged += size;
}

static void begin(struct digest *digest, enum key_kind kind, const char *tenant)
{
    const uint64_t size = strlen(tenant);
    pthread_once(&fetched, fetch);
    digest->base.append = append;
    digest->staged = 0;
    digest->context = EVP_MD_CTX_new();
    check(sha256 && digest->context && EVP_DigestInit_ex2(digest->context, sha256, NULL));
    digest->stage[digest->staged++] = (uint8_t)kind;
    append(&digest->base, sizeof size, (const uint8_t *)&size);
    append(&digest->base, size, (const uint8_t *)tenant);
}

static void end(struct digest *digest, struct recall_key *key)
{
    flush(digest);
    check(EVP_DigestFinal_ex(digest->context, key->bytes, NULL));
    EVP_MD_CTX_free(digest->context);
}

void recall_key_of_chat(const char *tenant, const Renga__V1__ChatRequest *request, struct recall_key *key)
{
    struct digest digest;
    Renga__V1__ChatRequest content = *request;
    content.cache = NULL;
    content.idempotency_key = (char *)(uintptr_t)protobuf_c_empty_string;
    content.priority = RENGA__V1__PRIORITY__PRIORITY_UNSPECIFIED;
    content.origin = NULL;
    content.max_model_calls = 0;
    begin(&digest, KEY_OF_CHAT, tenant);
    protobuf_c_message_pack_to_buffer(&content.base, &digest.base);
    end(&digest, key);
}

void recall_key_of_embed(const char *tenant, const Renga__V1__EmbedRequest *request, struct recall_key *key)
{
    struct digest digest;
    Renga__V1__EmbedRequest content = *request;
    content.cache = NULL;
    content.priority = RENGA__V1__PRIORITY__PRIORITY_UNSPECIFIED;
    content.origin = NULL;
    begin(&digest, KEY_OF_EMBED, tenant);
    protobuf_c_message_pack_to_buffer(&content.base, &digest.base);
    end(&digest, key);
}

void recall_key_of_word(const char *tenant, const char *word, struct recall_key *key)
{
    struct digest digest;
    begin(&digest, KEY_OF_WORD, tenant);
    append(&digest.base, strlen(word), (const uint8_t *)word);
    end(&digest, key);
}
