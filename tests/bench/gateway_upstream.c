/* An upstream for benches that speaks OpenAI's Chat Completions: `gateway-upstream PORT`, 0 for a free one; it prints
 * where it listens. The model's name says how it answers: "bench-BYTES-PIECES-PACE" is a text of so many bytes, or
 * streamed so many pieces of 8 bytes, one each PACE milliseconds. One thread, HTTP/1.1, bodies with a length. */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#define REQUEST_MAX (256 << 10)
#define ANSWER_MAX  (256 << 10)
#define EVENTS_MAX  256

struct peer {
    int fd;
    size_t length;
    struct peer *next; /* of those that stream, the soonest first */
    int pieces, pace_ms;
    bool tells_usage;
    int64_t due_ns;
    char model[64];
    char request[REQUEST_MAX + 1];
};

static struct peer *first, *last;

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* ---- answers ----------------------------------------------------------------------------------------------------- */

static void send_all(struct peer *peer, const char *bytes, size_t size)
{
    while (size) {
        ssize_t sent = send(peer->fd, bytes, size, MSG_NOSIGNAL);
        if (sent <= 0)
            return; /* its end shows when it is read */
        bytes += sent;
        size -= (size_t)sent;
    }
}

static void answer_whole(struct peer *peer, int bytes)
{
    static char body[ANSWER_MAX + 2048], answer[ANSWER_MAX + 4096], text[ANSWER_MAX + 1];
    for (int i = 0; i < bytes; i++)
        text[i] = "A gateway adds little to a call. "[i % 33];
    text[bytes] = '\0';
    int size =
        snprintf(body, sizeof body,
                 "{\"id\":\"chatcmpl-CkJqXvXcEwWq0aS4nUe7bJ2m\",\"object\":\"chat.completion\",\"created\":1764000000,"
                 "\"model\":\"%s\",\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":\"%s\","
                 "\"refusal\":null,\"annotations\":[]},\"logprobs\":null,\"finish_reason\":\"stop\"}],\"usage\":{"
                 "\"prompt_tokens\":256,\"completion_tokens\":%d,\"total_tokens\":%d,\"prompt_tokens_details\":{"
                 "\"cached_tokens\":0,\"audio_tokens\":0},\"completion_tokens_details\":{\"reasoning_tokens\":0,"
                 "\"audio_tokens\":0,\"accepted_prediction_tokens\":0,\"rejected_prediction_tokens\":0}},"
                 "\"service_tier\":\"default\",\"system_fingerprint\":\"fp_44709d6fcb\"}",
                 peer->model, text, bytes / 4, 256 + bytes / 4);
    int all = snprintf(answer, sizeof answer,
                       "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\nx-request-id: "
                       "req_5d3cbe81\r\n\r\n%s",
                       size, body);
    send_all(peer, answer, (size_t)all);
}

static void send_event(struct peer *peer, const char *choices, const char *usage, const char *after)
{
    char event[1024], chunk[1200];
    int size = snprintf(event, sizeof event,
                        "data: {\"id\":\"chatcmpl-CkJqXvXcEwWq0aS4nUe7bJ2m\",\"object\":\"chat.completion.chunk\","
                        "\"created\":1764000000,\"model\":\"%s\",\"service_tier\":\"default\",\"system_fingerprint\":"
                        "\"fp_44709d6fcb\",\"choices\":[%s],\"usage\":%s}\n\n%s",
                        peer->model, choices, usage, after);
    int all = snprintf(chunk, sizeof chunk, "%x\r\n%s\r\n", size, event);
    send_all(peer, chunk, (size_t)all);
}

static void send_end(struct peer *peer)
{
    static const char stop[] = "{\"index\":0,\"delta\":{},\"logprobs\":null,\"finish_reason\":\"stop\"}";
    static const char usage[] = "{\"prompt_tokens\":256,\"completion_tokens\":16,\"total_tokens\":272}";
    send_event(peer, stop, "null", peer->tells_usage ? "" : "data: [DONE]\n\n");
    if (peer->tells_usage)
        send_event(peer, "", usage, "data: [DONE]\n\n");
    send_all(peer, "0\r\n\r\n", 5);
}

static void schedule(struct peer *peer, int64_t due_ns)
{
    peer->due_ns = due_ns;
    peer->next = NULL;
    if (last)
        last->next = peer;
    else
        first = peer;
    last = peer;
}

static void stream_begin(struct peer *peer, int pieces, int pace_ms)
{
    static const char head[] = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\n"
                               "Transfer-Encoding: chunked\r\nx-request-id: req_5d3cbe81\r\n\r\n";
    send_all(peer, head, sizeof head - 1);
    send_event(peer, "{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"},\"finish_reason\":null}", "null",
               "");
    peer->pieces = pieces;
    peer->pace_ms = pace_ms;
    schedule(peer, now_ns() + pace_ms * INT64_C(1000000));
}

/* All that is due. All streams of one bench have one pace, so the list is in order. */
static int stream_on(void)
{
    static const char piece[] =
        "{\"index\":0,\"delta\":{\"content\":\"8 bytes \"},\"logprobs\":null,\"finish_reason\":null}";
    while (first && first->due_ns <= now_ns()) {
        struct peer *peer = first;
        first = peer->next;
        if (!first)
            last = NULL;
        if (peer->pieces-- > 0) {
            send_event(peer, piece, "null", "");
            schedule(peer, peer->due_ns + peer->pace_ms * INT64_C(1000000));
        } else {
            send_end(peer);
        }
    }
    return first ? (int)((first->due_ns - now_ns()) / 1000000 + 1) : -1;
}

/* ---- requests ---------------------------------------------------------------------------------------------------- */

static void answer(struct peer *peer, const char *body)
{
    int bytes = 1024, pieces = 16, pace_ms = 0;
    const char *model = strstr(body, "bench-");
    strcpy(peer->model, "bench-1024-16-0");
    if (model && sscanf(model, "bench-%d-%d-%d", &bytes, &pieces, &pace_ms) == 3 && bytes <= ANSWER_MAX)
        snprintf(peer->model, sizeof peer->model, "bench-%d-%d-%d", bytes, pieces, pace_ms);
    peer->tells_usage = strstr(body, "\"include_usage\":true") != NULL;
    if (strstr(body, "\"stream\":true"))
        stream_begin(peer, pieces, pace_ms);
    else
        answer_whole(peer, bytes);
}

/* Answers each request that is whole; false where there is too much of one. */
static bool serve(struct peer *peer)
{
    peer->request[peer->length] = '\0';
    char *body = strstr(peer->request, "\r\n\r\n");
    if (!body)
        return peer->length < REQUEST_MAX;
    const char *field = strcasestr(peer->request, "\ncontent-length:");
    size_t size = field && field < body ? strtoul(field + 16, NULL, 10) : 0;
    body += 4;
    size_t whole = (size_t)(body - peer->request) + size;
    if (peer->length < whole)
        return whole <= REQUEST_MAX;
    answer(peer, body);
    peer->length = 0; /* nobody sends a second request before the first is answered */
    return true;
}

static void readable(struct peer *peer)
{
    ssize_t got = recv(peer->fd, peer->request + peer->length, REQUEST_MAX - peer->length, 0);
    if (got > 0)
        peer->length += (size_t)got;
    if (got > 0 && serve(peer))
        return;
    for (struct peer **link = &first, *before = NULL; *link; before = *link, link = &(*link)->next) {
        if (*link != peer)
            continue;
        *link = peer->next;
        if (last == peer)
            last = before;
        break;
    }
    close(peer->fd);
    free(peer);
}

static int listen_on(int port)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0), yes = 1;
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(fd, (struct sockaddr *)&address, size) || listen(fd, 1024) ||
        getsockname(fd, (struct sockaddr *)&address, &size)) {
        perror("gateway-upstream");
        exit(1);
    }
    printf("listening %d\n", ntohs(address.sin_port));
    fflush(stdout);
    return fd;
}

int main(int argc, char **argv)
{
    int door = listen_on(argc > 1 ? atoi(argv[1]) : 0), epoll = epoll_create1(0), yes = 1;
    struct epoll_event event = {.events = EPOLLIN}, events[EVENTS_MAX];
    epoll_ctl(epoll, EPOLL_CTL_ADD, door, &event);
    for (;;) {
        int count = epoll_wait(epoll, events, EVENTS_MAX, stream_on());
        for (int i = 0; i < count; i++) {
            if (events[i].data.ptr) {
                readable(events[i].data.ptr);
                continue;
            }
            struct peer *peer = calloc(1, sizeof *peer);
            peer->fd = accept(door, NULL, NULL);
            setsockopt(peer->fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
            event = (struct epoll_event){.events = EPOLLIN, .data.ptr = peer};
            epoll_ctl(epoll, EPOLL_CTL_ADD, peer->fd, &event);
        }
    }
}
