/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Open-loop load on the control plane's API: requests leave at planned times, whatever the server does, and latency counts
 * from the planned time. A request whose time has come while every connection is busy waits in the plan and pays for it.
 *
 *   plane_load PORT RATE_PER_S ROUNDS SEED CALLS < TOKEN
 *
 * CALLS has one call a line: ROUTE, tab, PATH. Each round sends every line once, in an order shuffled by SEED. Prints JSON:
 * for each route the count, failures (any status but 2xx), answer bytes and latency in ms. Server on 127.0.0.1, HTTP/1.1.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define CALLS_MAX 1024
#define CONNECTIONS 64
#define HEAD_BYTES 16384
#define TIMER UINT32_MAX
#define STALLED_MS 30000

struct call {
    char route[128];
    char *request;
    size_t request_len;
    int64_t *latency_ns; /* one a round */
    uint32_t done, failed;
    uint64_t body_bytes;
};

struct connection {
    int fd;
    uint32_t call; /* index; meaningful while is_busy */
    int64_t planned_ns;
    bool is_busy, has_head;
    char head[HEAD_BYTES];
    size_t head_len;
    int64_t body_left;
};

static struct call calls[CALLS_MAX];
static uint32_t call_count;
static struct connection connections[CONNECTIONS];
static uint32_t *plan; /* call of each planned request */
static uint64_t planned, sent, finished;
static int64_t start_ns, gap_ns;
static int epoll_fd, timer_fd;
static uint16_t port;

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void read_calls(const char *path, const char *token, uint32_t rounds)
{
    FILE *file = fopen(path, "r");
    char *line = NULL;
    size_t room = 0;
    if (!file)
        die(path);
    while (getline(&line, &room, file) > 0) {
        char *tab = strchr(line, '\t');
        if (!tab || call_count == CALLS_MAX)
            break;
        *tab = '\0';
        tab[1 + strcspn(tab + 1, "\r\n")] = '\0';
        struct call *call = &calls[call_count++];
        snprintf(call->route, sizeof call->route, "%s", line);
        int len = asprintf(&call->request, "GET %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nAuthorization: Bearer %s\r\n\r\n",
                           tab + 1, port, token);
        call->latency_ns = calloc(rounds, sizeof *call->latency_ns);
        if (len < 0 || !call->latency_ns)
            die("memory");
        call->request_len = (size_t)len;
    }
    free(line);
    fclose(file);
}

static void make_plan(uint32_t rounds, uint64_t seed)
{
    planned = (uint64_t)rounds * call_count;
    plan = calloc(planned ? planned : 1, sizeof *plan);
    if (!plan || !planned)
        die("no calls");
    for (uint64_t i = 0; i < planned; i++)
        plan[i] = (uint32_t)(i % call_count);
    uint64_t state = seed | 1;
    for (uint64_t i = 0; i < planned; i++) {
        uint64_t first = i - i % call_count;
        state = state * 6364136223846793005U + 1442695040888963407U;
        uint64_t other = first + (state >> 33) % (i - first + 1);
        uint32_t kept = plan[i];
        plan[i] = plan[other];
        plan[other] = kept;
    }
}

static void connect_one(uint32_t index)
{
    struct connection *c = &connections[index];
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int one = 1;
    c->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (c->fd < 0 || connect(c->fd, (struct sockaddr *)&address, sizeof address) != 0)
        die("connect");
    setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    struct epoll_event want = {.events = EPOLLIN, .data.u32 = index};
    if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, c->fd, &want) != 0)
        die("epoll_ctl");
    c->is_busy = false;
}

static void finish(struct connection *c, bool is_ok)
{
    struct call *call = &calls[c->call];
    call->latency_ns[call->done++] = now_ns() - c->planned_ns;
    call->failed += !is_ok;
    finished++;
    c->is_busy = false;
}

/* Head complete: how long the body is. The server always says so; an answer that does not is a failure of the bench. */
static void read_head(struct connection *c, const char *end)
{
    const char *length = strcasestr(c->head, "\r\nContent-Length:");
    if (!length || length > end) {
        fprintf(stderr, "no Content-Length: %s\n%.*s\n", calls[c->call].route, (int)(end - c->head), c->head);
        exit(1);
    }
    int64_t body = strtoll(length + strlen("\r\nContent-Length:"), NULL, 10);
    calls[c->call].body_bytes += (uint64_t)body;
    c->body_left = body - ((int64_t)c->head_len - (end + 4 - c->head));
    c->has_head = true;
}

static void receive(uint32_t index)
{
    static char sink[256 * 1024];
    struct connection *c = &connections[index];
    bool in_head = c->is_busy && !c->has_head;
    char *into = in_head ? c->head + c->head_len : sink;
    size_t room = in_head ? sizeof c->head - 1 - c->head_len : sizeof sink;
    ssize_t got = recv(c->fd, into, room, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (got <= 0) {
        if (c->is_busy)
            finish(c, false);
        close(c->fd);
        connect_one(index);
        return;
    }
    if (in_head) {
        c->head_len += (size_t)got;
        c->head[c->head_len] = '\0';
        const char *end = strstr(c->head, "\r\n\r\n");
        if (!end)
            return;
        read_head(c, end);
    } else {
        c->body_left -= got;
    }
    if (c->is_busy && c->body_left <= 0)
        finish(c, c->head_len > 9 && c->head[9] == '2');
}

static void send_due(void)
{
    int64_t now = now_ns();
    for (uint32_t i = 0; i < CONNECTIONS && sent < planned && start_ns + (int64_t)sent * gap_ns <= now; i++) {
        struct connection *c = &connections[i];
        if (c->is_busy)
            continue;
        c->call = plan[sent];
        c->planned_ns = start_ns + (int64_t)sent * gap_ns;
        c->is_busy = true;
        c->has_head = false;
        c->head_len = 0;
        sent++;
        if (send(c->fd, calls[c->call].request, calls[c->call].request_len, MSG_NOSIGNAL) != (ssize_t)calls[c->call].request_len) {
            finish(c, false);
            close(c->fd);
            connect_one(i);
        }
    }
    int64_t next = start_ns + (int64_t)sent * gap_ns;
    if (sent == planned || next <= now)
        return;
    struct itimerspec at = {.it_value = {.tv_sec = next / 1000000000, .tv_nsec = next % 1000000000}};
    timerfd_settime(timer_fd, TFD_TIMER_ABSTIME, &at, NULL);
}

static void drive(void)
{
    struct epoll_event events[CONNECTIONS + 1];
    while (finished < planned) {
        send_due();
        int count = epoll_wait(epoll_fd, events, CONNECTIONS + 1, STALLED_MS);
        if (count == 0) {
            fprintf(stderr, "no answer for %d s\n", STALLED_MS / 1000);
            exit(1);
        }
        for (int i = 0; i < count; i++) {
            uint64_t expirations;
            if (events[i].data.u32 != TIMER)
                receive(events[i].data.u32);
            else if (read(timer_fd, &expirations, sizeof expirations) < 0 && errno != EAGAIN)
                die("timer");
        }
    }
}

static int by_size(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Nearest rank: the smallest value that at least `percent` of the values do not exceed. */
static double at_ms(const struct call *call, uint32_t percent)
{
    uint64_t rank = ((uint64_t)call->done * percent + 99) / 100;
    return (double)call->latency_ns[rank ? rank - 1 : 0] / 1e6;
}

static void print_calls(double elapsed_s)
{
    printf("{\"requests\": %" PRIu64 ", \"requests_per_s\": %.2f, \"routes\": [\n", planned, (double)planned / elapsed_s);
    for (uint32_t i = 0; i < call_count; i++) {
        struct call *call = &calls[i];
        qsort(call->latency_ns, call->done, sizeof *call->latency_ns, by_size);
        printf("{\"route\": \"%s\", \"n\": %u, \"failed\": %u, \"bytes\": %.0f, \"p50_ms\": %.3f, \"p95_ms\": %.3f, \"p99_ms\": %.3f, "
               "\"max_ms\": %.3f}%s\n",
               call->route, call->done, call->failed, (double)call->body_bytes / call->done, at_ms(call, 50), at_ms(call, 95),
               at_ms(call, 99), at_ms(call, 100), i + 1 < call_count ? "," : "");
    }
    puts("]}");
}

int main(int argc, char **argv)
{
    char token[512] = "";
    if (argc != 6) {
        fputs("usage: plane_load PORT RATE_PER_S ROUNDS SEED CALLS < TOKEN\n", stderr);
        return 2;
    }
    port = (uint16_t)strtoul(argv[1], NULL, 10);
    gap_ns = (int64_t)(1e9 / strtod(argv[2], NULL));
    uint32_t rounds = (uint32_t)strtoul(argv[3], NULL, 10);
    if (!fgets(token, sizeof token, stdin))
        token[0] = '\0';
    token[strcspn(token, "\r\n")] = '\0';
    read_calls(argv[5], token, rounds);
    make_plan(rounds, strtoull(argv[4], NULL, 10));
    epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    struct epoll_event want = {.events = EPOLLIN, .data.u32 = TIMER};
    if (epoll_fd < 0 || timer_fd < 0 || epoll_ctl(epoll_fd, EPOLL_CTL_ADD, timer_fd, &want) != 0)
        die("epoll");
    for (uint32_t i = 0; i < CONNECTIONS; i++)
        connect_one(i);
    start_ns = now_ns() + 10000000;
    drive();
    print_calls((double)(now_ns() - start_ns) / 1e9);
    return 0;
}
