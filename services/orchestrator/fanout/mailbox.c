/* A letter is a head and then messages, each behind its size of four bytes. PUSH and PULL keep the order of a line, and
 * their sockets have descriptors that tell when there is something to take or room to send: so
 * all is done by the loop itself, and nng's threads call nothing of ours. Nng is given no buffer: while the other end
 * has not taken the last letter, the next one grows here, and the busier both are the more messages share one. */
#include "mailbox.h"

#include "mailbox_tls.h"

#include "base/log.h"
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

#define LETTERS_A_VISIT 64 /* taken at once; the rest waits for the loop's next round */
#define LETTER_FIRST    ((size_t)4 << 10)
#define NUMBER_SIZE     sizeof(uint32_t)

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

struct letter {
    nng_msg *message;
    size_t used;
    struct letter *next;
};

struct line {
    struct work flush; /* first */
    struct watch room;
    nng_socket socket;
    nng_dialer dialer;
    struct loop *loop;
    size_t letter_max, head_size;
    void (*stamp)(void *data, uint32_t number, uint8_t *head);
    void *data;
    uint32_t sent; /* letters since it was cleared */
    size_t waiting;
    struct letter *first, *last;
};

static bool refused(const char *what, const char *address, int error, struct status *st)
{
    return fail(st, UNAVAILABLE, "%s %s: %s", what, address, nng_strerror(error));
}

/* ---- letters that came ------------------------------------------------------------------------------------------- */

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

struct mailbox *mailbox_open(const char *address, const struct mail_tls *tls, size_t letter_max, struct status *st)
{
    struct mailbox *mailbox = calloc(1, sizeof *mailbox);
    if (!mailbox)
        fatal("orchestrator.memory", "no memory for a mailbox");
    nng_tls_config *config;
    if (!mail_tls_read(address, tls, NNG_TLS_MODE_SERVER, &config, st)) {
        free(mailbox);
        return NULL;
    }
    int error = nng_pull0_open(&mailbox->socket);
    if (!error)
        error = nng_socket_set_size(mailbox->socket, NNG_OPT_RECVMAXSZ, letter_max);
    if (!error)
        error = nng_listener_create(&mailbox->listener, mailbox->socket, address);
    if (!error && config)
        error = nng_listener_set_ptr(mailbox->listener, NNG_OPT_TLS_CONFIG, config);
    if (!error)
        error = nng_listener_start(mailbox->listener, 0);
    if (!error)
        return mailbox;
    refused("no mailbox at", address, error, st);
    free(mailbox);
    return NULL;
}

bool mailbox_renew(struct mailbox *mailbox, const char *address, const struct mail_tls *tls, struct status *st)
{
    nng_tls_config *config;
    if (!mail_tls_read(address, tls, NNG_TLS_MODE_SERVER, &config, st))
        return false;
    int error = nng_listener_set_ptr(mailbox->listener, NNG_OPT_TLS_CONFIG, config);
    return error == 0 || refused("no new certificate at", address, error, st);
}

int mailbox_port(const struct mailbox *mailbox)
{
    nng_sockaddr address;
    if (nng_listener_get_addr(mailbox->listener, NNG_OPT_LOCADDR, &address) != 0)
        return 0;
    return ntohs(address.s_family == NNG_AF_INET6 ? address.s_in6.sa_port : address.s_in.sa_port);
}

static void letters_came(struct watch *watch, uint32_t events)
{
    struct mailbox *mailbox = (struct mailbox *)watch;
    for (int i = 0; i < LETTERS_A_VISIT; i++) {
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

bool mailbox_attend(struct mailbox *mailbox, struct loop *loop, mailbox_received *received, void *data)
{
    int fd = -1;
    mailbox->loop = loop;
    mailbox->received = received;
    mailbox->data = data;
    mailbox->watch.ready = letters_came;
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

/* Of lines that could not be opened, by their loops: as none is closed, the next one takes it. */
static atomic_uint spare_sockets[LOOPS_MAX];

static int take_socket(struct line *line)
{
    line->socket.id = atomic_exchange(&spare_sockets[loop_index(line->loop)], 0);
    return line->socket.id ? 0 : nng_push0_open(&line->socket);
}

/* Within a process the other end is there, and the line with it; over a network it is tried again and again. */
static int dial(struct line *line, const struct line_options *options, nng_tls_config *config)
{
    bool far = strncmp(options->address, "inproc:", 7) != 0;
    int error = nng_dialer_create(&line->dialer, line->socket, options->address);
    if (!error && config)
        error = nng_dialer_set_ptr(line->dialer, NNG_OPT_TLS_CONFIG, config);
    if (!error && far)
        error = nng_dialer_set_ms(line->dialer, NNG_OPT_RECONNMINT, RECONNECT_FIRST_MS);
    if (!error && far)
        error = nng_dialer_set_ms(line->dialer, NNG_OPT_RECONNMAXT, RECONNECT_MAX_MS);
    return error ? error : nng_dialer_start(line->dialer, far ? NNG_FLAG_NONBLOCK : 0);
}

struct line *line_open(struct loop *loop, const struct line_options *options, struct status *st)
{
    struct line *line = calloc(1, sizeof *line);
    if (!line)
        fatal("orchestrator.memory", "no memory for a line");
    *line = (struct line){.loop = loop,
                          .letter_max = options->letter_max,
                          .head_size = options->head_size,
                          .stamp = options->stamp,
                          .data = options->data};
    nng_tls_config *config;
    if (!mail_tls_read(options->address, options->tls, NNG_TLS_MODE_CLIENT, &config, st)) {
        free(line);
        return NULL;
    }
    int error = take_socket(line);
    if (!error)
        error = dial(line, options, config);
    if (!error)
        return line;
    refused("no line to", options->address, error, st);
    atomic_store(&spare_sockets[loop_index(loop)], line->socket.id);
    free(line);
    return NULL;
}

bool line_renew(struct line *line, const char *address, const struct mail_tls *tls, struct status *st)
{
    nng_tls_config *config;
    if (!mail_tls_read(address, tls, NNG_TLS_MODE_CLIENT, &config, st))
        return false;
    int error = nng_dialer_set_ptr(line->dialer, NNG_OPT_TLS_CONFIG, config);
    return error == 0 || refused("no new certificate for", address, error, st);
}

static void drop_first(struct line *line)
{
    struct letter *letter = line->first;
    line->first = letter->next;
    if (!line->first)
        line->last = NULL;
    line->waiting -= letter->used;
    if (letter->message)
        nng_msg_free(letter->message);
    free(letter);
}

void line_clear(struct line *line)
{
    while (line->first)
        drop_first(line);
    line->sent = 0;
}

void line_close(struct line **line_pointer)
{
    struct line *line = *line_pointer;
    if (!line)
        return;
    *line_pointer = NULL;
    loop_undefer(line->loop, &line->flush);
    loop_unwatch(line->loop, &line->room);
    line_clear(line);
    free(line);
}

static void there_is_room(struct watch *watch, uint32_t events)
{
    struct line *line = OWNER_OF(watch, struct line, room);
    loop_unwatch(line->loop, watch);
    loop_defer(line->loop, &line->flush);
}

static void await_room(struct line *line)
{
    int fd = -1;
    line->room.ready = there_is_room;
    if (nng_socket_get_int(line->socket, NNG_OPT_SENDFD, &fd) != 0 || !loop_watch(line->loop, &line->room, fd, EPOLLIN))
        log_error("fanout.line", "a line that is full cannot be watched; what waits goes with the next message");
}

static void flush(struct work *work)
{
    struct line *line = (struct line *)work;
    while (line->first) {
        struct letter *letter = line->first;
        nng_msg_chop(letter->message, nng_msg_len(letter->message) - letter->used);
        line->stamp(line->data, line->sent, nng_msg_body(letter->message));
        int error = nng_sendmsg(line->socket, letter->message, NNG_FLAG_NONBLOCK);
        if (error == NNG_EAGAIN) {
            await_room(line);
            return;
        }
        if (error)
            log_error("fanout.line", "a letter of %zu bytes was not sent: %s", letter->used, nng_strerror(error));
        else
            letter->message = NULL; /* it is nng's now */
        line->sent++;
        drop_first(line);
    }
}

static struct letter *add_letter(struct line *line, size_t size)
{
    struct letter *letter = calloc(1, sizeof *letter);
    if (!letter || nng_msg_alloc(&letter->message, size > LETTER_FIRST ? size : LETTER_FIRST) != 0)
        fatal("orchestrator.memory", "no memory for a letter of %zu bytes", size);
    letter->used = line->head_size;
    line->waiting += line->head_size;
    if (line->last)
        line->last->next = letter;
    else
        line->first = letter;
    return line->last = letter;
}

static void make_room(struct letter *letter, size_t size)
{
    size_t room = nng_msg_len(letter->message);
    if (letter->used + size <= room)
        return;
    while (room < letter->used + size)
        room *= 2;
    if (nng_msg_realloc(letter->message, room) != 0)
        fatal("orchestrator.memory", "no memory for a letter of %zu bytes", room);
}

uint8_t *line_reserve(struct line *line, size_t size)
{
    size_t whole = NUMBER_SIZE + size;
    uint32_t number = (uint32_t)size;
    if (size > line->letter_max - line->head_size - NUMBER_SIZE)
        return NULL;
    struct letter *letter = line->last;
    if (!letter || letter->used + whole > line->letter_max)
        letter = add_letter(line, line->head_size + whole);
    make_room(letter, whole);
    uint8_t *at = (uint8_t *)nng_msg_body(letter->message) + letter->used;
    memcpy(at, &number, NUMBER_SIZE);
    letter->used += whole;
    line->waiting += whole;
    line->flush.run = flush;
    if (!line->room.slot)
        loop_defer(line->loop, &line->flush);
    return at + NUMBER_SIZE;
}

size_t line_waiting(const struct line *line)
{
    return line->waiting;
}
