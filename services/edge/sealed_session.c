/* nonce, 12 bytes | encrypted: begun_s, used_s, id, authorization | tag, 16 bytes */
#include "sealed_session.h"

#include "base/sha256.h"
#include "base64.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <string.h>
#include <sys/random.h>

#define NONCE_SIZE 12
#define TAG_SIZE   16
#define HEAD_SIZE  (2 * sizeof(int64_t) + SEALED_ID_SIZE)
#define PLAIN_MAX  (HEAD_SIZE + SEALED_AUTHORIZATION_SIZE)
#define SEALED_MAX (NONCE_SIZE + PLAIN_MAX + TAG_SIZE)

_Static_assert(BASE64_SIZE(SEALED_MAX) < SEALED_TEXT_SIZE, "the longest session fits");

/* The form of the text, which is authenticated with it. */
static const uint8_t sealed_form[] = "renga edge session 1";

void sealed_session_key(const char *secret, uint8_t key[SEALED_KEY_SIZE])
{
    struct sha256 sha256;
    sha256_begin(&sha256);
    sha256_add(&sha256, sealed_form, sizeof sealed_form);
    sha256_add(&sha256, secret, strlen(secret));
    sha256_end(&sha256, key);
}

static bool sealed_encrypt(EVP_CIPHER_CTX *cipher, const uint8_t *key, const uint8_t *plain, size_t size,
                           uint8_t *sealed)
{
    int length;
    return EVP_EncryptInit_ex(cipher, EVP_aes_256_gcm(), NULL, key, sealed) == 1 &&
           EVP_EncryptUpdate(cipher, NULL, &length, sealed_form, sizeof sealed_form) == 1 &&
           EVP_EncryptUpdate(cipher, sealed + NONCE_SIZE, &length, plain, (int)size) == 1 &&
           EVP_EncryptFinal_ex(cipher, sealed + NONCE_SIZE + size, &length) == 1 &&
           EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_GCM_GET_TAG, TAG_SIZE, sealed + NONCE_SIZE + size) == 1;
}

static bool sealed_decrypt(EVP_CIPHER_CTX *cipher, const uint8_t *key, uint8_t *sealed, size_t size, uint8_t *plain)
{
    int length;
    return EVP_DecryptInit_ex(cipher, EVP_aes_256_gcm(), NULL, key, sealed) == 1 &&
           EVP_DecryptUpdate(cipher, NULL, &length, sealed_form, sizeof sealed_form) == 1 &&
           EVP_DecryptUpdate(cipher, plain, &length, sealed + NONCE_SIZE, (int)size) == 1 &&
           EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_GCM_SET_TAG, TAG_SIZE, sealed + NONCE_SIZE + size) == 1 &&
           EVP_DecryptFinal_ex(cipher, plain + size, &length) == 1;
}

bool sealed_session_write(const uint8_t key[SEALED_KEY_SIZE], const struct sealed_session *session,
                          char text[SEALED_TEXT_SIZE])
{
    uint8_t plain[PLAIN_MAX], sealed[SEALED_MAX];
    size_t length = strlen(session->authorization), size = HEAD_SIZE + length;
    memcpy(plain, &session->begun_s, sizeof(int64_t));
    memcpy(plain + sizeof(int64_t), &session->used_s, sizeof(int64_t));
    memcpy(plain + 2 * sizeof(int64_t), session->id, SEALED_ID_SIZE);
    memcpy(plain + HEAD_SIZE, session->authorization, length);
    EVP_CIPHER_CTX *cipher = EVP_CIPHER_CTX_new();
    bool done =
        cipher && getrandom(sealed, NONCE_SIZE, 0) == NONCE_SIZE && sealed_encrypt(cipher, key, plain, size, sealed);
    EVP_CIPHER_CTX_free(cipher);
    OPENSSL_cleanse(plain, sizeof plain);
    if (!done)
        return false;
    size += NONCE_SIZE + TAG_SIZE;
    base64_encode(sealed, size, text);
    text[BASE64_SIZE(size)] = '\0';
    return true;
}

bool sealed_session_read(const uint8_t key[SEALED_KEY_SIZE], const char *text, size_t length,
                         struct sealed_session *session)
{
    uint8_t sealed[SEALED_TEXT_SIZE / 4 * 3 + 3], plain[PLAIN_MAX];
    size_t size;
    if (length >= SEALED_TEXT_SIZE || !base64_decode(text, length, sealed, &size) ||
        size < NONCE_SIZE + HEAD_SIZE + TAG_SIZE || size >= SEALED_MAX)
        return false;
    size -= NONCE_SIZE + TAG_SIZE;
    EVP_CIPHER_CTX *cipher = EVP_CIPHER_CTX_new();
    bool done = cipher && sealed_decrypt(cipher, key, sealed, size, plain);
    EVP_CIPHER_CTX_free(cipher);
    if (done) {
        *session = (struct sealed_session){0};
        memcpy(&session->begun_s, plain, sizeof(int64_t));
        memcpy(&session->used_s, plain + sizeof(int64_t), sizeof(int64_t));
        memcpy(session->id, plain + 2 * sizeof(int64_t), SEALED_ID_SIZE);
        memcpy(session->authorization, plain + HEAD_SIZE, size - HEAD_SIZE);
    }
    OPENSSL_cleanse(plain, sizeof plain);
    return done;
}
