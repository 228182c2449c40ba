/* Certificates of mail, as nng takes them. Private to the mail. */
#ifndef RENGA_ORCHESTRATOR_MAILBOX_TLS_H
#define RENGA_ORCHESTRATOR_MAILBOX_TLS_H

#include "mailbox.h"

#include <nng/nng.h>
#include <nng/supplemental/tls/tls.h>

/* From its files, for a mailbox or a connection there; NULL if the address is not one of TLS. It is never freed: each
 * renewal adds a few certificates in memory. Errors: INVALID_ARGUMENT, UNAVAILABLE, with the file. */
bool mail_tls_read(const char *address, const struct mail_tls *tls, nng_tls_mode mode, nng_tls_config **config,
                   struct status *st);

#endif
