"""A Kafka producer that takes a whole array of messages in one call.

It speaks to the C interface of the librdkafka that confluent-kafka carries. That package's own calls cost about a
microsecond per record, in which the interpreter is held; here a record costs no Python at all, and generation goes on
in the meantime.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from functools import cache

import confluent_kafka.cimpl
import numpy as np
import numpy.typing as npt

from streamgauge.model.errors import LogError, UserError

MESSAGE = np.dtype(
    [
        ("err", np.int32),
        ("topic", np.uint64),
        ("partition", np.int32),
        ("payload", np.uint64),
        ("payload_size", np.uint64),
        ("key", np.uint64),
        ("key_size", np.uint64),
        ("offset", np.int64),
        ("private", np.uint64),
    ],
    align=True,
)
"""rd_kafka_message_t of rdkafka.h: payload and key are addresses, 0 for none."""

_PRODUCER = 0
_COPY_PAYLOAD = 0x2
_PURGE_ALL = 0x3
_ERROR_SIZE = 512
_DELIVERY_CALLBACK = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
_ERROR_CALLBACK = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p)

_P, _S, _I, _N = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int, ctypes.c_size_t
_SIGNATURES: dict[str, tuple[type | None, list[type]]] = {
    "rd_kafka_conf_new": (_P, []),
    "rd_kafka_conf_destroy": (None, [_P]),
    "rd_kafka_conf_set": (_I, [_P, _S, _S, _S, _N]),
    "rd_kafka_conf_set_dr_msg_cb": (None, [_P, _DELIVERY_CALLBACK]),
    "rd_kafka_conf_set_error_cb": (None, [_P, _ERROR_CALLBACK]),
    "rd_kafka_new": (_P, [_I, _P, _S, _N]),
    "rd_kafka_topic_new": (_P, [_P, _S, _P]),
    "rd_kafka_topic_destroy": (None, [_P]),
    "rd_kafka_produce_batch": (_I, [_P, ctypes.c_int32, _I, _P, _I]),
    "rd_kafka_outq_len": (_I, [_P]),
    "rd_kafka_poll": (_I, [_P, _I]),
    "rd_kafka_flush": (_I, [_P, _I]),
    "rd_kafka_purge": (_I, [_P, _I]),
    "rd_kafka_destroy": (None, [_P]),
    "rd_kafka_err2str": (_S, [_I]),
}


@cache
def _library() -> ctypes.CDLL:
    """The C interface, found through the extension module that is linked with it."""
    library = ctypes.CDLL(confluent_kafka.cimpl.__file__)
    try:
        for name, (result, arguments) in _SIGNATURES.items():
            function = getattr(library, name)
            function.restype, function.argtypes = result, arguments
    except AttributeError as error:
        raise UserError(
            f"this build of confluent-kafka hides librdkafka ({error})", "Install its wheel for Linux or macOS"
        ) from None
    return library


class NativeProducer:
    """Sends arrays of messages to one topic, in order within each partition; counts what the log refused."""

    def __init__(self, topic: str, config: Mapping[str, str]) -> None:
        self._library = _library()
        self.failures = 0
        self.first_failure: str | None = None
        self.last_trouble: str | None = None
        """What the client said last of the connection: the likely cause when events fail."""
        self.largest_queue = int(config.get("queue.buffering.max.messages", 100_000))
        self._callbacks = (_DELIVERY_CALLBACK(self._on_delivery), _ERROR_CALLBACK(self._on_trouble))
        self._handle = self._opened({**config, "delivery.report.only.error": "true"})
        self._topic = self._library.rd_kafka_topic_new(self._handle, topic.encode(), None)
        if not self._topic:
            raise UserError(f"'{topic}' is no name for a topic")

    def _opened(self, config: Mapping[str, str]) -> int:
        library, error = self._library, ctypes.create_string_buffer(_ERROR_SIZE)
        settings = library.rd_kafka_conf_new()
        for name, value in config.items():
            if library.rd_kafka_conf_set(settings, name.encode(), str(value).encode(), error, _ERROR_SIZE):
                library.rd_kafka_conf_destroy(settings)
                raise UserError(f"Kafka setting {name}: {error.value.decode()}", "Correct the Kafka settings")
        library.rd_kafka_conf_set_dr_msg_cb(settings, self._callbacks[0])
        library.rd_kafka_conf_set_error_cb(settings, self._callbacks[1])
        handle = library.rd_kafka_new(_PRODUCER, settings, error, _ERROR_SIZE)
        if not handle:
            library.rd_kafka_conf_destroy(settings)
            raise UserError(f"Kafka settings: {error.value.decode()}", "Correct the Kafka settings")
        return int(handle)

    def _on_delivery(self, handle: int, message: int, opaque: int) -> None:
        self.failures += 1
        if self.first_failure is None:
            code = ctypes.cast(message, ctypes.POINTER(ctypes.c_int)).contents.value
            self.first_failure = self._library.rd_kafka_err2str(code).decode()

    def _on_trouble(self, handle: int, code: int, reason: bytes, opaque: int) -> None:
        self.last_trouble = reason.decode("utf-8", "replace")

    @property
    def queued(self) -> int:
        """Messages that the log has not acknowledged yet."""
        return int(self._library.rd_kafka_outq_len(self._handle))

    def send(self, partition: int, messages: npt.NDArray[np.void]) -> None:
        """Copy messages of dtype MESSAGE into the partition's queue; the caller has seen to it that there is room."""
        count = len(messages)
        taken = self._library.rd_kafka_produce_batch(self._topic, partition, _COPY_PAYLOAD, messages.ctypes.data, count)
        if taken != count:
            # Later messages may have been taken after a refused one: sending it again would break the order.
            code = int(messages["err"][messages["err"] != 0][0])
            reason = self._library.rd_kafka_err2str(code).decode()
            raise LogError(f"{count - taken} events could not be queued: {reason}", "Check the Kafka settings")

    def poll(self, wait_ms: int = 0) -> None:
        """Let the client report refused messages and trouble."""
        self._library.rd_kafka_poll(self._handle, wait_ms)

    def flush(self, wait_ms: int) -> int:
        """Wait until the log has acknowledged all; returns how many messages are left when the time is over."""
        self._library.rd_kafka_flush(self._handle, wait_ms)
        return self.queued

    def close(self) -> None:
        """Drop what is still queued and end the client's threads."""
        if self._handle:
            self._library.rd_kafka_purge(self._handle, _PURGE_ALL)
            self._library.rd_kafka_flush(self._handle, 200)
            self._library.rd_kafka_topic_destroy(self._topic)
            self._library.rd_kafka_destroy(self._handle)
            self._handle = 0
