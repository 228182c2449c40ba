/* What the files of the client share. */
#ifndef RENGA_HTTP_CLIENT_PRIV_H
#define RENGA_HTTP_CLIENT_PRIV_H

#include "base/buffer.h"
#include "http/client.h"

#include <curl/curl.h>

struct lane;

struct transfer_list {
    struct transfer *first, *last;
    unsigned count;
};

/* A descriptor that curl told us to watch. */
struct client_socket {
    struct watch watch;
    struct lane *lane; /* NULL: nobody waits for it */
    uint32_t events;   /* watched for; 0: not in epoll */
    bool opened_here;  /* by socket_open: socket_close will tell of its end, so the watch may stay between requests */
};

struct http_client {
    struct loop *loop;
    struct http_client_options options;
    char *proxy, *ca_file, *user_agent;
    char *user_agent_line; /* "User-Agent: ..." */
    CURLSH *share;         /* names and TLS sessions, for all lanes */

    struct lane *lanes; /* oldest first: they are filled in this order, so connections stay few and warm */
    unsigned lane_count;
    struct transfer_list queue, running;
    struct work dispatch;
    struct http_slot *slots; /* free ones */
    unsigned slot_count;

    struct client_socket **sockets; /* by descriptor */
    int socket_room;
    uint64_t connections_opened, refused;
};

/* One curl multi on the loop. */
struct lane {
    struct http_client *client;
    struct lane *next;
    CURLM *multi;
    bool (*address_allowed)(const struct sockaddr *address); /* all its connections passed this judge */
    unsigned running;
    struct timer timer;
    struct work kick; /* a timeout of curl's that is due at once */
};

struct http_url {
    CURLU *parts;
    char *origin, *host;
};

struct header_node {
    struct curl_slist entry; /* first, so that a list of nodes is a list of curl's */
    char line[];
};

/* Headers that we would send by ourselves, and need not. */
struct header_marks {
    bool user_agent, accept_encoding;
};

struct http_headers {
    struct curl_slist *first, *last;
    struct header_marks marks;
};

/* An easy handle and what its transfer needs; kept and used again. */
struct http_slot {
    CURL *easy;
    struct http_slot *next;
    struct transfer *transfer;
    struct lane *lane;
    struct buffer content;
    struct buffer lines;        /* of the transfer's own headers */
    struct curl_slist *entries; /* pointing into `lines` */
    size_t entry_room;
    size_t header_bytes;
    uint64_t names_seen; /* header_bit of each header that came */
    unsigned sends;      /* how often the request went out */
    long redirects;      /* followed when it last went out */
    bool headers_done;   /* of the final answer */
    bool too_large, repeated, forbidden, connected;
    char error[CURL_ERROR_SIZE];
};

/* "Expect:" as curl understands it: do not send one. The end of every list of headers. */
extern struct curl_slist http_headers_end;
bool http_header_is_valid(const char *name, const char *value);
void http_header_mark(struct header_marks *marks, const char *name);

/* One of 64 bits for a header's name: where it is not set there is no such header, and curl need not look. */
static inline uint64_t header_bit(const char *name, size_t length)
{
    unsigned first = length ? (unsigned char)name[0] | 0x20 : 0,
             last = length ? (unsigned char)name[length - 1] | 0x20 : 0;
    return UINT64_C(1) << ((first * 5 + last + length * 11) & 63);
}

/* request_parts.c: to be freed, without the query. */
char *http_url_path(const struct http_url *url);

/* client.c */
/* Queues a transfer; with a reel (taken) that is played in place of a server. */
void client_admit(struct http_client *client, struct transfer *transfer, struct reel *reel);
void client_dispatch(struct http_client *client);

/* lane.c */
struct lane *lane_create(struct http_client *client, bool (*address_allowed)(const struct sockaddr *address));
void lane_destroy(struct lane *lane);
bool lane_add(struct lane *lane, struct http_slot *slot);
void lane_remove(struct http_slot *slot);
void lane_collect(struct lane *lane);
curl_socket_t socket_open(void *data, curlsocktype purpose, struct curl_sockaddr *address);
int socket_close(void *data, curl_socket_t fd);

/* transfer.c */
bool transfer_run(struct transfer *transfer, struct lane *lane);
void transfer_move(struct transfer *transfer, enum transfer_state state);
/* Ends the transfer now, with what its status says. The transfer is its owner's again. */
void transfer_conclude(struct transfer *transfer);
void transfer_fail(struct transfer *transfer, enum transfer_end end, enum status_code code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void transfer_watch_time(struct transfer *transfer);

/* judge.c */
void slot_judge(struct http_slot *slot, CURLcode result);

/* slot.c */
struct http_slot *slot_take(struct http_client *client);
void slot_give_back(struct http_client *client, struct http_slot *slot);
void slot_destroy(struct http_slot *slot);
bool slot_prepare(struct http_slot *slot, struct transfer *transfer);

#endif
