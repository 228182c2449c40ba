/* An upstream for benches and drills that speaks OpenAI's Chat Completions and Embeddings:
 *
 *      gateway-upstream [PORT [PLACES]]
 *
 * Port 0 is a free one; it prints where it listens. The model's name says how it answers: "bench-BYTES-PIECES-PACE" is
 * a text of so many bytes, or streamed so many pieces of 8 bytes, one each PACE milliseconds; "bench-…-dDELAY" thinks
 * that long first, "bench-…-eSTATUS-ONE_IN" answers one of so many requests with an error. More than PLACES requests at
 * once are answered with 429. GET /seen tells and forgets what has come; where a question names its call ("call-ID")
 * and its asker leaves before the answer has ended, "left ID" and the time in ns are printed. One thread, HTTP/1.1. */
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

#include "load.h"

#define REQUEST_MAX (256 << 10)
#define ANSWER_MAX  (256 << 10)
#define EVENTS_MAX  256

enum doing { RESTS, THINKS, STREAMS };

struct peer {
    int fd;
    enum doing doing;
    size_t length, place; /* in the heap, while it does something */
    int bytes, pieces, pace_ms, error;
    bool streams, embeds, tells_usage;
    int64_t due_ns;
    unsigned long call;
    char model[64];
    char request[REQUEST_MAX + 1];
};

static struct peer **heap; /* who is due next, first */
static size_t busy, room;  /* in the heap */
static size_t places = SIZE_MAX;
static struct {
    unsigned long requests, answers, refused, errors, pieces, left;
    size_t peak;
} seen;

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

static void answer_text(struct peer *peer, int bytes)
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

static void answer_error(struct peer *peer, int status)
{
    static const char body[] = "{\"error\":{\"message\":\"so it was asked for\",\"type\":\"drill\",\"code\":null}}";
    char answer[512];
    int all = snprintf(answer, sizeof answer,
                       "HTTP/1.1 %d Drill\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s", status,
                       sizeof body - 1, body);
    send_all(peer, answer, (size_t)all);
}

static void answer_vector(struct peer *peer, int numbers)
{
    static char body[ANSWER_MAX], answer[ANSWER_MAX + 256];
    int size = snprintf(body, sizeof body,
                        "{\"object\":\"list\",\"model\":\"%s\",\"data\":[{\"object\":\"embedding\","
                        "\"index\":0,\"embedding\":[",
                        peer->model);
    for (int i = 0; i < numbers; i++)
        size += snprintf(body + size, sizeof body - (size_t)size, "%s%.6f", i ? "," : "", 0.001 * i - 0.3);
    size +=
        snprintf(body + size, sizeof body - (size_t)size, "]}],\"usage\":{\"prompt_tokens\":8,\"total_tokens\":8}}");
    int all = snprintf(answer, sizeof answer,
                       "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", size, body);
    send_all(peer, answer, (size_t)all);
}

static void answer_seen(struct peer *peer)
{
    char body[512], answer[1024];
    int size = snprintf(body, sizeof body,
                        "{\"requests\":%lu,\"answers\":%lu,\"refused\":%lu,\"errors\":%lu,\"pieces\":%lu,\"left\":%lu,"
                        "\"peak\":%zu}",
                        seen.requests, seen.answers, seen.refused, seen.errors, seen.pieces, seen.left, seen.peak);
    int all = snprintf(answer, sizeof answer, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", size, body);
    send_all(peer, answer, (size_t)all);
    memset(&seen, 0, sizeof seen);
}

/* ---- what is due when -------------------------------------------------------------------------------------------- */

static void put(struct peer *peer, size_t place)
{
    heap[place] = peer;
    peer->place = place;
}

static void rise(struct peer *peer, size_t place)
{
    for (size_t above; place && heap[above = (place - 1) / 2]->due_ns > peer->due_ns; place = above)
        put(heap[above], place);
    put(peer, place);
}

static void sink(struct peer *peer, size_t place)
{
    for (size_t below; (below = 2 * place + 1) < busy; place = below) {
        if (below + 1 < busy && heap[below + 1]->due_ns < heap[below]->due_ns)
            below++;
        if (heap[below]->due_ns >= peer->due_ns)
            break;
        put(heap[below], place);
    }
    put(peer, place);
}

static void work(struct peer *peer, enum doing doing, int64_t due_ns)
{
    peer->doing = doing;
    peer->due_ns = due_ns;
    if (busy == room)
        heap = realloc(heap, (room = room ? 2 * room : 64) * sizeof(struct peer *));
    rise(peer, busy++);
    seen.peak = busy > seen.peak ? busy : seen.peak;
}

static void stop_work(struct peer *peer)
{
    struct peer *last = heap[--busy];
    peer->doing = RESTS;
    if (last == peer)
        return;
    size_t place = peer->place;
    if (last->due_ns < peer->due_ns)
        rise(last, place);
    else
        sink(last, place);
}

static void work_on(struct peer *peer, int64_t wait_ms)
{
    peer->due_ns += wait_ms * INT64_C(1000000);
    sink(peer, 0);
}

static void stream_begin(struct peer *peer)
{
    static const char head[] = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\n"
                               "Transfer-Encoding: chunked\r\nx-request-id: req_5d3cbe81\r\n\r\n";
    send_all(peer, head, sizeof head - 1);
    send_event(peer, "{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"},\"finish_reason\":null}", "null",
               "");
}

static void answer_whole(struct peer *peer)
{
    seen.answers++;
    if (peer->error)
        answer_error(peer, peer->error);
    else if (peer->embeds)
        answer_vector(peer, peer->bytes);
    else
        answer_text(peer, peer->bytes);
}

static void go_on(struct peer *peer)
{
    static const char piece[] =
        "{\"index\":0,\"delta\":{\"content\":\"8 bytes \"},\"logprobs\":null,\"finish_reason\":null}";
    if (peer->doing == THINKS && peer->streams && !peer->error) {
        peer->doing = STREAMS;
        stream_begin(peer);
        work_on(peer, peer->pace_ms);
    } else if (peer->doing == THINKS) {
        stop_work(peer);
        answer_whole(peer);
    } else if (peer->pieces-- > 0) {
        seen.pieces++;
        send_event(peer, piece, "null", "");
        work_on(peer, peer->pace_ms);
    } else {
        stop_work(peer);
        seen.answers++;
        send_end(peer);
    }
}

/* All that is due; milliseconds until the next. */
static int work_due(void)
{
    while (busy && heap[0]->due_ns <= now_ns())
        go_on(heap[0]);
    return busy ? (int)((heap[0]->due_ns - now_ns()) / 1000000 + 1) : -1;
}

/* ---- requests ---------------------------------------------------------------------------------------------------- */

/* "-d20" and "-e429-10" behind the model's measures. */
static int delay_of(const char *model)
{
    const char *at = strstr(model, "-d");
    return at ? atoi(at + 2) : 0;
}

static int error_of(const char *model)
{
    int status = 0;
    unsigned long one_in = 1;
    const char *at = strstr(model, "-e");
    return at && sscanf(at, "-e%d-%lu", &status, &one_in) >= 1 && one_in && seen.requests % one_in == 0 ? status : 0;
}

static void answer(struct peer *peer, const char *body)
{
    const char *model = strstr(body, "\"bench-"), *call = strstr(body, "call-");
    peer->bytes = 1024, peer->pieces = 16, peer->pace_ms = 0;
    if (model)
        sscanf(model, "\"bench-%d-%d-%d", &peer->bytes, &peer->pieces, &peer->pace_ms);
    if (peer->bytes > ANSWER_MAX)
        peer->bytes = ANSWER_MAX;
    snprintf(peer->model, sizeof peer->model, "%.*s", model ? (int)strcspn(model + 1, "\"") : 0,
             model ? model + 1 : "");
    peer->call = call ? strtoul(call + 5, NULL, 10) : 0;
    peer->tells_usage = strstr(body, "\"include_usage\":true") != NULL;
    peer->streams = strstr(body, "\"stream\":true") != NULL;
    peer->embeds = strncmp(peer->request, "POST /v1/embeddings", 19) == 0;
    int delay_ms = delay_of(peer->model);
    peer->error = error_of(peer->model);
    seen.requests++;
    seen.errors += peer->error != 0;
    if (busy >= places) {
        seen.refused++;
        answer_error(peer, 429);
    } else if (delay_ms || peer->streams) {
        work(peer, THINKS, now_ns() + delay_ms * INT64_C(1000000));
    } else {
        answer_whole(peer);
    }
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
    if (strncmp(peer->request, "GET /seen", 9) == 0)
        answer_seen(peer);
    else
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
    if (peer->doing != RESTS) {
        stop_work(peer);
        seen.left++;
        if (peer->call) {
            printf("left %lu %lld\n", peer->call, (long long)now_ns());
            fflush(stdout);
        }
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
    if (bind(fd, (struct sockaddr *)&address, size) || listen(fd, 8192) ||
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
    if (argc > 2)
        places = strtoul(argv[2], NULL, 10);
    for (;;) {
        int count = epoll_wait(epoll, events, EVENTS_MAX, work_due());
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
