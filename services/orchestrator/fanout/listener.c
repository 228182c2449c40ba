/* The listener at which datagrams of other orchestrators arrive. The first loop reads them and passes each to its
 * loop. A datagram without our token is dropped. */
#include "remote_peer.h"

#include "base/log.h"
#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define INBOX_MAX ((size_t)64 << 20) /* bytes; beyond, datagrams are dropped, and their sessions begin anew */

struct fanout_listener {
    struct mailbox *mailbox;
    char address[MAIL_ADDRESS_MAX];
    uint8_t token[TOKEN_SIZE];
    Renga__V1__MemberFanOut row;
};

/* ---- datagrams -----------------------------------------------------------------------------------------------------
 */

/* Compares in constant time, so that the time does not reveal the token. */
static bool shows_token(const struct datagram_header *header, const struct fanout_listener *listener)
{
    unsigned differs = 0;
    for (size_t i = 0; i < TOKEN_SIZE; i++)
        differs |= header->token[i] ^ listener->token[i];
    return differs == 0;
}

static bool inbox_put(struct inbox *inbox, struct queued_datagram *queued, struct loop *loop)
{
    size_t size = mail_size(queued->mail) + sizeof *queued;
    pthread_mutex_lock(&inbox->lock);
    bool room = inbox->endpoint && inbox->bytes + size <= INBOX_MAX, post = room && !inbox->posted;
    if (room) {
        if (inbox->last)
            inbox->last->next = queued;
        else
            inbox->first = queued;
        inbox->last = queued;
        inbox->bytes += size;
        inbox->posted = true;
    }
    pthread_mutex_unlock(&inbox->lock);
    if (post)
        loop_post(loop, &inbox->work);
    return room;
}

static void listener_came(void *data, struct mail *mail)
{
    struct fanout *fanout = data;
    const uint8_t *bytes = mail_take(mail, sizeof(struct datagram_header));
    struct queued_datagram *queued = xcalloc(1, sizeof *queued);
    queued->mail = mail;
    if (bytes)
        memcpy(&queued->header, bytes, sizeof queued->header);
    const struct datagram_header *header = &queued->header;
    bool ours = bytes && header->mark == FANOUT_WIRE_MARK && shows_token(header, fanout->listener) &&
                header->to < fanout->options.loop_count && memchr(header->member, '\0', ID_MAX);
    if (!ours)
        fanout_endpoint_note(&fanout->endpoints[0], FANOUT_STRANGE, 1);
    if (ours && inbox_put(fanout->endpoints[header->to].inbox, queued, fanout->endpoints[header->to].loop))
        return;
    mail_free(mail);
    free(queued);
}

/* ---- on to their loops ------------------------------------------------------------------------------------------- */

static void inbox_free(struct inbox *inbox)
{
    pthread_mutex_destroy(&inbox->lock);
    free(inbox);
}

static void free_queued_datagrams(struct queued_datagram *queued)
{
    for (struct queued_datagram *next; queued; queued = next) {
        next = queued->next;
        mail_free(queued->mail);
        free(queued);
    }
}

static void listener_unpack(struct work *work)
{
    struct inbox *inbox = (struct inbox *)work;
    pthread_mutex_lock(&inbox->lock);
    struct queued_datagram *first = inbox->first;
    struct fanout_endpoint *endpoint = inbox->endpoint;
    inbox->first = inbox->last = NULL;
    inbox->bytes = 0;
    inbox->posted = false;
    pthread_mutex_unlock(&inbox->lock);
    for (struct queued_datagram *queued = first; queued && endpoint; queued = queued->next)
        remote_peer_received(endpoint, &queued->header, queued->mail);
    free_queued_datagrams(first);
    if (!endpoint)
        inbox_free(inbox);
}

void inbox_open(struct fanout_endpoint *endpoint)
{
    struct inbox *inbox = xcalloc(1, sizeof *inbox);
    inbox->work.run = listener_unpack;
    inbox->endpoint = endpoint;
    pthread_mutex_init(&inbox->lock, NULL);
    endpoint->inbox = inbox;
}

void inbox_close(struct fanout_endpoint *endpoint)
{
    struct inbox *inbox = endpoint->inbox;
    endpoint->inbox = NULL;
    pthread_mutex_lock(&inbox->lock);
    struct queued_datagram *first = inbox->first;
    bool posted = inbox->posted;
    inbox->first = inbox->last = NULL;
    inbox->endpoint = NULL;
    pthread_mutex_unlock(&inbox->lock);
    free_queued_datagrams(first);
    if (!posted) /* else it is freed when it has run */
        inbox_free(inbox);
}

/* ---- life -------------------------------------------------------------------------------------------------------- */

/* The address that other orchestrators dial: our listening address. A wildcard host is replaced by our own host. */
static bool name_address(struct fanout_listener *listener, const struct fanout_options *options, struct status *st)
{
    const char *listen = options->listen, *host = strstr(listen, "://"), *colon = strrchr(listen, ':');
    if (!host || colon == host)
        return fail(st, INVALID_ARGUMENT, "'%.64s' is no address such as tcp://0.0.0.0:15205", listen);
    host += 3;
    int scheme = (int)(host - listen), length = (int)(colon - host), number = atoi(colon + 1);
    static const char *const all[] = {"", "*", "0.0.0.0", "[::]"};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if ((size_t)length != strlen(all[i]) || strncmp(host, all[i], (size_t)length) != 0)
            continue;
        if (!options->host || !*options->host)
            return fail(st, INVALID_ARGUMENT,
                        "the others have to know where '%.64s' is: give it a host, or set orchestrator.address",
                        listen);
        host = options->host;
        length = (int)strlen(host);
    }
    int size = snprintf(listener->address, sizeof listener->address, "%.*s%.*s:%d", scheme, listen, length, host,
                        number ? number : mailbox_port(listener->mailbox));
    if (size >= (int)sizeof listener->address)
        return fail(st, INVALID_ARGUMENT, "the address for other orchestrators has %d bytes; at most %d are allowed",
                    size, MAIL_ADDRESS_MAX - 1);
    return mail_names(listener->address, options->client, st); /* the others are as we are */
}

bool fanout_listener_open(struct fanout *fanout, struct status *st)
{
    const struct fanout_options *options = &fanout->options;
    struct fanout_listener *listener = xcalloc(1, sizeof *listener);
    if (getrandom(listener->token, sizeof listener->token, 0) != sizeof listener->token)
        fatal("orchestrator.random", "the kernel gives no random bytes");
    listener->mailbox = mailbox_open(options->listen, options->server, fanout->remote_datagram_max, st);
    if (!listener->mailbox || !name_address(listener, options, st)) {
        mailbox_leave(&listener->mailbox);
        free(listener);
        return false;
    }
    listener->row = (Renga__V1__MemberFanOut)RENGA__V1__MEMBER_FAN_OUT__INIT;
    listener->row.address = listener->address;
    listener->row.version = FANOUT_WIRE_VERSION;
    listener->row.loops = options->loop_count;
    listener->row.letter_max = fanout->remote_datagram_max;
    listener->row.token = (ProtobufCBinaryData){sizeof listener->token, listener->token};
    fanout->listener = listener;
    log_info("fanout.listening", "attempts of other orchestrators are taken at %s", listener->address);
    return true;
}

bool fanout_listener_attend(struct fanout_endpoint *endpoint)
{
    struct fanout *fanout = endpoint->fanout;
    return !fanout->listener || mailbox_attach(fanout->listener->mailbox, endpoint->loop, listener_came, fanout);
}

void fanout_listener_renew(struct fanout *fanout)
{
    struct status st = {0};
    struct fanout_listener *listener = fanout->listener;
    if (listener->mailbox && !mailbox_renew(listener->mailbox, listener->address, fanout->options.server, &st))
        log_warn("fanout.certificate", "the listener keeps its old certificate: %s", st.text);
}

void fanout_listener_close(struct fanout *fanout)
{
    struct loop *loop = fanout->endpoints->loop;
    if (!fanout->listener || !fanout->listener->mailbox)
        return;
    if (loop)
        loop_enter(loop);
    mailbox_leave(&fanout->listener->mailbox);
    if (loop)
        loop_leave(loop);
}

const Renga__V1__MemberFanOut *fanout_member_row(const struct fanout *fanout)
{
    return fanout && fanout->listener ? &fanout->listener->row : NULL;
}
