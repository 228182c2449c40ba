#include "tls_peer.h"

#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define REQUEST_MAX (256u << 10)

static X509 *certificate_of(EVP_PKEY *key)
{
    X509 *certificate = X509_new();
    X509_set_version(certificate, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
    X509_gmtime_adj(X509_getm_notBefore(certificate), -60);
    X509_gmtime_adj(X509_getm_notAfter(certificate), 3600);
    X509_set_pubkey(certificate, key);
    X509_NAME *name = X509_get_subject_name(certificate);
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, (const unsigned char *)"peer", -1, -1, 0);
    X509_set_issuer_name(certificate, name);
    X509_EXTENSION *hosts = X509V3_EXT_conf_nid(NULL, NULL, NID_subject_alt_name, "IP:127.0.0.1");
    X509_add_ext(certificate, hosts, -1);
    X509_EXTENSION_free(hosts);
    if (!X509_sign(certificate, key, EVP_sha256()))
        abort();
    return certificate;
}

SSL_CTX *tls_peer_context(char *path)
{
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *certificate = certificate_of(key);
    SSL_CTX *context = SSL_CTX_new(TLS_server_method());
    if (SSL_CTX_use_certificate(context, certificate) != 1 || SSL_CTX_use_PrivateKey(context, key) != 1)
        abort();
    FILE *file = fdopen(mkstemp(path), "w");
    if (!file || !PEM_write_X509(file, certificate))
        abort();
    fclose(file);
    X509_free(certificate);
    EVP_PKEY_free(key);
    return context;
}

SSL *tls_peer_accept(SSL_CTX *context, int fd)
{
    SSL *ssl = SSL_new(context);
    SSL_set_fd(ssl, fd);
    if (SSL_accept(ssl) == 1)
        return ssl;
    SSL_free(ssl);
    return NULL;
}

bool tls_peer_read_request(struct peer *peer, SSL *ssl)
{
    static char text[REQUEST_MAX];
    size_t length = 0, need = 0;
    while (!need || length < need) {
        if (!SSL_pending(ssl) && !peer_wait_readable(peer, SSL_get_fd(ssl)))
            return false;
        int got = SSL_read(ssl, text + length, (int)(sizeof text - 1 - length));
        if (got <= 0)
            return false;
        length += (size_t)got;
        text[length] = '\0';
        const char *end = strstr(text, "\r\n\r\n"), *size = strcasestr(text, "content-length:");
        if (end && !need)
            need = (size_t)(end + 4 - text) + (size && size < end ? strtoul(size + 15, NULL, 10) : 0);
    }
    return true;
}

void tls_peer_send(SSL *ssl, const void *bytes, size_t size)
{
    if (SSL_write(ssl, bytes, (int)size) <= 0)
        return;
}
