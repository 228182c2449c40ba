#include "redis/link_tls.h"

#include "base/memory.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

struct redis_tls {
    SSL_CTX *context;
    SSL *connection;
};

static bool link_tls_load(SSL_CTX *context, const struct redis_link_options *options, struct status *st)
{
    if (options->authorities == NULL)
        SSL_CTX_set_default_verify_paths(context);
    else if (SSL_CTX_load_verify_locations(context, options->authorities, NULL) != 1)
        return fail(st, FAILED_PRECONDITION, "%s has no certificates of authorities", options->authorities);
    if (options->certificate != NULL && SSL_CTX_use_certificate_chain_file(context, options->certificate) != 1)
        return fail(st, FAILED_PRECONDITION, "%s has no certificate", options->certificate);
    if (options->key != NULL && SSL_CTX_use_PrivateKey_file(context, options->key, SSL_FILETYPE_PEM) != 1)
        return fail(st, FAILED_PRECONDITION, "%s has no key, or not that of the certificate", options->key);
    return true;
}

/* An address is compared with the certificate's addresses, a name with its names. */
static bool expect_peer(SSL *connection, const char *host)
{
    if (X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(connection), host) == 1)
        return true;
    char name[REDIS_HOST_MAX]; /* OpenSSL takes it as its own to change */
    snprintf(name, sizeof name, "%s", host);
    return SSL_set1_host(connection, host) == 1 && SSL_set_tlsext_host_name(connection, name) == 1;
}

struct redis_tls *redis_tls_create(const struct redis_link_options *options, int fd, struct status *st)
{
    struct redis_tls *tls = calloc(1, sizeof *tls);
    bool made = tls != NULL && (tls->context = SSL_CTX_new(TLS_client_method())) != NULL;
    if (made && !link_tls_load(tls->context, options, st)) {
        ERR_clear_error();
        redis_tls_destroy(&tls);
        return NULL;
    }
    if (made) {
        SSL_CTX_set_min_proto_version(tls->context, TLS1_2_VERSION);
        SSL_CTX_set_verify(tls->context, SSL_VERIFY_PEER, NULL);
        SSL_CTX_set_mode(tls->context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
        tls->connection = SSL_new(tls->context);
    }
    if (tls == NULL || tls->connection == NULL || !expect_peer(tls->connection, options->target->host) ||
        SSL_set_fd(tls->connection, fd) != 1) {
        fail_memory(st, "TLS");
        redis_tls_destroy(&tls);
        return NULL;
    }
    SSL_set_connect_state(tls->connection);
    return tls;
}

void redis_tls_destroy(struct redis_tls **tls)
{
    if (*tls == NULL)
        return;
    SSL_free((*tls)->connection);
    SSL_CTX_free((*tls)->context);
    free(*tls);
    *tls = NULL;
}

/* Translates OpenSSL's result into that of a socket call. */
static ssize_t link_tls_outcome(const struct redis_tls *tls, int result, short *events)
{
    if (result > 0)
        return result;
    int error = SSL_get_error(tls->connection, result);
    ERR_clear_error();
    if (error == SSL_ERROR_ZERO_RETURN)
        return 0;
    bool waits = error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE;
    *events = error == SSL_ERROR_WANT_WRITE ? POLLOUT : POLLIN;
    errno = waits ? EAGAIN : ECONNRESET;
    return -1;
}

static int within_int(size_t size)
{
    return size > 1 << 20 ? 1 << 20 : (int)size;
}

int redis_tls_handshake(struct redis_tls *tls, short *events)
{
    return link_tls_outcome(tls, SSL_do_handshake(tls->connection), events) > 0 ? 0 : -1;
}

ssize_t redis_tls_recv(struct redis_tls *tls, void *bytes, size_t size, short *events)
{
    return link_tls_outcome(tls, SSL_read(tls->connection, bytes, within_int(size)), events);
}

ssize_t redis_tls_send(struct redis_tls *tls, const void *bytes, size_t size, short *events)
{
    return link_tls_outcome(tls, SSL_write(tls->connection, bytes, within_int(size)), events);
}

bool redis_tls_distrusts(const struct redis_tls *tls)
{
    return SSL_get_verify_result(tls->connection) != X509_V_OK;
}
