/* The port at which letters of other orchestrators arrive. The first loop reads them and hands each on to the loop that
 * it is for; what does not show our token is a stranger's, and goes no further. */
#include "far.h"

#include "base/log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define INBOX_MAX ((size_t)64 << 20) /* bytes; beyond, letters are dropped, and their sessions begin anew */

struct port {
    struct mailbox *mailbox;
    char address[MAIL_ADDRESS_MAX];
    uint8_t token[TOKEN_SIZE];
    Renga__V1__MemberFanOut row;
};

/* ---- letters ----------------------------------------------------------------------------------------------------- */

/* In a time that tells nothing of the token. */
static bool shows_token(const struct head *head, const struct port *port)
{
    unsigned differs = 0;
    for (size_t i = 0; i < TOKEN_SIZE; i++)
        differs |= head->token[i] ^ port->token[i];
    return differs == 0;
}

static bool inbox_put(struct inbox *inbox, struct parcel *parcel, struct loop *loop)
{
    size_t size = mail_size(parcel->mail) + sizeof *parcel;
    pthread_mutex_lock(&inbox->lock);
    bool room = inbox->station && inbox->bytes + size <= INBOX_MAX, post = room && !inbox->posted;
    if (room) {
        if (inbox->last)
            inbox->last->next = parcel;
        else
            inbox->first = parcel;
        inbox->last = parcel;
        inbox->bytes += size;
        inbox->posted = true;
    }
    pthread_mutex_unlock(&inbox->lock);
    if (post)
        loop_post(loop, &inbox->work);
    return room;
}

static void came(void *data, struct mail *mail)
{
    struct fanout *fanout = data;
    const uint8_t *bytes = mail_take(mail, sizeof(struct head));
    struct parcel *parcel = calloc(1, sizeof *parcel);
    if (!parcel)
        fatal("orchestrator.memory", "no memory for a letter");
    parcel->mail = mail;
    if (bytes)
        memcpy(&parcel->head, bytes, sizeof parcel->head);
    const struct head *head = &parcel->head;
    bool ours = bytes && head->mark == FAR_MARK && shows_token(head, fanout->port) &&
                head->to < fanout->options.loop_count && memchr(head->member, '\0', ID_MAX);
    if (!ours)
        station_note(&fanout->stations[0], FANOUT_STRANGE, 1);
    if (ours && inbox_put(fanout->stations[head->to].inbox, parcel, fanout->stations[head->to].loop))
        return;
    mail_free(mail);
    free(parcel);
}

/* ---- on to their loops ------------------------------------------------------------------------------------------- */

static void inbox_free(struct inbox *inbox)
{
    pthread_mutex_destroy(&inbox->lock);
    free(inbox);
}

static void free_parcels(struct parcel *parcel)
{
    for (struct parcel *next; parcel; parcel = next) {
        next = parcel->next;
        mail_free(parcel->mail);
        free(parcel);
    }
}

static void unpack(struct work *work)
{
    struct inbox *inbox = (struct inbox *)work;
    pthread_mutex_lock(&inbox->lock);
    struct parcel *first = inbox->first;
    struct station *station = inbox->station;
    inbox->first = inbox->last = NULL;
    inbox->bytes = 0;
    inbox->posted = false;
    pthread_mutex_unlock(&inbox->lock);
    for (struct parcel *parcel = first; parcel && station; parcel = parcel->next)
        far_received(station, &parcel->head, parcel->mail);
    free_parcels(first);
    if (!station)
        inbox_free(inbox);
}

void inbox_open(struct station *station)
{
    struct inbox *inbox = calloc(1, sizeof *inbox);
    if (!inbox)
        fatal("orchestrator.memory", "no memory for an inbox");
    inbox->work.run = unpack;
    inbox->station = station;
    pthread_mutex_init(&inbox->lock, NULL);
    station->inbox = inbox;
}

void inbox_close(struct station *station)
{
    struct inbox *inbox = station->inbox;
    station->inbox = NULL;
    pthread_mutex_lock(&inbox->lock);
    struct parcel *first = inbox->first;
    bool posted = inbox->posted;
    inbox->first = inbox->last = NULL;
    inbox->station = NULL;
    pthread_mutex_unlock(&inbox->lock);
    free_parcels(first);
    if (!posted) /* else it goes when it has run */
        inbox_free(inbox);
}

/* ---- life -------------------------------------------------------------------------------------------------------- */

/* What the others dial: where we listen, with the host by which they know us if we listen at all of them. */
static bool name_address(struct port *port, const struct fanout_options *options, struct status *st)
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
    int size = snprintf(port->address, sizeof port->address, "%.*s%.*s:%d", scheme, listen, length, host,
                        number ? number : mailbox_port(port->mailbox));
    if (size >= (int)sizeof port->address)
        return fail(st, INVALID_ARGUMENT, "the address for other orchestrators has %d bytes; at most %d are allowed",
                    size, MAIL_ADDRESS_MAX - 1);
    return mail_names(port->address, options->client, st); /* the others are as we are */
}

bool port_open(struct fanout *fanout, struct status *st)
{
    const struct fanout_options *options = &fanout->options;
    struct port *port = calloc(1, sizeof *port);
    if (!port)
        fatal("orchestrator.memory", "no memory for a port");
    if (getrandom(port->token, sizeof port->token, 0) != sizeof port->token)
        fatal("orchestrator.random", "the kernel gives no random bytes");
    port->mailbox = mailbox_open(options->listen, options->server, fanout->far_letter_max, st);
    if (!port->mailbox || !name_address(port, options, st)) {
        mailbox_leave(&port->mailbox);
        free(port);
        return false;
    }
    port->row = (Renga__V1__MemberFanOut)RENGA__V1__MEMBER_FAN_OUT__INIT;
    port->row.address = port->address;
    port->row.version = FAR_VERSION;
    port->row.loops = options->loop_count;
    port->row.letter_max = fanout->far_letter_max;
    port->row.token = (ProtobufCBinaryData){sizeof port->token, port->token};
    fanout->port = port;
    log_info("fanout.listening", "attempts of other orchestrators are taken at %s", port->address);
    return true;
}

bool port_attend(struct station *station)
{
    struct fanout *fanout = station->fanout;
    return !fanout->port || mailbox_attend(fanout->port->mailbox, station->loop, came, fanout);
}

void port_renew(struct fanout *fanout)
{
    struct status st = {0};
    struct port *port = fanout->port;
    if (port->mailbox && !mailbox_renew(port->mailbox, port->address, fanout->options.server, &st))
        log_warn("fanout.certificate", "the port keeps its old certificate: %s", st.text);
}

void port_close(struct fanout *fanout)
{
    struct loop *loop = fanout->stations->loop;
    if (!fanout->port || !fanout->port->mailbox)
        return;
    if (loop)
        loop_enter(loop);
    mailbox_leave(&fanout->port->mailbox);
    if (loop)
        loop_leave(loop);
}

const Renga__V1__MemberFanOut *fanout_port(const struct fanout *fanout)
{
    return fanout && fanout->port ? &fanout->port->row : NULL;
}
