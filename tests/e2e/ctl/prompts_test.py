# SPDX-License-Identifier: Apache-2.0
"""assay ctl prompts: files of prompt sources up and down, and their images or recordings in a restic repository."""

import hashlib
import json
import os
import pathlib
import shutil
import tempfile
import unittest

from ctl_test import Deployment

PROMPTS = ('{"prompt": "How long is a piece of string?", "expected_output_tokens": 12}\n'
           '{ "prompt" : "Zähle bis drei." }')
CODE = "librispeech-test-clean"


def sha256(data):
    return hashlib.sha256(data).hexdigest()


class Prompts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.one = Deployment()
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="assay-prompts-"))

    @classmethod
    def tearDownClass(cls):
        cls.one.close()
        shutil.rmtree(cls.folder)

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    def test_a_library_goes_up_and_comes_down(self):
        one, path = self.one, self.write("own.jsonl", PROMPTS)
        size, digest = len(PROMPTS.encode()), sha256(PROMPTS.encode())
        self.assertEqual(one.ok("prompts", "upload", "own", path).out, f"own: 2 rows, {size} bytes, sha256 {digest}, ready\n")
        again = one.ok("prompts", "upload", "own", "-", "--json", given=PROMPTS).json
        self.assertEqual((again["file_digest"], again["source_type"], again["words_max"]), (digest, "prompt_library", 7))
        self.assertEqual(one.ok("prompts", "download", "own").out, PROMPTS)
        self.assertEqual(one.ok("prompts", "show", "own", "--json").json, again)
        listed = one.ok("prompts", "list", "--json").json
        self.assertEqual([item["row_count"] for item in listed if item["source_code"] == "own"], [2])
        self.assertIn("bytes_missing", one.ok("prompts", "list").out)

    def test_what_is_wrong_is_named(self):
        one, path = self.one, self.write("bad.jsonl", '{"prompt": "a"}\n{"promt": "b"}\n')
        bad = one.ctl("prompts", "upload", "bad", path)
        self.assertEqual(bad.code, 65)
        self.assertIn('line 2: the member "prompt" is missing', bad.err)
        self.assertEqual(one.ctl("prompts", "download", "bad").code, 66)
        self.assertEqual(one.ctl("prompts", "show", "nowhere").code, 66)
        self.assertEqual(one.ctl("prompts", "upload", "bad", self.folder / "none").code, 66)
        self.assertEqual(one.ctl("prompts", "upload", "bad").code, 2)
        other = one.ctl("prompts", "upload", CODE, path, "--type", "prompt_library")
        self.assertEqual(other.code, 70)
        self.assertIn("metrumbench_asr_snapshot", other.err)

    @unittest.skipUnless(shutil.which("restic"), "restic is not installed")
    def test_recordings_are_stored_and_restored(self):
        one, audio = self.one, {"1089/a.flac": b"fLaC one", "1089/b.flac": bytes(range(256)) * 400}
        lines = []
        for name, data in audio.items():
            self.write("speech/" + name, data)
            lines.append(json.dumps({"id": name[5:6], "path": name, "duration": 1.5, "transcript": "one", "digest": sha256(data)}))
        manifest = self.write("speech.jsonl", "\n".join(lines) + "\n")
        repository = self.folder / "repository"
        password = self.write("password", "correct horse\n")
        words = ("--repository", repository, "--password-file", password)

        self.assertIn("upload", one.ctl("prompts", "store", CODE, self.folder / "speech", *words).err)
        self.assertIn("bytes_missing", one.ok("prompts", "upload", CODE, manifest).out)
        missing = one.ctl("prompts", "store", CODE, self.folder, *words)
        self.assertEqual(missing.code, 66)
        self.assertIn("line 1: 1089/a.flac is not in the folder", missing.err)
        self.assertFalse(repository.exists())
        stored = one.ok("prompts", "store", CODE, self.folder / "speech", *words)
        self.assertTrue(stored.out.endswith("ready\n"), stored.out)
        self.assertNotIn("horse", stored.out + stored.err)
        source = one.ok("prompts", "show", CODE, "--json").json
        self.assertEqual((source["state"], source["restic_repository"], source["bytes_total"]),
                         ("ready", str(repository), sum(map(len, audio.values()))))

        back = self.folder / "back"
        told = one.ok("prompts", "restore", CODE, back, "--password-file", password).out
        self.assertEqual(told, f"{back}: 2 files, 2 of them held against their digest\n")
        for name, data in audio.items():
            self.assertEqual((back / name).read_bytes(), data)

        wrong = one.ctl("prompts", "restore", CODE, self.folder / "no", "--password-file", self.write("wrong", "battery\n"))
        self.assertEqual(wrong.code, 77)
        self.assertIn("password", wrong.err)
        gone = one.ctl("prompts", "restore", CODE, self.folder / "no", "--password-file", password, "--repository", self.folder / "none")
        self.assertEqual((gone.code, "no restic repository" in gone.err), (66, True), gone.err)

        # Bytes that are not those of the file's digests.
        (self.folder / "speech/1089/a.flac").write_bytes(b"fLaC two")
        changed = one.ctl("prompts", "store", CODE, self.folder / "speech", *words)
        self.assertEqual(changed.code, 65)
        self.assertIn("line 1: 1089/a.flac has another digest", changed.err)

    def with_path(self, path, *words):
        before = os.environ["PATH"]
        os.environ["PATH"] = str(path)
        try:
            return self.one.ctl(*words)
        finally:
            os.environ["PATH"] = before

    def test_a_locked_repository_and_no_restic_are_told(self):
        one = self.one
        self.write("pictures/1.png", b"png")
        one.ok("prompts", "upload", "pictures", self.write("pictures.jsonl", '{"prompt": "what?", "image_urls": ["1.png"]}'),
               "--type", "metrumbench_vlm_snapshot")
        password = self.write("password", "correct horse\n")
        repository = self.folder / "locked"
        words = ("prompts", "store", "pictures", self.folder / "pictures", "--repository", repository, "--password-file", password)
        # What restic says of a lock that another process holds, by a stand-in: its own locks are gone in a moment.
        tools = self.folder / "tools"
        stand_in = self.write("tools/restic", "#!/bin/sh\n[ \"$1\" = init ] && exit 0\necho 'unable to create lock in backend: repository is "
                                              "already locked exclusively by PID 1 on host by root' >&2\nexit 1\n")
        stand_in.chmod(0o755)
        locked = self.with_path(tools, *words)
        self.assertEqual(locked.code, 70, locked.err)
        self.assertIn("restic unlock", locked.err)
        none = self.with_path(self.folder / "nothing", *words)
        self.assertEqual(none.code, 66)
        self.assertIn("apt install restic", none.err)
        up = self.write("up.jsonl", '{"prompt": "what?", "image_urls": ["../1.png"]}')
        one.ok("prompts", "upload", "steps", up, "--type", "metrumbench_vlm_snapshot")
        outside = one.ctl("prompts", "store", "steps", *words[3:])
        self.assertEqual(outside.code, 65)
        self.assertIn("must be a path inside the folder", outside.err)


if __name__ == "__main__":
    unittest.main()
