/* A redis-server of the test's own, in a folder of its own, and a plain connection to it. */
#ifndef RENGA_TESTS_REDIS_SERVER_H
#define RENGA_TESTS_REDIS_SERVER_H

#include <arpa/inet.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

struct server {
    pid_t pid;
    int port;
    const char *password;      /* NULL: none */
    bool durable;              /* what it acknowledges is on its disk */
    const char *more[12];      /* arguments; NULL ends them */
    char folder[64], path[96]; /* of its socket, beside the port */
};

/* Those of tests/lib/ports.py: the kernel gives none of them to a connection, so a killed server finds its port
 * free again. */
#define SERVER_PORT_FIRST 17000
#define SERVER_PORT_LAST  20900

static inline bool server_bind_to(int fd, in_port_t port)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    return bind(fd, (struct sockaddr *)&address, sizeof address) == 0;
}

/* Bound to a free port of this machine; it listens where `queue` is not 0. */
static inline int server_bind(int *port, int queue)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), yes = 1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    for (int tries = 0; tries < 1000; tries++) {
        uint32_t any = 0;
        if (getrandom(&any, sizeof any, 0) < 0)
            _exit(99);
        *port = (int)(SERVER_PORT_FIRST + any % (SERVER_PORT_LAST - SERVER_PORT_FIRST));
        if (server_bind_to(fd, (in_port_t)*port) && (!queue || listen(fd, queue) == 0))
            return fd;
    }
    _exit(99);
}

static inline int server_connect(int port)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct timeval patience = {.tv_sec = 10};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    if (connect(fd, (struct sockaddr *)&address, sizeof address) == 0)
        return fd;
    close(fd);
    return -1;
}

/* One command in one line; the beginning of its reply, "" where there is none. */
static inline const char *server_say(const struct server *server, const char *command)
{
    static char reply[512];
    char line[1024];
    int fd = server_connect(server->port);
    reply[0] = '\0';
    if (fd < 0)
        return reply;
    if (server->password) {
        snprintf(line, sizeof line, "AUTH %s\r\n", server->password);
        if (send(fd, line, strlen(line), MSG_NOSIGNAL) < 0 || recv(fd, reply, sizeof reply, 0) < 0)
            reply[0] = '\0';
    }
    snprintf(line, sizeof line, "%s\r\n", command);
    ssize_t size = send(fd, line, strlen(line), MSG_NOSIGNAL) < 0 ? 0 : recv(fd, reply, sizeof reply - 1, 0);
    reply[size < 0 ? 0 : size] = '\0';
    close(fd);
    return reply;
}

static inline void server_become(const struct server *server)
{
    char port[8];
    snprintf(port, sizeof port, "%d", server->port);
    const char *password = server->password ? server->password : "", *durable = server->durable ? "yes" : "no";
    const char *arguments[40] = {"redis-server", "--port",        port,     "--bind",
                                 "127.0.0.1",    "--save",        "",       "--dir",
                                 server->folder, "--requirepass", password, "--appendonly",
                                 durable,        "--appendfsync", "always", "--unixsocket",
                                 server->path};
    int count = 17, nowhere = open("/dev/null", O_RDWR);
    for (const char *const *more = server->more; *more; more++)
        arguments[count++] = *more;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(nowhere, STDOUT_FILENO);
    dup2(nowhere, STDERR_FILENO);
    execvp(arguments[0], (char *const *)(uintptr_t)arguments);
    _exit(127);
}

/* Returns when it answers; a test that has no server ends. */
static inline void server_run(struct server *server)
{
    server->pid = fork();
    if (server->pid == 0)
        server_become(server);
    for (int i = 0; i < 2000; i++) {
        if (strncmp(server_say(server, "PING"), "+PONG", 5) == 0)
            return;
        usleep(5000);
    }
    fprintf(stderr, "redis-server does not answer at port %d: '%s'\n", server->port, server_say(server, "PING"));
    _exit(99);
}

/* In memory where there is room: what is asked is what survives the process, not what the disk is like. */
static inline const char *server_root(void)
{
    struct statvfs room;
    bool roomy = statvfs("/dev/shm", &room) == 0 && (uint64_t)room.f_bavail * room.f_frsize > UINT64_C(2) << 30;
    return roomy && access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
}

static inline void server_start(struct server *server, const char *password)
{
    int fd = server_bind(&server->port, 0);
    close(fd);
    server->password = password;
    snprintf(server->folder, sizeof server->folder, "%s/renga-redis-XXXXXX", server_root());
    if (!mkdtemp(server->folder))
        _exit(99);
    snprintf(server->path, sizeof server->path, "%s/redis.sock", server->folder);
    server_run(server);
}

static inline void server_kill(struct server *server)
{
    if (server->pid <= 0)
        return;
    kill(server->pid, SIGKILL);
    waitpid(server->pid, NULL, 0);
    server->pid = 0;
}

static inline int server_remove(const char *path, const struct stat *about, int kind, struct FTW *walk)
{
    return remove(path);
}

static inline void server_end(struct server *server)
{
    server_kill(server);
    if (server->folder[0])
        nftw(server->folder, server_remove, 8, FTW_DEPTH | FTW_PHYS);
    server->folder[0] = '\0';
}

#endif
