/* A letter is the sender's number and then messages, each behind its size; numbers have four bytes. PUSH and PULL keep
 * the order of a line, and their sockets have descriptors that tell when there is something to take or room to send: so
 * all is done by the loop itself, and nng's threads call nothing of ours. Nng is given no buffer: while the other end
 * has not taken the last letter, the next one grows here, and the busier both are the more messages share one. */
#include "mailbox.h"

#include "base/log.h"
#include "loop/loop.h"

#include <assert.h>
#include <nng/nng.h>
#include <nng/protocol/pipeline0/pull.h>
#include <nng/protocol/pipeline0/push.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#define LETTERS_A_VISIT 64 /* taken at once; the rest waits for the loop's next round */
#define LETTER_FIRST    ((size_t)4 << 10)
#define NUMBER_SIZE     sizeof(uint32_t)

struct mailbox {
    struct watch watch; /* first */
    nng_socket socket;
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
    uint32_t sender;
    size_t letter_max, waiting;
    struct letter *first, *last;
};

static bool refused(const char *what, const char *address, int error, struct status *st)
{
    return fail(st, UNAVAILABLE, "%s %s: %s", what, address, nng_strerror(error));
}

/* ---- the end that takes ------------------------------------------------------------------------------------------ */

struct mailbox *mailbox_open(const char *address, size_t letter_max, struct status *st)
{
    struct mailbox *mailbox = calloc(1, sizeof *mailbox);
    if (!mailbox)
        fatal("orchestrator.memory", "no memory for a mailbox");
    int error = nng_pull0_open(&mailbox->socket);
    if (!error)
        error = nng_socket_set_size(mailbox->socket, NNG_OPT_RECVMAXSZ, letter_max);
    if (!error)
        error = nng_listen(mailbox->socket, address, NULL, 0);
    if (!error)
        return mailbox;
    refused("no mailbox at", address, error, st);
    free(mailbox);
    return NULL;
}

static uint32_t number_at(const uint8_t *bytes)
{
    uint32_t number;
    memcpy(&number, bytes, sizeof number);
    return number;
}

static void read_letter(const struct mailbox *mailbox, const uint8_t *at, size_t left)
{
    if (left < NUMBER_SIZE)
        return;
    uint32_t sender = number_at(at);
    at += NUMBER_SIZE;
    left -= NUMBER_SIZE;
    while (mailbox->received && left >= NUMBER_SIZE) {
        uint32_t size = number_at(at);
        at += NUMBER_SIZE;
        left -= NUMBER_SIZE;
        if (size > left) {
            log_error("fanout.letter", "a message of %u bytes stands in a letter that has %zu left; dropped", size,
                      left);
            return;
        }
        mailbox->received(mailbox->data, sender, at, size);
        at += size;
        left -= size;
    }
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
        read_letter(mailbox, nng_msg_body(message), nng_msg_len(message));
        nng_msg_free(message);
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

struct line *line_open(struct loop *loop, const char *address, uint32_t sender, size_t letter_max, struct status *st)
{
    struct line *line = calloc(1, sizeof *line);
    if (!line)
        fatal("orchestrator.memory", "no memory for a line");
    line->loop = loop;
    line->sender = sender;
    line->letter_max = letter_max;
    int error = nng_push0_open(&line->socket);
    if (!error)
        error = nng_dial(line->socket, address, NULL, 0);
    if (!error)
        return line;
    refused("no line to", address, error, st);
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

void line_close(struct line **line_pointer)
{
    struct line *line = *line_pointer;
    if (!line)
        return;
    *line_pointer = NULL;
    loop_undefer(line->loop, &line->flush);
    loop_unwatch(line->loop, &line->room);
    while (line->first)
        drop_first(line);
    free(line);
}

static void there_is_room(struct watch *watch, uint32_t events)
{
    struct line *line = (struct line *)((char *)watch - offsetof(struct line, room));
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
        int error = nng_sendmsg(line->socket, letter->message, NNG_FLAG_NONBLOCK);
        if (error == NNG_EAGAIN) {
            await_room(line);
            return;
        }
        if (error)
            log_error("fanout.line", "a letter of %zu bytes was not sent: %s", letter->used, nng_strerror(error));
        else
            letter->message = NULL; /* it is nng's now */
        drop_first(line);
    }
}

static struct letter *add_letter(struct line *line, size_t size)
{
    struct letter *letter = calloc(1, sizeof *letter);
    if (!letter || nng_msg_alloc(&letter->message, size > LETTER_FIRST ? size : LETTER_FIRST) != 0)
        fatal("orchestrator.memory", "no memory for a letter of %zu bytes", size);
    memcpy(nng_msg_body(letter->message), &line->sender, NUMBER_SIZE);
    letter->used = NUMBER_SIZE;
    line->waiting += NUMBER_SIZE;
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
    if (size > line->letter_max - 2 * NUMBER_SIZE)
        return NULL;
    struct letter *letter = line->last;
    if (!letter || letter->used + whole > line->letter_max)
        letter = add_letter(line, NUMBER_SIZE + whole);
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
