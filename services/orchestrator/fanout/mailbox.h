/* Mail between loops over nng: within a process by inproc://, between processes by tcp:// and tls+tcp://.
 *
 *      mail_connection_reserve, mail_connection_reserve, …   one datagram a visit of the loop   ---> mailbox:
 * received(mail)
 *
 * A datagram is a header, which the connection's owner stamps, and messages; they share datagrams, so that many cost
 * little more than one. Within a process messages of a connection arrive in their order, once, while both ends live.
 * Over a network a datagram may be lost, or come after a later one, when its connection breaks; a connection connects
 * again by itself, and headers have to reveal missing datagrams. No function here waits: a datagram that the other end
 * does not take stays until its socket says that there is room, and mail_connection_waiting tells how many bytes
 * wait. Sockets are opened once and are never closed while the process lives: nng 1.5.2 may deadlock there. A
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
    const char *authorities; /* CA certificates that the peer is checked with */
    const char *name;        /* that a mailbox's certificate has; NULL: the host of its address. For connections */
};
bool mail_is_tls(const char *address);
/* False, with the reason, if a connection could not verify the name in the server's certificate: over TLS, without a
 * name, to a numeric host. */
bool mail_names(const char *address, const struct mail_tls *tls, struct status *st);

/* ---- datagrams that came -------------------------------------------------------------------------------------------
 */

/* The next `size` bytes of it; NULL if fewer are left. They live until the mail is freed. */
const uint8_t *mail_take(struct mail *mail, size_t size);
/* Its next message, once the header is taken. NULL with size 0: the end; NULL with another size: the rest is
 * malformed. */
const uint8_t *mail_next(struct mail *mail, size_t *size);
size_t mail_size(const struct mail *mail); /* bytes not yet taken */
void mail_free(struct mail *mail);

/* Takes the datagram. */
typedef void mailbox_received(void *data, struct mail *mail);

/* Listens at an address of nng's, for example inproc://name. Nng drops a datagram of more than `datagram_max` bytes
 * that comes over a network. Connections have the same limit and never write a larger one. Any thread. */
struct mailbox *mailbox_open(const char *address, const struct mail_tls *tls, size_t datagram_max, struct status *st);
/* Reads the files again: new connections, except the next one, get the new certificates; open connections keep the
 * old ones. False, with the reason, if the files cannot be used: the old certificates stay. */
bool mailbox_renew(struct mailbox *mailbox, const char *address, const struct mail_tls *tls, struct status *st);
/* The port that it listens at, if its address leaves the choice to the system (tcp://host:0). */
int mailbox_port(const struct mailbox *mailbox);
bool mailbox_attach(struct mailbox *mailbox, struct loop *loop, mailbox_received *received, void *data);
/* Stops receiving. NULL is accepted. */
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
/* Within this process the mailbox must be open already; over a network it may open later, or never. */
struct mail_connection *mail_connection_open(struct loop *loop, const struct mail_connection_options *options,
                                             struct status *st);
/* As mailbox_renew: for the next time that it connects. */
bool mail_connection_renew(struct mail_connection *connection, const char *address, const struct mail_tls *tls,
                           struct status *st);
/* Drops the datagrams that wait; nng still sends those that it has taken. */
void mail_connection_clear(struct mail_connection *connection);
/* Drops the datagrams that wait, and releases the connection. NULL is accepted. */
void mail_connection_close(struct mail_connection **connection);

/* Room for one message of the datagram that goes when the loop is left; to be filled before the next call. NULL if
 * the message is larger than a datagram may be. */
uint8_t *mail_connection_reserve(struct mail_connection *connection, size_t size);
size_t
mail_connection_waiting(const struct mail_connection *connection); /* bytes that were reserved and not taken yet */

#endif
