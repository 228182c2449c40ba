#include "mailbox_tls.h"

#include "base/file.h"
#include "base/log.h"
#include "base/memory.h"

#include <arpa/inet.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define PEM_MAX ((size_t)1 << 20)

/* All that were ever read. */
struct kept {
    nng_tls_config *config;
    struct kept *next;
};

static struct kept *_Atomic all_kept;

bool mail_is_tls(const char *address)
{
    return strncmp(address, "tls", 3) == 0;
}

static bool read_pem(const char *path, struct buffer *text, struct status *st)
{
    buffer_init(text, PEM_MAX);
    return (path && *path) ? file_read(path, text, st)
                           : fail(st, INVALID_ARGUMENT, "mail over TLS needs a certificate, its key and authorities");
}

static bool mailbox_tls_fill(nng_tls_config *config, const struct mail_tls *tls, struct status *st)
{
    struct buffer certificate, key, authorities;
    bool read = read_pem(tls->certificate, &certificate, st);
    read = read_pem(tls->key, &key, read ? st : &(struct status){0}) && read;
    read = read_pem(tls->authorities, &authorities, read ? st : &(struct status){0}) && read;
    int error = read ? nng_tls_config_own_cert(config, buffer_text(&certificate), buffer_text(&key), NULL) : 0;
    if (error)
        fail(st, UNAVAILABLE, "no TLS with %s: %s", tls->certificate, nng_strerror(error));
    int second = read && !error ? nng_tls_config_ca_chain(config, buffer_text(&authorities), NULL) : 0;
    if (second)
        fail(st, UNAVAILABLE, "no TLS with %s: %s", tls->authorities, nng_strerror(second));
    if (key.data)
        explicit_bzero(key.data, key.length);
    buffer_fini(&certificate);
    buffer_fini(&key);
    buffer_fini(&authorities);
    return read && !error && !second;
}

static bool mailbox_tls_has_name(const struct mail_tls *tls)
{
    return tls && tls->name && *tls->name;
}

static void host_of(const char *address, char host[MAIL_ADDRESS_MAX])
{
    const char *from = strstr(address, "://"), *to = strrchr(address, ':');
    from = from ? from + 3 : address;
    snprintf(host, MAIL_ADDRESS_MAX, "%.*s", to > from ? (int)(to - from) : 0, from);
}

bool mail_names(const char *address, const struct mail_tls *tls, struct status *st)
{
    char host[MAIL_ADDRESS_MAX];
    struct in_addr number;
    host_of(address, host);
    return !mail_is_tls(address) || mailbox_tls_has_name(tls) ||
           (*host != '[' && inet_pton(AF_INET, host, &number) != 1) ||
           fail(st, INVALID_ARGUMENT,
                "the host of %s is a number, with which no certificate's name is compared: set peers.tls.name",
                address);
}

/* Our TLS configuration replaces nng's, so the server name is set here. */
static void expect_name(nng_tls_config *config, const char *address, const struct mail_tls *tls)
{
    char host[MAIL_ADDRESS_MAX];
    host_of(address, host);
    nng_tls_config_server_name(config, mailbox_tls_has_name(tls) ? tls->name : host);
}

/* Kept: a thread of nng's may be about to use the replaced configuration, and has no reference to it yet. */
static void mailbox_tls_keep(nng_tls_config *config)
{
    struct kept *kept = xmalloc(sizeof *kept);
    kept->config = config;
    kept->next = atomic_load(&all_kept);
    while (!atomic_compare_exchange_weak(&all_kept, &kept->next, kept))
        continue;
}

bool mail_tls_read(const char *address, const struct mail_tls *tls, nng_tls_mode mode, nng_tls_config **config,
                   struct status *st)
{
    *config = NULL;
    if (!mail_is_tls(address))
        return true;
    if (!tls)
        return fail(st, INVALID_ARGUMENT, "mail over TLS needs a certificate, its key and authorities");
    if (mode == NNG_TLS_MODE_CLIENT && !mail_names(address, tls, st))
        return false;
    if (nng_tls_config_alloc(config, mode) != 0)
        fatal("orchestrator.memory", "no memory for a configuration of TLS");
    nng_tls_config_auth_mode(*config, NNG_TLS_AUTH_MODE_REQUIRED);
    if (mode == NNG_TLS_MODE_CLIENT)
        expect_name(*config, address, tls);
    if (mailbox_tls_fill(*config, tls, st)) {
        mailbox_tls_keep(*config);
        return true;
    }
    nng_tls_config_free(*config);
    *config = NULL;
    return false;
}
