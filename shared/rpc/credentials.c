/* This design follows the behaviour of libgrpc 1.51.1 with changing files, found by test handshakes.
 *
 * Server: its SSL credentials ask a callback of ours at each handshake. The certificates that it gives are used at
 * once, no thread is needed, and without new certificates the old ones stay.
 *
 * Channel: only its "TLS" credentials can change certificates, through a provider that reads files each second. The
 * provider does not check the files: after a half-written key, a key of another certificate, or a missing file, every
 * handshake fails until it is repaired. So it does not read the files, but checked copies in memory:
 *
 *      files --(our thread, 4 × a second, if they hold together)--> memfd --(gRPC's thread, each second)--> handshakes
 *
 * A copy is replaced by putting another memfd in its descriptor's place, so that it is never half there. Certificate
 * and key are a single copy: separate reads might give different generations. */
#include "rpc/credentials.h"

#include "base/log.h"
#include "base/memory.h"
#include "rpc/tls_files.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define REFRESH_MS       250 /* between two checks of the files of channels */
#define PROVIDER_SECONDS 1   /* between two looks of gRPC's at the copies; the least it takes */

/* ---- Server ------------------------------------------------------------------------------------------------------ */

struct server_source {
    pthread_mutex_t lock;
    struct rpc_tls_files *files;
    bool given; /* gRPC has been given certificates */
};

static grpc_ssl_certificate_config_reload_status server_certificates_fetch(void *data,
                                                                           grpc_ssl_server_certificate_config **config)
{
    struct server_source *source = data;
    pthread_mutex_lock(&source->lock);
    bool changed = rpc_tls_files_refresh(source->files) || !source->given;
    if (changed) {
        const struct rpc_tls_pem *pem = rpc_tls_files_pem(source->files);
        grpc_ssl_pem_key_cert_pair pair = {.private_key = pem->key, .cert_chain = pem->certificate};
        /* gRPC aborts without authorities, even if no client is asked for a certificate; in that case it does not use
         * them. */
        *config =
            grpc_ssl_server_certificate_config_create(pem->authorities ? pem->authorities : pem->certificate, &pair, 1);
        source->given = true;
    }
    pthread_mutex_unlock(&source->lock);
    return changed ? GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_NEW : GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_UNCHANGED;
}

static void server_source_destroy(void *data)
{
    struct server_source *source = data;
    pthread_mutex_lock(
        &source->lock); /* no thread holds it: TSan, blind inside gRPC, learns that the last fetch is over */
    pthread_mutex_unlock(&source->lock);
    pthread_mutex_destroy(&source->lock);
    rpc_tls_files_close(&source->files);
    free(source);
}

grpc_server_credentials *rpc_tls_server_credentials(const struct rpc_tls *tls, struct status *st)
{
    if (!tls->certificate) {
        fail(st, INVALID_ARGUMENT, "a server with TLS needs a certificate and its key; give both files");
        return NULL;
    }
    struct rpc_tls_files *files = rpc_tls_files_open(tls, st);
    struct server_source *source = files ? calloc(1, sizeof *source) : NULL;
    if (!source) {
        if (files)
            fail_memory(st, "certificates");
        rpc_tls_files_close(&files);
        return NULL;
    }
    pthread_mutex_init(&source->lock, NULL);
    source->files = files;
    grpc_server_credentials *credentials =
        grpc_ssl_server_credentials_create_with_options(grpc_ssl_server_credentials_create_options_using_config_fetcher(
            tls->client_certificate ? GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY
                                    : GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE,
            server_certificates_fetch, source));
    if (!credentials) {
        server_source_destroy(source);
        fail(st, INTERNAL, "gRPC does not take the certificate in '%s'", tls->certificate);
        return NULL;
    }
    /* A processor without a function does no work; it exists for its `destroy`, which runs when the credentials end. */
    grpc_server_credentials_set_auth_metadata_processor(
        credentials, (grpc_auth_metadata_processor){.destroy = server_source_destroy, .state = source});
    return credentials;
}

/* ---- Channel ----------------------------------------------------------------------------------------------------- */

struct channel_source {
    struct rpc_tls_files *files;
    int identity; /* descriptors of the copies; -1: we have no certificate */
    int authorities;
    unsigned generation;
    grpc_tls_certificate_verifier *host_name;
    grpc_tls_certificate_verifier_external verifier;
    struct channel_source *next;
};

/* All channels' sources, and the thread that looks after them while there are any. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t emptied;
    struct channel_source *first;
    bool running;
} watcher = {.lock = PTHREAD_MUTEX_INITIALIZER, .emptied = PTHREAD_COND_INITIALIZER};

static bool credentials_write_all(int fd, const char *text)
{
    for (size_t left = text ? strlen(text) : 0; left > 0;) {
        ssize_t written = write(fd, text, left);
        if (written < 0 && errno != EINTR)
            return false;
        text += written > 0 ? written : 0;
        left -= written > 0 ? (size_t)written : 0;
    }
    return true;
}

/* Puts a copy with this content into `*fd`, which is opened if necessary. The time of the copy is its generation: gRPC
 * compares whole seconds of it to detect a change between two reads. */
static bool copy_put(int *fd, unsigned generation, const char *first, const char *second)
{
    int copy = memfd_create("renga-tls", MFD_CLOEXEC);
    struct timespec times[2] = {{.tv_sec = generation}, {.tv_sec = generation}};
    if (copy < 0)
        return false;
    bool put = fchmod(copy, 0600) == 0 && credentials_write_all(copy, first) && credentials_write_all(copy, second) &&
               futimens(copy, times) == 0 && (*fd < 0 || dup3(copy, *fd, O_CLOEXEC) >= 0);
    if (put && *fd < 0) {
        *fd = copy;
        return true;
    }
    close(copy);
    return put;
}

static bool copies_put(struct channel_source *source)
{
    const struct rpc_tls_pem *pem = rpc_tls_files_pem(source->files);
    source->generation++;
    if (pem->certificate && !copy_put(&source->identity, source->generation, pem->key, pem->certificate))
        return false;
    return copy_put(&source->authorities, source->generation, pem->authorities, NULL);
}

static void *sources_watch(void *data)
{
    pthread_mutex_lock(&watcher.lock);
    while (watcher.first) {
        for (struct channel_source *source = watcher.first; source; source = source->next) {
            if (rpc_tls_files_refresh(source->files) && !copies_put(source))
                log_warn("rpc.tls_kept", "no room for a copy of new certificates (%s)", strerrordesc_np(errno));
        }
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += REFRESH_MS * 1000000L;
        until.tv_sec += until.tv_nsec / 1000000000L;
        until.tv_nsec %= 1000000000L;
        pthread_cond_clockwait(&watcher.emptied, &watcher.lock, CLOCK_MONOTONIC, &until);
    }
    watcher.running = false;
    pthread_mutex_unlock(&watcher.lock);
    return NULL;
}

static bool source_watch(struct channel_source *source)
{
    pthread_t thread;
    pthread_mutex_lock(&watcher.lock);
    if (!watcher.running) {
        watcher.running = pthread_create(&thread, NULL, sources_watch, NULL) == 0;
        if (watcher.running)
            pthread_detach(thread);
    }
    bool running = watcher.running;
    if (running) {
        source->next = watcher.first;
        watcher.first = source;
    }
    pthread_mutex_unlock(&watcher.lock);
    return running;
}

static void channel_source_destroy(void *data)
{
    struct channel_source *source = data;
    pthread_mutex_lock(&watcher.lock);
    for (struct channel_source **at = &watcher.first; *at; at = &(*at)->next) {
        if (*at == source) {
            *at = source->next;
            break;
        }
    }
    if (!watcher.first)
        pthread_cond_signal(&watcher.emptied);
    pthread_mutex_unlock(&watcher.lock);
    if (source->identity >= 0)
        close(source->identity);
    if (source->authorities >= 0)
        close(source->authorities);
    if (source->host_name)
        grpc_tls_certificate_verifier_release(source->host_name);
    rpc_tls_files_close(&source->files);
    free(source);
}

/* gRPC's own check of the host name; the verifier around it is there for its end, which is that of the credentials. */
static int peer_verify(void *data, grpc_tls_custom_verification_check_request *request,
                       grpc_tls_on_custom_verification_check_done_cb callback, void *callback_data,
                       grpc_status_code *code, char **details)
{
    struct channel_source *source = data;
    return grpc_tls_certificate_verifier_verify(source->host_name, request, callback, callback_data, code, details);
}

static void peer_verify_cancel(void *data, grpc_tls_custom_verification_check_request *request)
{
    struct channel_source *source = data;
    grpc_tls_certificate_verifier_cancel(source->host_name, request);
}

static grpc_channel_credentials *channel_credentials(struct channel_source *source)
{
    char identity[32], authorities[32];
    snprintf(identity, sizeof identity, "/proc/self/fd/%d", source->identity);
    snprintf(authorities, sizeof authorities, "/proc/self/fd/%d", source->authorities);
    bool has_identity = source->identity >= 0;
    grpc_tls_certificate_provider *provider = grpc_tls_certificate_provider_file_watcher_create(
        has_identity ? identity : NULL, has_identity ? identity : NULL, authorities, PROVIDER_SECONDS);
    source->verifier = (grpc_tls_certificate_verifier_external){
        .user_data = source, .verify = peer_verify, .cancel = peer_verify_cancel, .destruct = channel_source_destroy};
    grpc_tls_certificate_verifier *verifier = grpc_tls_certificate_verifier_external_create(&source->verifier);
    grpc_tls_credentials_options *options = grpc_tls_credentials_options_create();
    grpc_tls_credentials_options_set_certificate_provider(options, provider);
    grpc_tls_credentials_options_watch_root_certs(options);
    if (has_identity)
        grpc_tls_credentials_options_watch_identity_key_cert_pairs(options);
    grpc_tls_credentials_options_set_certificate_verifier(options, verifier);
    grpc_tls_certificate_verifier_release(verifier);
    grpc_tls_certificate_provider_release(provider);
    return grpc_tls_credentials_create(options);
}

/* The system's file of authorities. gRPC would find it too; given as a path it is checked and watched like any file. */
static const char *system_authorities(void)
{
    static const char *const places[] = {
        "/etc/ssl/certs/ca-certificates.crt", /* Debian, Alpine */
        "/etc/pki/tls/certs/ca-bundle.crt",   /* Fedora */
        "/etc/ssl/cert.pem",
    };
    const char *chosen = secure_getenv("SSL_CERT_FILE"); /* as OpenSSL has it */
    if (chosen)
        return chosen;
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        if (access(places[i], R_OK) == 0)
            return places[i];
    }
    return NULL;
}

grpc_channel_credentials *rpc_tls_channel_credentials(const struct rpc_tls *tls, struct status *st)
{
    struct rpc_tls used = *tls;
    if (!used.authorities)
        used.authorities = system_authorities();
    if (!used.authorities) {
        fail(st, FAILED_PRECONDITION,
             "this system has no list of authorities to trust; install ca-certificates, or "
             "give the file of the authorities that sign the peer's certificate");
        return NULL;
    }
    struct rpc_tls_files *files = rpc_tls_files_open(&used, st);
    struct channel_source *source = files ? calloc(1, sizeof *source) : NULL;
    if (!source) {
        if (files)
            fail_memory(st, "certificates");
        rpc_tls_files_close(&files);
        return NULL;
    }
    source->files = files;
    source->identity = source->authorities = -1;
    /* All members that the end reads are written before the watcher's lock: gRPC may end the source on its own
     * thread. */
    source->host_name = grpc_tls_certificate_verifier_host_name_create();
    if (!copies_put(source) || !source_watch(source)) {
        fail(st, UNAVAILABLE, "no descriptor or thread for watching certificates (%s)", strerrordesc_np(errno));
        channel_source_destroy(source);
        return NULL;
    }
    return channel_credentials(source);
}
