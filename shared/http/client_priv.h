/* The private interface between the client's files. */
#ifndef RENGA_HTTP_CLIENT_PRIV_H
#define RENGA_HTTP_CLIENT_PRIV_H

#include "base/buffer.h"
#include "http/client.h"

#include <curl/curl.h>

struct connection_pool;
struct link;
struct multi;
struct origin;

#define ORIGIN_BUCKETS     64
#define POOL_TRANSFERS     128         /* in flight on one multi: its cost a request grows with its connections */
#define INPUT_SIZE         (64u << 10) /* bytes read from a socket at a time; more than a TLS record has */
#define KEEPALIVE_S        30L         /* of TCP */
#define LINK_IDLE_S        60L         /* an idle connection older than this is not used again */
#define RESOLVER_CACHE_S   60L         /* as long as the usual load balancer's name lives */
#define RESOLVER_HUNG_MAX  32          /* abandoned lookups that still block a thread */
#define RESOLVER_TRIED     4           /* lookups at a time while RESOLVER_HUNG_MAX are hung */
#define RESOLVER_SILENT_MS 1000L
#define RESOLVER_HUNG_MS   120000L /* as long as one may go on: glibc asks three servers twice, for each domain */
#define ENCODINGS          "gzip, deflate"

struct transfer_list {
    struct transfer *first, *last;
    unsigned count;
};

/* Connections that wait for a request, or all of an origin's that do; the one that was used last is `last`. */
struct link_list {
    struct link *first, *last;
    unsigned count;
};

struct resolver {
    unsigned looking, hung;
    int64_t hung_ns[RESOLVER_HUNG_MAX]; /* since when; a ring */
    int64_t answered_ns;                /* the last time, or since when any is looked up */
};

struct http_client {
    struct loop *loop;
    struct http_client_options options;
    char *proxy, *ca_file, *user_agent;
    CURLSH *share; /* names and TLS sessions, for all multis */

    struct connection_pool *pools; /* oldest first: they are filled in this order */
    unsigned pool_count;
    struct transfer_list queue, running;
    struct work dispatch;
    bool kept;                  /* the answer of the transfer that runs `finished` */
    struct http_slot *slots[2]; /* free ones, a list for each transport */
    unsigned slot_count[2];

    struct client_socket **sockets; /* that curl opened, by descriptor */
    int socket_room;
    struct resolver resolver;

    struct origin *origins[ORIGIN_BUCKETS];
    struct link_list idle; /* in the order in which they fell idle */
    struct timer idle_timer;
    struct buffer head; /* of the request that is being sent */
    char *input;        /* INPUT_SIZE bytes, of the connection that is being read */
    uint64_t connections_opened, refused;
};

/* Room for POOL_TRANSFERS transfers with the same address filter, and their multis. curl's own transfers and opening
 * connections use separate multis, because curl may keep idle connections of the former only. */
struct connection_pool {
    struct http_client *client;
    struct connection_pool *next;
    bool (*address_allowed)(const struct sockaddr *address);
    unsigned running;
    struct multi *transfers, *openings; /* NULL until the first */
};

struct http_url {
    CURLU *parts;
    char *origin, *host;
    char *target; /* "/path?query" */
    char *host_field;
    uint64_t origin_hash;
    bool secure;
    bool plain; /* no user or password in it, and the host's name in ASCII */
};

/* Headers that we would send by ourselves, and need not. */
struct header_marks {
    bool user_agent, accept_encoding, host, content_length;
};

struct http_headers {
    struct buffer lines; /* "Name: value\r\n" each */
    struct header_marks marks;
};

/* ---- transports of a transfer -------------------------------------------------------------------------------------
 */

enum transport_kind { TRANSPORT_DIRECT, TRANSPORT_CURL };

/* The state of a running transfer; slots are kept and reused. The transport's own part follows it in memory. */
struct http_slot {
    const struct http_transport *transport;
    struct http_slot *next;
    struct http_client *client;
    struct transfer *transfer;
    struct connection_pool *pool;
    struct buffer content;
    bool connected;
    bool forbidden; /* by the address filter */
    bool too_large; /* the body */
};

/* One of two transports. All of it runs in the client's loop, and neither `begin` nor `stop` ends the transfer. */
struct http_transport {
    enum transport_kind kind;
    struct http_slot *(*create)(struct http_client *client);
    void (*destroy)(struct http_slot *slot);
    /* The request goes out, as soon as there is a connection. */
    void (*begin)(struct http_slot *slot);
    /* The transfer has ended or is abandoned: report no more of it. The answer's headers stay until `rest`. */
    void (*stop)(struct http_slot *slot);
    /* Ready for the next transfer. */
    void (*rest)(struct http_slot *slot);
    void (*resume)(struct http_slot *slot);
    const char *(*header)(struct http_slot *slot, const char *name);
    void (*each_header)(struct http_slot *slot, void (*heard)(void *data, const char *name, const char *value),
                        void *data);
};

extern const struct http_transport direct_transport; /* direct.c: HTTP/1.1 spoken by us */
extern const struct http_transport curl_transport;   /* easy.c: curl's own transfer */

/* slot.c */
struct http_slot *slot_take(struct http_client *client, const struct transfer *transfer);
void slot_give_back(struct http_slot *slot);
void slots_destroy(struct http_client *client);
/* Reports of a transport. False: report no more, because the transfer has ended or slot->too_large is set. */
bool slot_head_received(struct http_slot *slot, int http_status, bool has_length, uint64_t length);
bool slot_piece_received(struct http_slot *slot, const char *bytes, size_t size);

/* ---- requests ---------------------------------------------------------------------------------------------------- */

/* request_parts.c */
bool http_header_is_valid(const char *name, const char *value);
void http_header_mark(struct header_marks *marks, const char *name);
/* False if one of the transfer's own headers cannot be sent. Marks those of our headers that the owner replaces. */
bool transfer_mark_headers(const struct transfer *transfer, struct header_marks *marks);
/* Line and headers of the request as they go out. */
void request_write_head(const struct transfer *transfer, struct buffer *head);

/* ---- client, transfers ------------------------------------------------------------------------------------------- */

/* client.c */
/* Queues a transfer; with a player (taken) it is played from the cassette. */
void client_admit(struct http_client *client, struct transfer *transfer, struct player *player);
void client_dispatch(struct http_client *client);

/* transfer.c */
bool transfer_run(struct transfer *transfer, struct connection_pool *pool);
void transfer_move(struct transfer *transfer, enum transfer_state state);
/* Ends the transfer now with the result in its status. Its owner may reuse it. */
void transfer_conclude(struct transfer *transfer);
void transfer_fail(struct transfer *transfer, enum transfer_end end, enum status_code code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void transfer_watch_time(struct transfer *transfer);

/* transfer_errors.c: the failures of a transfer as texts. `detail` is the text of curl or of the system. */
bool curl_failed_to_connect(CURLcode result);
/* How the transfer's peer is called in texts. */
const char *transfer_peer_name(const struct transfer *transfer);
/* The part of `detail` that the caller may see; curl's own texts may contain addresses. Logs the whole. */
const char *transfer_public_detail(const struct transfer *transfer, const char *detail, const char *without_address);
void transfer_fail_no_memory(struct http_slot *slot); /* ends it too, from the loop */
void transfer_fail_unconnected(struct http_slot *slot, CURLcode result, const char *detail);
void transfer_fail_cut(struct http_slot *slot, bool stale, const char *detail);
void transfer_fail_too_large(struct http_slot *slot, bool head);
void transfer_fail_malformed(struct http_slot *slot, const char *detail);

/* ---- curl's multis ----------------------------------------------------------------------------------------------- */

/* The owner of an easy handle; CURLOPT_PRIVATE of the handle points here. */
struct easy_job {
    CURL *easy;
    struct http_client *client;
    struct multi *multi; /* NULL: in no multi */
    bool (*address_allowed)(const struct sockaddr *address);
    bool forbidden; /* address_allowed refused */
    bool naming;    /* a name is being looked up */
    bool refused;   /* it was not, since too many hang */
    void (*done)(struct easy_job *job, CURLcode result);
    /* curl closed a socket that does not belong to the present job; may be NULL. */
    void (*socket_lost)(struct easy_job *job);
    char error[CURL_ERROR_SIZE];
};

/* resolver.c */
#define RESOLVER_REFUSED CURLE_AGAIN /* of a job: no name was looked up */
void resolver_watch(struct easy_job *job);
/* Call it also when no name was looked up. `answered` false: the lookup was abandoned and may take long. */
void resolver_end(struct easy_job *job, bool answered);

/* multi.c */
struct multi *multi_create(struct http_client *client, long connections_kept);
void multi_destroy(struct multi **multi);
/* A handle with the common settings: names, TLS, sockets, the job. */
CURL *easy_create(struct http_client *client, struct easy_job *job);
bool multi_add(struct multi *multi, struct easy_job *job);
/* Closes its connection if the job is unfinished or was only to connect. */
void multi_remove(struct easy_job *job);
/* Call it after each call that may have advanced a transfer. */
void multi_collect(struct multi *multi);
/* The descriptor is the caller's from now on: curl forgets it instead of closing it. */
void multi_take_socket(struct http_client *client, int fd);
/* Tells the job when curl closes this descriptor after all. */
void multi_guard_socket(struct http_client *client, int fd, struct easy_job *job);

#endif
