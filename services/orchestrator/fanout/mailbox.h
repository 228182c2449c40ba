/* Mail between loops over nng: within a process by inproc://, between processes by tcp:// and tls+tcp://.
 *
 *      mail_connection_reserve, mail_connection_reserve, …   one datagram a visit of the loop   ---> mailbox:
 * received(mail)
 *
 * A datagram is a header, which the connection's owner stamps, and messages; they share datagrams, so that many cost
 * little more than one. Within a process messages of a connection arrive in their order, once, while both ends live.
 * Over a network a datagram may be lost, or come after a later one, when its connection breaks; a connection connects
 * again by itself, and headers have to tell what is missing. Nothing here ever waits: a datagram that the other end
 * does not take stays until its socket says that there is room, and mail_connection_waiting tells how much stands
 * there. Sockets are opened once and are never closed while the process lives: nng 1.5.2 may deadlock there. A
 * connection and a mailbox belong to their loop; all from inside it, but for opening. */
#ifndef RENGA_ORCHESTRATOR_MAILBOX_H
#define RENGA_ORCHESTRATOR_MAILBOX_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MAIL_ADDRESS_MAX 256 /* bytes, the NUL included */

struct loop;
struct mail;
struct mailbox;
struct mail_connection;

/* For tls+tcp://: paths of PEM files, read at each opening and renewing. Both ends show a certificate and ask for one.
 */
struct mail_tls {
    const char *certificate, *key;
    const char *authorities; /* who signed the other end's */
    const char *name;        /* that a mailbox's certificate has; NULL: the host of its address. For connections */
};
bool mail_is_tls(const char *address);
/* False, with the reason, where a connection there could not tell whose certificate it is shown: over TLS, without a
 * name, to a host that is a number. */
bool mail_names(const char *address, const struct mail_tls *tls, struct status *st);

/* ---- datagrams that came -------------------------------------------------------------------------------------------
 */

/* The next `size` bytes of it; NULL where it has no more. They stay until it is freed. */
const uint8_t *mail_take(struct mail *mail, size_t size);
/* Its next message; NULL at its end, with a size of 0, and where the rest is none, with any other. The header was taken
 * before. */
const uint8_t *mail_next(struct mail *mail, size_t *size);
size_t mail_size(const struct mail *mail); /* bytes not yet taken */
void mail_free(struct mail *mail);

/* Takes the datagram. */
typedef void mailbox_received(void *data, struct mail *mail);

/* Listens at an address of nng's, such as inproc://name. A datagram of more than `datagram_max` bytes is dropped by nng
 * where it comes over a network: connections are opened with the same figure and never write one. Any thread. */
struct mailbox *mailbox_open(const char *address, const struct mail_tls *tls, size_t datagram_max, struct status *st);
/* Reads the files again: connections that come from now on, but for the next one, are shown what they hold; those that
 * are open stay as they are. False, with the reason, where they cannot be used: then nothing changes. */
bool mailbox_renew(struct mailbox *mailbox, const char *address, const struct mail_tls *tls, struct status *st);
/* The port that it listens at, where its address had none of its own (tcp://host:0). */
int mailbox_port(const struct mailbox *mailbox);
bool mailbox_attach(struct mailbox *mailbox, struct loop *loop, mailbox_received *received, void *data);
/* Nothing is received any more; NULL is nothing. */
void mailbox_leave(struct mailbox **mailbox);

/* ---- datagrams that go ---------------------------------------------------------------------------------------------
 */

struct mail_connection_options {
    const char *address;
    const struct mail_tls *tls; /* for tls+tcp:// */
    size_t datagram_max;        /* at most as the mailbox has it */
    size_t header_size;
    /* Just before a datagram is tried to be sent, perhaps again; numbers count from 0, anew when the connection is
     * cleared. */
    void (*stamp)(void *data, uint32_t number, uint8_t *header);
    void *data;
};
/* To a mailbox that is open, where it is of this process; over a network it may come later, or never. */
struct mail_connection *mail_connection_open(struct loop *loop, const struct mail_connection_options *options,
                                             struct status *st);
/* As mailbox_renew: for the next time that it connects. */
bool mail_connection_renew(struct mail_connection *connection, const char *address, const struct mail_tls *tls,
                           struct status *st);
/* What waits is dropped; what nng has taken still goes. */
void mail_connection_clear(struct mail_connection *connection);
/* So too; NULL is nothing. */
void mail_connection_close(struct mail_connection **connection);

/* Room for one message of the datagram that goes when the loop is left; to be filled before the next call. NULL where
 * the message is larger than a datagram may be. */
uint8_t *mail_connection_reserve(struct mail_connection *connection, size_t size);
size_t
mail_connection_waiting(const struct mail_connection *connection); /* bytes that were reserved and not taken yet */

#endif
