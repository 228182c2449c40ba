/* A letter is a head and then messages, each behind its size of four bytes. PUSH and PULL keep the order of a line, and
 * their sockets have descriptors that tell when there is something to take or room to send: so
 * all is done by the loop itself, and nng's threads call nothing of ours. Nng is given no buffer: while the other end
 * has not taken the last letter, the next one grows here, and the busier both are the more messages share one. */
#include "mailbox.h"

#include "base/file.h"
#include "base/log.h"
#include "loop/loop.h"

#include <arpa/inet.h>
#include <nng/nng.h>
#include <nng/protocol/pipeline0/pull.h>
#include <nng/protocol/pipeline0/push.h>
#include <nng/supplemental/tls/tls.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#define LETTERS_A_VISIT 64 /* taken at once; the rest waits for the loop's next round */
#define LETTER_FIRST    ((size_t)4 << 10)
#define NUMBER_SIZE     sizeof(uint32_t)
#define PEM_MAX         ((size_t)1 << 20)

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

/* ---- TLS --------------------------------------------------------------------------------------------------------- */

static bool is_tls(const char *address)
{
    return strncmp(address, "tls", 3) == 0;
}

static bool read_pem(const char *path, struct buffer *text, struct status *st)
{
    buffer_init(text, PEM_MAX);
    return (path && *path) ? file_read(path, text, st)
                           : fail(st, INVALID_ARGUMENT, "mail over TLS needs a certificate, its key and authorities");
}

static bool fill(nng_tls_config *config, const struct mail_tls *tls, struct status *st)
{
    struct buffer certificate, key, authorities;
    bool read = read_pem(tls->certificate, &certificate, st);
    read = read_pem(tls->key, &key, read ? st : &(struct status){0}) && read;
    read = read_pem(tls->authorities, &authorities, read ? st : &(struct status){0}) && read;
    int error = read ? nng_tls_config_own_cert(config, buffer_text(&certificate), buffer_text(&key), NULL) : 0;
    if (error)
        refused("no TLS with", tls->certificate, error, st);
    int second = read && !error ? nng_tls_config_ca_chain(config, buffer_text(&authorities), NULL) : 0;
    if (second)
        refused("no TLS with", tls->authorities, second, st);
    if (key.data)
        explicit_bzero(key.data, key.length);
    buffer_fini(&certificate);
    buffer_fini(&key);
    buffer_fini(&authorities);
    return read && !error && !second;
}

static bool has_name(const struct mail_tls *tls)
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
    return !is_tls(address) || has_name(tls) || (*host != '[' && inet_pton(AF_INET, host, &number) != 1) ||
           fail(st, INVALID_ARGUMENT,
                "the host of %s is a number, with which no certificate's name is compared: set peers.tls.name",
                address);
}

/* A configuration of ours takes the place of nng's, and of the name that nng sets there. */
static void expect_name(nng_tls_config *config, const char *address, const struct mail_tls *tls)
{
    char host[MAIL_ADDRESS_MAX];
    host_of(address, host);
    nng_tls_config_server_name(config, has_name(tls) ? tls->name : host);
}

static bool read_tls(const char *address, const struct mail_tls *tls, nng_tls_mode mode, nng_tls_config **config,
                     struct status *st)
{
    if (!tls)
        return fail(st, INVALID_ARGUMENT, "mail over TLS needs a certificate, its key and authorities");
    if (mode == NNG_TLS_MODE_CLIENT && !mail_names(address, tls, st))
        return false;
    if (nng_tls_config_alloc(config, mode) != 0)
        fatal("orchestrator.memory", "no memory for a configuration of TLS");
    nng_tls_config_auth_mode(*config, NNG_TLS_AUTH_MODE_REQUIRED);
    if (mode == NNG_TLS_MODE_CLIENT)
        expect_name(*config, address, tls);
    if (fill(*config, tls, st))
        return true;
    nng_tls_config_free(*config);
    *config = NULL;
    return false;
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
    nng_tls_config *config = NULL;
    if (is_tls(address) && !read_tls(address, tls, NNG_TLS_MODE_SERVER, &config, st)) {
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
    if (config)
        nng_tls_config_free(config); /* the listener holds it */
    if (!error)
        return mailbox;
    refused("no mailbox at", address, error, st);
    free(mailbox);
    return NULL;
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
    nng_dialer dialer;
    bool far = strncmp(options->address, "inproc:", 7) != 0;
    int error = nng_dialer_create(&dialer, line->socket, options->address);
    if (!error && config)
        error = nng_dialer_set_ptr(dialer, NNG_OPT_TLS_CONFIG, config);
    if (!error && far)
        error = nng_dialer_set_ms(dialer, NNG_OPT_RECONNMINT, RECONNECT_FIRST_MS);
    if (!error && far)
        error = nng_dialer_set_ms(dialer, NNG_OPT_RECONNMAXT, RECONNECT_MAX_MS);
    return error ? error : nng_dialer_start(dialer, far ? NNG_FLAG_NONBLOCK : 0);
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
    nng_tls_config *config = NULL;
    if (is_tls(options->address) && !read_tls(options->address, options->tls, NNG_TLS_MODE_CLIENT, &config, st)) {
        free(line);
        return NULL;
    }
    int error = take_socket(line);
    if (!error)
        error = dial(line, options, config);
    if (config)
        nng_tls_config_free(config);
    if (!error)
        return line;
    refused("no line to", options->address, error, st);
    atomic_store(&spare_sockets[loop_index(loop)], line->socket.id);
    free(line);
    return NULL;
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
