/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The least that reading a JSON file can cost: read in pieces of 256 KiB, every byte looked at once, by a loop that a
 * compiler can make wide. Prints the number of quotes.
 *
 *   byte_loop FILE
 */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#define PIECE_BYTES (256 * 1024)

int main(int argc, char **argv)
{
    static char piece[PIECE_BYTES];
    size_t quotes = 0;
    int fd = argc == 2 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0) {
        perror(argc == 2 ? argv[1] : "usage: byte_loop FILE");
        return 2;
    }
    for (ssize_t len; (len = read(fd, piece, sizeof piece)) > 0;)
        for (ssize_t i = 0; i < len; i++)
            quotes += piece[i] == '"';
    printf("%zu\n", quotes);
    return close(fd) == 0 ? 0 : 1;
}
