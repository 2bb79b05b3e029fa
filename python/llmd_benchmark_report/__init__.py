# SPDX-License-Identifier: Apache-2.0
"""Benchmark reports through libassay-report, under the names of the llm-d package.

The library is looked for as ASSAY_REPORT_LIBRARY (a path), then beside this module where it was installed with it, then
as libassay-report.so.0. Nothing but the standard library is needed. Errors are ValueError with all problems, one a line;
what a conversion left out is a warning.
"""
import ctypes
import glob
import json
import os
import warnings

__all__ = [
    "BenchmarkReport", "BenchmarkReportV01", "BenchmarkReportV02", "import_benchmark_report", "load_benchmark_report",
    "yaml_str_to_benchmark_report", "make_json_schema", "import_aiperf", "import_guidellm", "import_guidellm_all",
    "import_inference_max", "import_inference_perf", "import_inference_perf_session", "import_nop", "import_vllm_benchmark",
]

_text = ctypes.c_void_p


class _Conversion(ctypes.Structure):
    _fields_ = [
        ("generator", ctypes.c_char_p), ("version", ctypes.c_char_p), ("is_session", ctypes.c_bool), ("has_index", ctypes.c_bool),
        ("index", ctypes.c_int64), ("description", ctypes.c_char_p), ("keywords", ctypes.c_char_p), ("reads_environment", ctypes.c_bool),
    ]


def _find():
    """PREFIX/share/assay/python/llmd_benchmark_report is this folder when it was installed."""
    prefix = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), *[os.pardir] * 4))
    places = ("lib", "lib64", os.path.join("lib", "*-linux-*"))
    found = [path for place in places for path in sorted(glob.glob(os.path.join(glob.escape(prefix), place, "libassay-report.so.0")))]
    return os.environ.get("ASSAY_REPORT_LIBRARY") or (found + ["libassay-report.so.0"])[0]


def _load():
    library = ctypes.CDLL(_find())
    pointer, errors, size = ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p), ctypes.c_size_t
    signatures = {
        "assay_report_version": (ctypes.c_char_p, []),
        "assay_result_text": (ctypes.c_char_p, [ctypes.c_int]),
        "assay_text_free": (None, [_text]),
        "assay_errors_count": (size, [pointer]),
        "assay_errors_path": (ctypes.c_char_p, [pointer, size]),
        "assay_errors_message": (ctypes.c_char_p, [pointer, size]),
        "assay_errors_free": (None, [pointer]),
        "assay_report_read_file": (ctypes.c_int, [ctypes.c_char_p, errors, errors]),
        "assay_report_read_text": (ctypes.c_int, [ctypes.c_char_p, size, errors, errors]),
        "assay_report_build": (ctypes.c_int, [ctypes.c_char_p, ctypes.c_char_p, size, errors, errors]),
        "assay_report_free": (None, [pointer]),
        "assay_report_get": (_text, [pointer, ctypes.c_char_p]),
        "assay_report_set": (ctypes.c_int, [pointer, ctypes.c_char_p, ctypes.c_char_p, errors]),
        "assay_report_yaml": (_text, [pointer]),
        "assay_report_json": (_text, [pointer]),
        "assay_report_write_yaml": (ctypes.c_int, [pointer, ctypes.c_char_p, errors]),
        "assay_report_write_json": (ctypes.c_int, [pointer, ctypes.c_char_p, errors]),
        "assay_report_schema": (_text, [ctypes.c_char_p]),
        "assay_convert_file": (ctypes.c_int, [ctypes.POINTER(_Conversion), ctypes.c_char_p, errors, errors]),
        "assay_reports_count": (size, [pointer]),
        "assay_reports_warnings": (ctypes.c_char_p, [pointer]),
        "assay_reports_take": (pointer, [pointer, size]),
        "assay_reports_free": (None, [pointer]),
    }
    for name, (result, arguments) in signatures.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


_library = _load()
__version__ = _library.assay_report_version().decode()


def _take(text):
    """A text of the library as str; None for NULL."""
    if not text:
        return None
    try:
        return ctypes.string_at(text).decode()
    finally:
        _library.assay_text_free(text)


def _check(result, errors):
    if result == 0:
        return
    lines = []
    for index in range(_library.assay_errors_count(errors)):
        path = _library.assay_errors_path(errors, index).decode()
        message = _library.assay_errors_message(errors, index).decode()
        lines.append(f"{path}: {message}" if path else message)
    _library.assay_errors_free(errors)
    raise ValueError("\n".join(lines) or _library.assay_result_text(result).decode())


def _bytes(text):
    return None if text is None else os.fsencode(text)


class _Part:
    """Attributes of a report below its top; setting one checks the report."""

    def __init__(self, report, path):
        object.__setattr__(self, "_report", report)
        object.__setattr__(self, "_path", path)

    def __getattr__(self, name):
        return self._report._value(f"{self._path}.{name}")

    def __setattr__(self, name, value):
        self._report._set(f"{self._path}.{name}", value)

    def __getitem__(self, index):
        content = self.dump()
        if isinstance(content, list) and index < 0:
            index += len(content)
        content[index]  # raises what lists and dicts raise
        return self._report._value(f"{self._path}.{index}")

    def __len__(self):
        return len(self.dump())

    def __iter__(self):
        content = self.dump()
        return (self[index] for index in range(len(content))) if isinstance(content, list) else iter(content)

    def __eq__(self, other):
        return self.dump() == (other.dump() if isinstance(other, _Part) else other)

    def dump(self):
        return json.loads(self._report._json(self._path))


class BenchmarkReport:
    """A valid report; use BenchmarkReportV01, BenchmarkReportV02 or an import function."""

    _default_version = "0.2.1"

    def __init__(self, **members):
        text = json.dumps(members, default=str).encode()
        handle, errors = ctypes.c_void_p(), ctypes.c_void_p()
        _check(_library.assay_report_build(self._default_version.encode(), text, len(text), ctypes.byref(handle), ctypes.byref(errors)), errors)
        object.__setattr__(self, "_handle", handle.value)

    @classmethod
    def _of(cls, handle):
        version = json.loads(_take(_library.assay_report_get(handle, b"version")))
        report = object.__new__(BenchmarkReportV01 if version == "0.1" else BenchmarkReportV02)
        object.__setattr__(report, "_handle", handle)
        return report

    def __del__(self):
        if getattr(self, "_handle", None):
            _library.assay_report_free(self._handle)

    def _json(self, path):
        return _take(_library.assay_report_get(self._handle, path.encode()))

    def _value(self, path):
        text = self._json(path)
        if text is None:
            return None
        value = json.loads(text)
        return _Part(self, path) if isinstance(value, (dict, list)) else value

    def _set(self, path, value):
        errors = ctypes.c_void_p()
        if isinstance(value, _Part):
            value = value.dump()
        text = None if value is None else json.dumps(value, default=str).encode()
        _check(_library.assay_report_set(self._handle, path.encode(), text, ctypes.byref(errors)), errors)

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return self._value(name)

    def __setattr__(self, name, value):
        self._set(name, value)

    def dump(self):
        """The report as dicts and lists."""
        return json.loads(self._json(""))

    def get_json_str(self):
        return _take(_library.assay_report_json(self._handle))

    def get_yaml_str(self):
        return _take(_library.assay_report_yaml(self._handle))

    def print_json(self):
        print(self.get_json_str())

    def print_yaml(self):
        print(self.get_yaml_str())

    def export_json(self, filename):
        errors = ctypes.c_void_p()
        _check(_library.assay_report_write_json(self._handle, _bytes(filename), ctypes.byref(errors)), errors)

    def export_yaml(self, filename):
        errors = ctypes.c_void_p()
        _check(_library.assay_report_write_yaml(self._handle, _bytes(filename), ctypes.byref(errors)), errors)


class BenchmarkReportV01(BenchmarkReport):
    _default_version = "0.1"


class BenchmarkReportV02(BenchmarkReport):
    _default_version = "0.2.1"


def import_benchmark_report(br_file):
    """A report from a JSON or YAML file; its version chooses the class."""
    handle, errors = ctypes.c_void_p(), ctypes.c_void_p()
    _check(_library.assay_report_read_file(_bytes(br_file), ctypes.byref(handle), ctypes.byref(errors)), errors)
    return BenchmarkReport._of(handle.value)


def yaml_str_to_benchmark_report(yaml_str):
    """The same from text, JSON or YAML."""
    text = yaml_str.encode()
    handle, errors = ctypes.c_void_p(), ctypes.c_void_p()
    _check(_library.assay_report_read_text(text, len(text), ctypes.byref(handle), ctypes.byref(errors)), errors)
    return BenchmarkReport._of(handle.value)


def load_benchmark_report(data):
    """The same from a dict."""
    return yaml_str_to_benchmark_report(json.dumps(data, default=str))


def make_json_schema(version="0.2.1"):
    """The JSON Schema of a version, as text."""
    schema = _take(_library.assay_report_schema(version.encode()))
    if not schema:
        raise ValueError(f"Unsupported schema version: {version}")
    return schema


def _convert(generator, results_file, version, index=None, is_session=False):
    conversion = _Conversion(generator.encode(), version.encode(), is_session, index is not None, index or 0, None, None, True)
    reports, errors = ctypes.c_void_p(), ctypes.c_void_p()
    _check(_library.assay_convert_file(ctypes.byref(conversion), _bytes(results_file), ctypes.byref(reports), ctypes.byref(errors)), errors)
    try:
        for line in _library.assay_reports_warnings(reports).decode().splitlines():
            warnings.warn(line, stacklevel=3)
        return [BenchmarkReport._of(_library.assay_reports_take(reports, i)) for i in range(_library.assay_reports_count(reports))]
    finally:
        _library.assay_reports_free(reports)


def import_aiperf(results_file, version="0.2.1"):
    return _convert("aiperf", results_file, version)[0]


def import_guidellm(results_file, index=0, version="0.2.1"):
    return _convert("guidellm", results_file, version, index)[0]


def import_guidellm_all(results_file, version="0.2.1"):
    return _convert("guidellm", results_file, version)


def import_inference_max(results_file, version="0.2.1"):
    return _convert("inferencemax", results_file, version)[0]


def import_inference_perf(results_file, version="0.2.1"):
    return _convert("inference-perf", results_file, version)[0]


def import_inference_perf_session(results_file, version="0.2.1"):
    return _convert("inference-perf", results_file, version, is_session=True)[0]


def import_nop(results_file, version="0.1"):
    return _convert("nop", results_file, version)[0]


def import_vllm_benchmark(results_file, version="0.2.1"):
    return _convert("vllm-benchmark", results_file, version)[0]
