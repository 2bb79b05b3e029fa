/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include <stdatomic.h>
#include <sys/stat.h>

#define LOOPS 3

static _Atomic int served[LOOPS], begun, ended;

static void on_loop(void *context, struct http_loop *loop, bool begins)
{
    MUST(context == served);
    if (begins) {
        http_loop_set_user(loop, &served[http_loop_index(loop)]);
        atomic_fetch_add(&begun, 1);
    } else {
        atomic_fetch_add(&ended, 1);
    }
}

static void on_request(void *context, struct http_exchange *x)
{
    char text[HTTP_PEER_BYTES + 8];
    MUST(context == served);
    MUST(http_loop_user(x->loop) == &served[http_loop_index(x->loop)]);
    atomic_fetch_add((_Atomic int *)http_loop_user(x->loop), 1);
    http_peer(x, text);
    MUST(http_answer_text(x, 200, text) == AS_OK);
}

static const struct http_handler HANDLER = {.on_loop = on_loop, .on_request = on_request};

static void start(struct fixture *fixture, bool reuse_port, const struct http_listener *listener)
{
    struct http_server_options options = {
        .handler = &HANDLER, .context = (void *)served, .loops = LOOPS, .reuse_port = reuse_port};
    for (int i = 0; i < LOOPS; i++)
        atomic_store(&served[i], 0);
    atomic_store(&begun, 0);
    atomic_store(&ended, 0);
    fixture_start(fixture, &options, listener);
}

static void test_many_connections(void **state)
{
    (void)state;
    for (int reuse_port = 0; reuse_port < 2; reuse_port++) {
        struct fixture fixture;
        int fds[60];
        start(&fixture, reuse_port, NULL);
        for (size_t i = 0; i < 60; i++)
            fds[i] = client_connect(&fixture);
        for (size_t round = 0; round < 3; round++) {
            for (size_t i = 0; i < 60; i++)
                client_send(fds[i], "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
            for (size_t i = 0; i < 60; i++) {
                AS_AUTO_STRBUF struct strbuf text;
                strbuf_init(&text, 0);
                client_expect(fds[i], &text, "\r\n\r\n127.0.0.1:");
            }
        }
        for (size_t i = 0; i < 60; i++)
            close(fds[i]);
        fixture_stop(&fixture);
        int sum = 0;
        for (int i = 0; i < LOOPS; i++) {
            sum += atomic_load(&served[i]);
            if (reuse_port)
                assert_true(atomic_load(&served[i]) > 0);
        }
        assert_int_equal(sum, 180);
        assert_int_equal(atomic_load(&begun), LOOPS);
        assert_int_equal(atomic_load(&ended), LOOPS);
    }
}

struct counted {
    struct http_message message;
    int number;
};

static _Atomic int last_number;
static sem_t all_posted;

static void on_message(struct http_message *message, struct http_loop *loop)
{
    const struct counted *counted = (const struct counted *)message;
    MUST(http_loop_index(loop) == 1);
    MUST(counted->number == atomic_load(&last_number) + 1);
    atomic_store(&last_number, counted->number);
    if (counted->number == 1000)
        sem_post(&all_posted);
}

static void test_messages_keep_their_order(void **state)
{
    (void)state;
    struct fixture fixture;
    static struct counted messages[1000];
    sem_init(&all_posted, 0, 0);
    start(&fixture, false, NULL);
    for (int i = 0; i < 1000; i++) {
        messages[i] = (struct counted){.message = {.on_message = on_message}, .number = i + 1};
        http_loop_post(http_server_loop(fixture.server, 1), &messages[i].message);
    }
    wait_for(&all_posted);
    fixture_stop(&fixture);
}

static int connect_unix(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    memcpy(address.sun_path, path, strlen(path) + 1);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    if (connect(fd, (struct sockaddr *)&address, sizeof address) == 0)
        return fd;
    close(fd);
    return -1;
}

static void test_unix_socket(void **state)
{
    (void)state;
    struct fixture fixture;
    struct as_error err;
    struct stat info;
    char folder[] = "/tmp/assay-unix-XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/socket", folder);
    struct http_listener listener = {.unix_path = path, .unix_mode = 0660};
    start(&fixture, true, &listener);
    assert_int_equal(http_server_port(fixture.server, 0), 0);
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0660);
    AS_AUTO_STRBUF struct strbuf text;
    strbuf_init(&text, 0);
    int fd = connect_unix(path);
    client_send(fd, "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    client_expect(fd, &text, "\r\n\r\nunix");
    close(fd);
    /* A path that is served is left alone; so is a file that is no socket. */
    assert_int_equal(http_server_listen(fixture.server, &listener, &err), AS_E_IO);
    assert_non_null(strstr(err.message, path));
    fixture_stop(&fixture);
    assert_int_equal(connect_unix(path), -1);
    assert_int_equal(stat(path, &info), -1);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fclose(file);
    struct http_server *server;
    struct http_server_options options = {.handler = &HANDLER};
    assert_int_equal(http_server_new(&options, &server, &err), AS_OK);
    assert_int_equal(http_server_listen(server, &listener, &err), AS_E_IO);
    assert_int_equal(stat(path, &info), 0);
    unlink(path);
    /* A socket file that was left behind is replaced. */
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    memcpy(address.sun_path, path, strlen(path) + 1);
    int stale = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(stale, (struct sockaddr *)&address, sizeof address), 0);
    close(stale);
    assert_int_equal(http_server_listen(server, &listener, &err), AS_OK);
    http_server_free(server);
    assert_int_equal(stat(path, &info), -1);
    rmdir(folder);
}

static void test_listening_errors(void **state)
{
    (void)state;
    struct http_server *server;
    struct as_error err;
    struct http_server_options options = {.handler = &HANDLER};
    assert_int_equal(http_server_new(&options, &server, &err), AS_OK);
    struct http_listener listener = {.host = "127.0.0.1"};
    assert_int_equal(http_server_listen(server, &listener, &err), AS_OK);
    listener.port = http_server_port(server, 0);
    assert_true(listener.port > 0);
    assert_int_equal(http_server_listen(server, &listener, &err), AS_E_IO);
    assert_non_null(strstr(err.message, "127.0.0.1"));
    char long_path[200];
    memset(long_path, 'x', sizeof long_path - 1);
    long_path[sizeof long_path - 1] = '\0';
    listener = (struct http_listener){.unix_path = long_path};
    assert_int_equal(http_server_listen(server, &listener, &err), AS_E_INVALID);
    listener = (struct http_listener){.host = "::1"};
    as_status status = http_server_listen(server, &listener, &err);
    if (status == AS_OK) /* not every machine has IPv6 */
        assert_true(http_server_port(server, 1) > 0);
    http_server_free(server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_many_connections),
        cmocka_unit_test(test_messages_keep_their_order),
        cmocka_unit_test(test_unix_socket),
        cmocka_unit_test(test_listening_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
