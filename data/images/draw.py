#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws the sample images of this folder: PNG by the standard library; the JPEG and the WebP by cjpeg and cwebp (Debian: libjpeg-turbo-progs,
webp), and not at all where those are missing.

usage: draw.py [FOLDER]
"""
import pathlib
import shutil
import struct
import subprocess
import sys
import zlib

WHITE, BLACK, RED, GREEN, BLUE, YELLOW = (255,) * 3, (0,) * 3, (208, 32, 32), (32, 144, 64), (32, 64, 192), (240, 200, 32)


def canvas(width, height, colour):
    return [[colour] * width for _ in range(height)]


def rectangle(rows, left, top, width, height, colour):
    for y in range(top, top + height):
        rows[y][left:left + width] = [colour] * width


def disc(rows, centre_x, centre_y, radius, colour):
    for y, row in enumerate(rows):
        for x in range(len(row)):
            if (x - centre_x) ** 2 + (y - centre_y) ** 2 <= radius * radius:
                row[x] = colour


def triangle(rows, apex_x, apex_y, height, colour):
    for step in range(height):
        rectangle(rows, apex_x - step // 2, apex_y + step, step + 1, 1, colour)


def png(rows):
    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    data = b"".join(b"\0" + b"".join(bytes(pixel) for pixel in row) for row in rows)
    header = struct.pack(">IIBBBBB", len(rows[0]), len(rows), 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(data, 9)) + chunk(b"IEND", b"")


def ppm(rows):
    return f"P6 {len(rows[0])} {len(rows)} 255\n".encode() + b"".join(bytes(pixel) for row in rows for pixel in row)


def pictures():
    rows = canvas(256, 256, WHITE)
    disc(rows, 128, 128, 80, RED)
    yield "red-disc", rows

    rows = canvas(320, 200, WHITE)
    for i in range(3):
        rectangle(rows, 40 + 90 * i, 160 - 40 * (i + 1), 50, 40 * (i + 1), BLUE)
    yield "three-bars", rows

    rows = canvas(256, 256, YELLOW)
    triangle(rows, 128, 40, 180, GREEN)
    yield "green-triangle", rows

    rows = canvas(256, 256, WHITE)
    for y in range(8):
        for x in range(8):
            if (x + y) % 2:
                rectangle(rows, 32 * x, 32 * y, 32, 32, BLACK)
    yield "chessboard", rows

    rows = [[(40 + y // 3, 90 + y // 2, 200)] * 640 for y in range(240)] + [[(24, 72, 104)] * 640 for _ in range(240)]
    disc(rows, 480, 120, 50, YELLOW)
    triangle(rows, 200, 120, 120, WHITE)
    rectangle(rows, 120, 240, 160, 24, BLACK)
    yield "boat-and-sun", rows

    rows = canvas(400, 100, WHITE)
    for i in range(5):
        disc(rows, 45 + 78 * i, 50, 30, GREEN if i == 2 else RED)
    yield "five-discs", rows


def convert(rows, target, *command):
    if shutil.which(command[0]):
        with open(target, "wb") as out:
            subprocess.run(command, input=ppm(rows), stdout=out, check=True)
    else:
        print(f"{target.name} left as it is: no {command[0]}", file=sys.stderr)


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent)
    for name, rows in pictures():
        if name == "boat-and-sun":
            convert(rows, folder / f"{name}.jpg", "cjpeg", "-quality", "90")
        elif name == "five-discs":
            convert(rows, folder / f"{name}.webp", "cwebp", "-quiet", "-lossless", "-o", "-", "--", "-")
        else:
            (folder / f"{name}.png").write_bytes(png(rows))


if __name__ == "__main__":
    main()
