/* A datagram is a header and then messages, each behind its size of four bytes. PUSH and PULL keep the order of a
 * connection, and their sockets have descriptors that tell when a datagram has arrived or can be sent. So the loop
 * does all the work, and nng's threads never call our code. Nng is given no buffer: while the other end has not
 * taken the last datagram, the next one grows here, and the busier both are the more messages share one. */
#include "mailbox.h"

#include "mailbox_tls.h"

#include "base/log.h"
#include "base/memory.h"
#include "loop/loop.h"

#include <arpa/inet.h>
#include <nng/nng.h>
#include <nng/protocol/pipeline0/pull.h>
#include <nng/protocol/pipeline0/push.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#define DATAGRAMS_A_VISIT 64 /* taken at once; the rest waits for the loop's next round */
#define DATAGRAM_FIRST    ((size_t)4 << 10)
#define NUMBER_SIZE       sizeof(uint32_t)

/* Between tries to connect; doubled from one to the next. */
#define RECONNECT_FIRST_MS 100
#define RECONNECT_MAX_MS   5000

struct mailbox {
    struct watch watch; /* first */
    nng_socket socket;
    nng_listener listener;
    struct loop *loop;
    mailbox_received *received;
    void *data;
};

struct datagram {
    nng_msg *message;
    size_t used;
    struct datagram *next;
};

struct mail_connection {
    struct work flush; /* first */
    struct watch room;
    nng_socket socket;
    nng_dialer dialer;
    struct loop *loop;
    size_t datagram_max, header_size;
    void (*stamp)(void *data, uint32_t number, uint8_t *header);
    void *data;
    uint32_t sent; /* datagrams since it was cleared */
    size_t waiting;
    struct datagram *first, *last;
};

static bool mailbox_refused(const char *what, const char *address, int error, struct status *st)
{
    return fail(st, UNAVAILABLE, "%s %s: %s", what, address, nng_strerror(error));
}

/* ---- datagrams that came -------------------------------------------------------------------------------------------
 */

const uint8_t *mail_take(struct mail *mail, size_t size)
{
    nng_msg *message = (nng_msg *)mail;
    const uint8_t *at = nng_msg_body(message);
    return nng_msg_len(message) >= size && nng_msg_trim(message, size) == 0 ? at : NULL;
}

const uint8_t *mail_next(struct mail *mail, size_t *size)
{
    uint32_t number;
    const uint8_t *bytes = mail_take(mail, sizeof number);
    *size = mail_size(mail);
    if (!bytes)
        return NULL;
    memcpy(&number, bytes, sizeof number);
    *size = number;
    return mail_take(mail, number);
}

size_t mail_size(const struct mail *mail)
{
    return nng_msg_len((const nng_msg *)mail);
}

void mail_free(struct mail *mail)
{
    nng_msg_free((nng_msg *)mail);
}

/* ---- the end that takes ------------------------------------------------------------------------------------------ */

struct mailbox *mailbox_open(const char *address, const struct mail_tls *tls, size_t datagram_max, struct status *st)
{
    struct mailbox *mailbox = xcalloc(1, sizeof *mailbox);
    nng_tls_config *config;
    if (!mail_tls_read(address, tls, NNG_TLS_MODE_SERVER, &config, st)) {
        free(mailbox);
        return NULL;
    }
    int error = nng_pull0_open(&mailbox->socket);
    if (!error)
        error = nng_socket_set_size(mailbox->socket, NNG_OPT_RECVMAXSZ, datagram_max);
    if (!error)
        error = nng_listener_create(&mailbox->listener, mailbox->socket, address);
    if (!error && config)
        error = nng_listener_set_ptr(mailbox->listener, NNG_OPT_TLS_CONFIG, config);
    if (!error)
        error = nng_listener_start(mailbox->listener, 0);
    if (!error)
        return mailbox;
    mailbox_refused("no mailbox at", address, error, st);
    free(mailbox);
    return NULL;
}

bool mailbox_renew(struct mailbox *mailbox, const char *address, const struct mail_tls *tls, struct status *st)
{
    nng_tls_config *config;
    if (!mail_tls_read(address, tls, NNG_TLS_MODE_SERVER, &config, st))
        return false;
    int error = nng_listener_set_ptr(mailbox->listener, NNG_OPT_TLS_CONFIG, config);
    return error == 0 || mailbox_refused("no new certificate at", address, error, st);
}

int mailbox_port(const struct mailbox *mailbox)
{
    nng_sockaddr address;
    if (nng_listener_get_addr(mailbox->listener, NNG_OPT_LOCADDR, &address) != 0)
        return 0;
    return ntohs(address.s_family == NNG_AF_INET6 ? address.s_in6.sa_port : address.s_in.sa_port);
}

static void datagrams_came(struct watch *watch, uint32_t events)
{
    struct mailbox *mailbox = (struct mailbox *)watch;
    for (int i = 0; i < DATAGRAMS_A_VISIT; i++) {
        nng_msg *message;
        int error = nng_recvmsg(mailbox->socket, &message, NNG_FLAG_NONBLOCK);
        if (error == NNG_EAGAIN)
            return;
        if (error) {
            log_error("fanout.mailbox", "nothing is received any more: %s", nng_strerror(error));
            loop_unwatch(mailbox->loop, watch);
            return;
        }
        mailbox->received(mailbox->data, (struct mail *)message);
    }
}

bool mailbox_attach(struct mailbox *mailbox, struct loop *loop, mailbox_received *received, void *data)
{
    int fd = -1;
    mailbox->loop = loop;
    mailbox->received = received;
    mailbox->data = data;
    mailbox->watch.ready = datagrams_came;
    return nng_socket_get_int(mailbox->socket, NNG_OPT_RECVFD, &fd) == 0 &&
           loop_watch(loop, &mailbox->watch, fd, EPOLLIN);
}

void mailbox_leave(struct mailbox **mailbox)
{
    if (*mailbox && (*mailbox)->loop)
        loop_unwatch((*mailbox)->loop, &(*mailbox)->watch);
    free(*mailbox);
    *mailbox = NULL;
}

/* ---- the end that writes ----------------------------------------------------------------------------------------- */

/* Sockets of connections that could not be opened, by loop. Sockets are never closed, so the next connection reuses
 * one. */
static atomic_uint spare_sockets[LOOPS_MAX];

static int take_socket(struct mail_connection *connection)
{
    connection->socket.id = atomic_exchange(&spare_sockets[loop_index(connection->loop)], 0);
    return connection->socket.id ? 0 : nng_push0_open(&connection->socket);
}

/* Within a process the connection opens at once; over a network it is retried until it opens. */
static int dial(struct mail_connection *connection, const struct mail_connection_options *options,
                nng_tls_config *config)
{
    bool remote = strncmp(options->address, "inproc:", 7) != 0;
    int error = nng_dialer_create(&connection->dialer, connection->socket, options->address);
    if (!error && config)
        error = nng_dialer_set_ptr(connection->dialer, NNG_OPT_TLS_CONFIG, config);
    if (!error && remote)
        error = nng_dialer_set_ms(connection->dialer, NNG_OPT_RECONNMINT, RECONNECT_FIRST_MS);
    if (!error && remote)
        error = nng_dialer_set_ms(connection->dialer, NNG_OPT_RECONNMAXT, RECONNECT_MAX_MS);
    return error ? error : nng_dialer_start(connection->dialer, remote ? NNG_FLAG_NONBLOCK : 0);
}

struct mail_connection *mail_connection_open(struct loop *loop, const struct mail_connection_options *options,
                                             struct status *st)
{
    struct mail_connection *connection = xcalloc(1, sizeof *connection);
    *connection = (struct mail_connection){.loop = loop,
                                           .datagram_max = options->datagram_max,
                                           .header_size = options->header_size,
                                           .stamp = options->stamp,
                                           .data = options->data};
    nng_tls_config *config;
    if (!mail_tls_read(options->address, options->tls, NNG_TLS_MODE_CLIENT, &config, st)) {
        free(connection);
        return NULL;
    }
    int error = take_socket(connection);
    if (!error)
        error = dial(connection, options, config);
    if (!error)
        return connection;
    mailbox_refused("no connection to", options->address, error, st);
    atomic_store(&spare_sockets[loop_index(loop)], connection->socket.id);
    free(connection);
    return NULL;
}

bool mail_connection_renew(struct mail_connection *connection, const char *address, const struct mail_tls *tls,
                           struct status *st)
{
    nng_tls_config *config;
    if (!mail_tls_read(address, tls, NNG_TLS_MODE_CLIENT, &config, st))
        return false;
    int error = nng_dialer_set_ptr(connection->dialer, NNG_OPT_TLS_CONFIG, config);
    return error == 0 || mailbox_refused("no new certificate for", address, error, st);
}

static void mailbox_drop_first(struct mail_connection *connection)
{
    struct datagram *datagram = connection->first;
    connection->first = datagram->next;
    if (!connection->first)
        connection->last = NULL;
    connection->waiting -= datagram->used;
    if (datagram->message)
        nng_msg_free(datagram->message);
    free(datagram);
}

void mail_connection_clear(struct mail_connection *connection)
{
    while (connection->first)
        mailbox_drop_first(connection);
    connection->sent = 0;
}

void mail_connection_close(struct mail_connection **connection_pointer)
{
    struct mail_connection *connection = *connection_pointer;
    if (!connection)
        return;
    *connection_pointer = NULL;
    loop_undefer(connection->loop, &connection->flush);
    loop_unwatch(connection->loop, &connection->room);
    mail_connection_clear(connection);
    free(connection);
}

static void there_is_room(struct watch *watch, uint32_t events)
{
    struct mail_connection *connection = CONTAINER_OF(watch, struct mail_connection, room);
    loop_unwatch(connection->loop, watch);
    loop_defer(connection->loop, &connection->flush);
}

static void await_room(struct mail_connection *connection)
{
    int fd = -1;
    connection->room.ready = there_is_room;
    if (nng_socket_get_int(connection->socket, NNG_OPT_SENDFD, &fd) != 0 ||
        !loop_watch(connection->loop, &connection->room, fd, EPOLLIN))
        log_error("fanout.connection",
                  "a connection that is full cannot be watched; what waits goes with the next message");
}

static void mailbox_flush(struct work *work)
{
    struct mail_connection *connection = (struct mail_connection *)work;
    while (connection->first) {
        struct datagram *datagram = connection->first;
        nng_msg_chop(datagram->message, nng_msg_len(datagram->message) - datagram->used);
        connection->stamp(connection->data, connection->sent, nng_msg_body(datagram->message));
        int error = nng_sendmsg(connection->socket, datagram->message, NNG_FLAG_NONBLOCK);
        if (error == NNG_EAGAIN) {
            await_room(connection);
            return;
        }
        if (error)
            log_error("fanout.connection", "a datagram of %zu bytes was not sent: %s", datagram->used,
                      nng_strerror(error));
        else
            datagram->message = NULL; /* it is nng's now */
        connection->sent++;
        mailbox_drop_first(connection);
    }
}

static struct datagram *add_datagram(struct mail_connection *connection, size_t size)
{
    struct datagram *datagram = calloc(1, sizeof *datagram);
    if (!datagram || nng_msg_alloc(&datagram->message, size > DATAGRAM_FIRST ? size : DATAGRAM_FIRST) != 0)
        fatal("orchestrator.memory", "no memory for a datagram of %zu bytes", size);
    datagram->used = connection->header_size;
    connection->waiting += connection->header_size;
    if (connection->last)
        connection->last->next = datagram;
    else
        connection->first = datagram;
    return connection->last = datagram;
}

static void mailbox_make_room(struct datagram *datagram, size_t size)
{
    size_t room = nng_msg_len(datagram->message);
    if (datagram->used + size <= room)
        return;
    while (room < datagram->used + size)
        room *= 2;
    if (nng_msg_realloc(datagram->message, room) != 0)
        fatal("orchestrator.memory", "no memory for a datagram of %zu bytes", room);
}

uint8_t *mail_connection_reserve(struct mail_connection *connection, size_t size)
{
    size_t whole = NUMBER_SIZE + size;
    uint32_t number = (uint32_t)size;
    if (size > connection->datagram_max - connection->header_size - NUMBER_SIZE)
        return NULL;
    struct datagram *datagram = connection->last;
    if (!datagram || datagram->used + whole > connection->datagram_max)
        datagram = add_datagram(connection, connection->header_size + whole);
    mailbox_make_room(datagram, whole);
    uint8_t *at = (uint8_t *)nng_msg_body(datagram->message) + datagram->used;
    memcpy(at, &number, NUMBER_SIZE);
    datagram->used += whole;
    connection->waiting += whole;
    connection->flush.run = mailbox_flush;
    if (!connection->room.slot)
        loop_defer(connection->loop, &connection->flush);
    return at + NUMBER_SIZE;
}

size_t mail_connection_waiting(const struct mail_connection *connection)
{
    return connection->waiting;
}
