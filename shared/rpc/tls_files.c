#include "rpc/tls_files.h"

#include "base/file.h"
#include "base/log.h"
#include "base/memory.h"

#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <stdlib.h>
#include <string.h>

#define FILE_SIZE_MAX (1u << 20) /* bytes; the system's own authorities are 220 KB */

enum file { FILE_CERTIFICATE, FILE_KEY, FILE_AUTHORITIES, FILES };

struct rpc_tls_files {
    char *paths[FILES];
    struct file_stamp stamps[FILES];
    bool settled; /* the stamps are old enough to be trusted */
    struct rpc_tls_pem pem;
};

/* ---- Understanding ----------------------------------------------------------------------------------------------- */

static BIO *bio_over(const char *pem)
{
    return BIO_new_mem_buf(pem, -1);
}

/* No user is present to enter a pass phrase. */
static int no_passphrase(char *buffer, int size, int writing, void *data)
{
    return -1;
}

static const char *openssl_reason(void)
{
    const char *reason = ERR_reason_error_string(ERR_peek_last_error());
    return reason ? reason : "not PEM";
}

/* Every certificate of a bundle; returns the first. */
static X509 *certificates_parse(const char *path, const char *pem, struct status *st)
{
    BIO *bio = bio_over(pem);
    X509 *first = bio ? PEM_read_bio_X509(bio, NULL, no_passphrase, NULL) : NULL;
    if (!first) {
        fail(st, INVALID_ARGUMENT, "'%s' holds no certificate that can be read (%s); give it in PEM, leaf first", path,
             openssl_reason());
        BIO_free(bio);
        return NULL;
    }
    for (X509 *more; (more = PEM_read_bio_X509(bio, NULL, no_passphrase, NULL)) != NULL;)
        X509_free(more);
    unsigned long error = ERR_peek_last_error();
    BIO_free(bio);
    if (ERR_GET_LIB(error) == ERR_LIB_PEM && ERR_GET_REASON(error) == PEM_R_NO_START_LINE)
        return first; /* the end */
    fail(st, INVALID_ARGUMENT, "'%s' holds a certificate that cannot be read (%s); it may be cut short", path,
         openssl_reason());
    X509_free(first);
    return NULL;
}

static EVP_PKEY *key_parse(const char *path, const char *pem, struct status *st)
{
    BIO *bio = bio_over(pem);
    EVP_PKEY *key = bio ? PEM_read_bio_PrivateKey(bio, NULL, no_passphrase, NULL) : NULL;
    BIO_free(bio);
    if (!key)
        fail(st, INVALID_ARGUMENT,
             "'%s' holds no private key that can be read (%s); give it in PEM, without pass phrase", path,
             openssl_reason());
    return key;
}

static bool identity_check(char *const *paths, const struct rpc_tls_pem *pem, struct status *st)
{
    X509 *certificate = certificates_parse(paths[FILE_CERTIFICATE], pem->certificate, st);
    EVP_PKEY *key = certificate ? key_parse(paths[FILE_KEY], pem->key, st) : NULL;
    bool matches = key && X509_check_private_key(certificate, key) == 1;
    if (key && !matches)
        fail(st, INVALID_ARGUMENT, "the key in '%s' is not that of the first certificate in '%s'", paths[FILE_KEY],
             paths[FILE_CERTIFICATE]);
    if (matches && X509_cmp_current_time(X509_get0_notAfter(certificate)) < 0)
        log_warn("rpc.tls_expired", "the certificate in '%s' has expired; peers will refuse it",
                 paths[FILE_CERTIFICATE]);
    X509_free(certificate);
    EVP_PKEY_free(key);
    return matches;
}

static bool pem_check(char *const *paths, const struct rpc_tls_pem *pem, struct status *st)
{
    bool valid = true;
    ERR_clear_error();
    if (pem->certificate)
        valid = identity_check(paths, pem, st);
    if (valid && pem->authorities) {
        X509 *first = certificates_parse(paths[FILE_AUTHORITIES], pem->authorities, st);
        valid = first != NULL;
        X509_free(first);
    }
    ERR_clear_error();
    return valid;
}

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

static void secret_free(char *text)
{
    if (text)
        OPENSSL_cleanse(text, strlen(text));
    free(text);
}

static void pem_free(struct rpc_tls_pem *pem)
{
    free(pem->certificate);
    secret_free(pem->key);
    free(pem->authorities);
    *pem = (struct rpc_tls_pem){0};
}

static bool tls_files_text_read(const char *path, char **text, struct status *st)
{
    struct buffer buffer;
    if (!path)
        return true;
    buffer_init(&buffer, FILE_SIZE_MAX);
    bool read = file_read(path, &buffer, st);
    if (read) {
        buffer_put(&buffer, '\n');
        *text = buffer_take(&buffer, NULL);
        read = *text || fail(st, RESOURCE_EXHAUSTED, "'%s' is longer than %u bytes", path, FILE_SIZE_MAX);
    }
    buffer_fini(&buffer);
    return read;
}

static bool pem_read(char *const *paths, struct rpc_tls_pem *pem, struct status *st)
{
    *pem = (struct rpc_tls_pem){0};
    if (tls_files_text_read(paths[FILE_CERTIFICATE], &pem->certificate, st) &&
        tls_files_text_read(paths[FILE_KEY], &pem->key, st) &&
        tls_files_text_read(paths[FILE_AUTHORITIES], &pem->authorities, st) && pem_check(paths, pem, st))
        return true;
    pem_free(pem);
    return false;
}

static bool tls_files_same(const char *a, const char *b)
{
    return (!a && !b) || (a && b && strcmp(a, b) == 0);
}

static void stamps_take(char *const *paths, struct file_stamp stamps[FILES])
{
    memset(stamps, 0, FILES * sizeof *stamps);
    for (size_t i = 0; i < FILES; i++)
        if (paths[i])
            file_stamp_take(paths[i], &stamps[i]);
}

static bool stamps_equal(const struct file_stamp a[FILES], const struct file_stamp b[FILES])
{
    for (int i = 0; i < FILES; i++)
        if (!file_stamps_equal(&a[i], &b[i]))
            return false;
    return true;
}

static bool stamps_settled(const struct file_stamp stamps[FILES])
{
    for (size_t i = 0; i < FILES; i++)
        if (!file_stamp_is_settled(&stamps[i]))
            return false;
    return true;
}

bool rpc_tls_files_refresh(struct rpc_tls_files *files)
{
    struct file_stamp stamps[FILES];
    struct rpc_tls_pem pem;
    struct status st = {0};
    stamps_take(files->paths, stamps);
    bool changed = !stamps_equal(stamps, files->stamps);
    if (!changed && files->settled)
        return false;
    memcpy(files->stamps, stamps, sizeof stamps);
    files->settled = stamps_settled(stamps);
    if (!pem_read(files->paths, &pem, &st)) {
        if (changed)
            log_warn("rpc.tls_kept", "%s; the certificates that were read before stay in use", st.text);
        return false;
    }
    if (tls_files_same(pem.certificate, files->pem.certificate) && tls_files_same(pem.key, files->pem.key) &&
        tls_files_same(pem.authorities, files->pem.authorities)) {
        pem_free(&pem);
        return false;
    }
    pem_free(&files->pem);
    files->pem = pem;
    log_info("rpc.tls_reloaded", "new handshakes use the new content of '%s'",
             files->paths[files->pem.certificate ? FILE_CERTIFICATE : FILE_AUTHORITIES]);
    return true;
}

/* ---- Opening ----------------------------------------------------------------------------------------------------- */

static bool path_copy(char **copy, const char *path, struct status *st)
{
    *copy = path ? strdup(path) : NULL;
    return !path || *copy || fail_memory(st, "the paths of certificates");
}

static bool configuration_check(const struct rpc_tls *tls, struct status *st)
{
    if (!tls->certificate != !tls->key)
        return fail(st, INVALID_ARGUMENT, "TLS has a %s and no %s; give both", tls->key ? "key" : "certificate",
                    tls->key ? "certificate" : "key");
    if (tls->client_certificate && !tls->authorities)
        return fail(
            st, INVALID_ARGUMENT,
            "clients are asked for certificates and nobody is trusted to sign them; give the authorities' file");
    return true;
}

struct rpc_tls_files *rpc_tls_files_open(const struct rpc_tls *tls, struct status *st)
{
    if (!configuration_check(tls, st))
        return NULL;
    struct rpc_tls_files *files = calloc(1, sizeof *files);
    if (!files) {
        fail_memory(st, "certificates");
        return NULL;
    }
    if (path_copy(&files->paths[FILE_CERTIFICATE], tls->certificate, st) &&
        path_copy(&files->paths[FILE_KEY], tls->key, st) &&
        path_copy(&files->paths[FILE_AUTHORITIES], tls->authorities, st)) {
        stamps_take(files->paths, files->stamps);
        files->settled = stamps_settled(files->stamps);
        if (pem_read(files->paths, &files->pem, st))
            return files;
    }
    rpc_tls_files_close(&files);
    return NULL;
}

void rpc_tls_files_close(struct rpc_tls_files **files)
{
    if (!*files)
        return;
    for (size_t i = 0; i < FILES; i++)
        free((*files)->paths[i]);
    pem_free(&(*files)->pem);
    free(*files);
    *files = NULL;
}

const struct rpc_tls_pem *rpc_tls_files_pem(const struct rpc_tls_files *files)
{
    return &files->pem;
}

bool rpc_tls_check(const struct rpc_tls *tls, struct status *st)
{
    struct rpc_tls_files *files = rpc_tls_files_open(tls, st);
    bool valid = files != NULL;
    rpc_tls_files_close(&files);
    return valid;
}
