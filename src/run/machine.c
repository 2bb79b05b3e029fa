/* SPDX-License-Identifier: Apache-2.0 */
#include "run/machine.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

#define PIECE_BYTES 4096
#define OTHER_DESCRIPTORS 64 /* files, epoll, standard streams, fetch */
#define DESCRIPTORS_A_THREAD 8

/* The beginning of a small file of the kernel; false when it cannot be read. */
static bool read_piece(const char *path, char ret[PIECE_BYTES])
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t got = read(fd, ret, PIECE_BYTES - 1);
    close(fd);
    ret[got > 0 ? got : 0] = '\0';
    return got > 0;
}

static const char *first_line(struct arena *arena, const char *path)
{
    char text[PIECE_BYTES];
    return read_piece(path, text) ? arena_strndup(arena, text, strcspn(text, "\n")) : NULL;
}

static const char *cpu_model(struct arena *arena)
{
    char text[PIECE_BYTES];
    if (!read_piece("/proc/cpuinfo", text))
        return NULL;
    const char *at = strstr(text, "model name");
    at = at ? strchr(at, ':') : NULL;
    if (!at)
        return NULL;
    at += 1 + strspn(at + 1, " \t");
    return arena_strndup(arena, at, strcspn(at, "\n"));
}

static int64_t processors(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        return CPU_COUNT(&set);
    return sysconf(_SC_NPROCESSORS_ONLN);
}

void machine_describe(struct arena *arena, struct run_environment *ret)
{
    struct utsname names;
    struct sysinfo info;
    struct rlimit limit;
    char text[PIECE_BYTES];
    int64_t low, high;
    *ret = (struct run_environment){.memory_bytes = -1, .fd_limit = -1, .port_low = -1, .port_high = -1};
    if (uname(&names) == 0) {
        ret->host = arena_strdup(arena, names.nodename);
        ret->kernel = arena_printf(arena, "%s %s %s", names.sysname, names.release, names.machine);
    }
    ret->cpu_model = cpu_model(arena);
    ret->cpu_count = processors();
    ret->governor = first_line(arena, "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
    ret->clock_source = first_line(arena, "/sys/devices/system/clocksource/clocksource0/current_clocksource");
    if (sysinfo(&info) == 0)
        ret->memory_bytes = (int64_t)info.totalram * info.mem_unit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0)
        ret->fd_limit = limit.rlim_max > INT64_MAX ? INT64_MAX : (int64_t)limit.rlim_max;
    if (read_piece("/proc/sys/net/ipv4/ip_local_port_range", text) && sscanf(text, "%" SCNd64 " %" SCNd64, &low, &high) == 2) {
        ret->port_low = low;
        ret->port_high = high;
    }
}

as_status machine_prepare(const struct machine_needs *needs, const struct run_environment *environment, struct as_error *err)
{
    struct rlimit limit;
    int64_t wanted = needs->connections + needs->threads * DESCRIPTORS_A_THREAD + OTHER_DESCRIPTORS;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return AS_OK;
    if (limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
            (void)getrlimit(RLIMIT_NOFILE, &limit);
    }
    if (limit.rlim_cur != RLIM_INFINITY && (int64_t)limit.rlim_cur < wanted)
        return error_set(err, AS_E_LIMIT,
                         "%" PRId64 " connections need %" PRId64 " open files, the limit is %" PRId64 "; raise it (ulimit -n %" PRId64
                         ") or lower the concurrency",
                         needs->connections, wanted, (int64_t)limit.rlim_cur, wanted);
    int64_t ports = environment->port_high - environment->port_low + 1;
    if (needs->is_tcp && environment->port_low > 0 && needs->connections > ports)
        return error_set(err, AS_E_LIMIT,
                         "%" PRId64 " connections need as many local ports, the range %" PRId64 "–%" PRId64
                         " has %" PRId64 "; widen net.ipv4.ip_local_port_range or lower the concurrency",
                         needs->connections, environment->port_low, environment->port_high, ports);
    return AS_OK;
}
