/* SPDX-License-Identifier: Apache-2.0 */
#include "net/internal.h"

#include <netinet/in.h>
#include <poll.h>
#include <unistd.h>

/*
 * The kernel stamps packets only while some socket asks for it, and a change of that takes it a while. This socket,
 * connected to itself and used for nothing else, asks as long as the loop lives.
 */
int stamp_socket_open(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof address;
    int on = 1;
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on);
    if (bind(fd, (struct sockaddr *)&address, sizeof address) == 0 &&
        getsockname(fd, (struct sockaddr *)&address, &len) == 0 &&
        connect(fd, (struct sockaddr *)&address, sizeof address) == 0)
        return fd;
    close(fd);
    return -1;
}

/* Sends a byte to itself: does it come with a stamp from before the receive call? (SO_TIMESTAMPNS makes one up on
 * receiving.) */
static bool is_stamped(struct net_loop *loop)
{
    char byte = 0;
    char control[STAMP_CONTROL_BYTES] __attribute__((aligned(8)));
    struct iovec buffer = {&byte, 1};
    struct msghdr message = {
        .msg_iov = &buffer, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    struct pollfd arrival = {loop->stamp_fd, POLLIN, 0};
    if (send(loop->stamp_fd, &byte, 1, MSG_NOSIGNAL) != 1 || poll(&arrival, 1, 1) != 1)
        return false;
    struct wall before = wall_now();
    if (recvmsg(loop->stamp_fd, &message, 0) != 1)
        return false;
    int64_t wall_ns = stamp_of_message(&message);
    return wall_ns >= 0 && wall_ns < before.ns;
}

bool net_loop_await_stamps(struct net_loop *loop, int64_t timeout_ns)
{
    if (loop->stamp_fd < 0)
        return false;
    struct mono deadline = mono_add_ns(mono_now(), timeout_ns);
    while (!is_stamped(loop)) {
        struct mono now = mono_now();
        if (mono_diff_ns(deadline, now) <= 0)
            return false;
        struct mono next = mono_add_ns(now, 200 * NS_PER_US);
        mono_sleep_until(mono_diff_ns(deadline, next) < 0 ? deadline : next);
    }
    return true;
}
