"""Frames of the vector protocol: the same bytes as in the specification and in TypeScript's codec."""

import numpy as np
import pytest

from agentgym._vector.frames import (
    Field,
    Layout,
    Reply,
    Reset,
    Step,
    decode_reply,
    decode_request,
    encode_reply,
    encode_reset,
    encode_step,
)
from agentgym.errors import AgentGymError

EXAMPLE = Layout(2, "same_step", (Field("obs", "float32", (1,)),), (Field("action", "int32", ()),), 0)
EXAMPLE_REPLY = bytes.fromhex(
    "0300000005000000 0100000001000000 0000003f0000803e 000000000000f03f 0000000000000040"
    "0001000000000000 0000000000000000 000080bf00000000 0300000000000000 776f6e0000000000 000000000000f03f"
)


def test_the_example_of_the_specification() -> None:
    step = Step(5, [np.array([1, 0], np.int32)])
    assert encode_step(EXAMPLE, step) == bytes.fromhex("0200000005000000 0100000000000000")
    reply = decode_reply(EXAMPLE, EXAMPLE_REPLY)
    assert reply.request == 5
    assert reply.observations[0].tolist() == [[0.5], [0.25]]
    assert reply.rewards.tolist() == [1, 2]
    assert reply.ended.tolist() == [1]
    assert reply.final[0].tolist() == [[-1]]
    assert (reply.metric_names, reply.metrics.tolist()) == (["won"], [[1]])
    assert encode_reply(EXAMPLE, reply) == EXAMPLE_REPLY


LAYOUT = Layout(
    3,
    "same_step",
    (Field("camera", "uint8", (2, 3)), Field("words", "text", ()), Field("kind", "int32", (2,))),
    (Field("gas", "float32", ()), Field("gear", "int32", ())),
    4,
)


def _reply() -> Reply:
    return Reply(
        2**32 - 1,
        [np.arange(18, dtype=np.uint8).reshape(3, 2, 3), ["", "größer 🙂", "x"], np.arange(6, dtype=np.int32).reshape(3, 2)],
        np.array([0.1, -1e300, 3]),
        np.array([True, False, True]),
        np.array([False, False, True]),
        np.eye(3, 4, dtype=np.bool_),
        [np.ones((2, 2, 3), np.uint8), ["a", ""], np.zeros((2, 2), np.int32)],
        ["won", "längen"],
        np.array([[1, np.nan], [2, 3.0]]),
    )


def test_every_kind_of_array_is_read_as_it_was_written() -> None:
    written, read = _reply(), decode_reply(LAYOUT, encode_reply(LAYOUT, _reply()))
    for name, value in vars(written).items():
        np.testing.assert_equal(getattr(read, name), value, err_msg=name)
    actions = [np.array([0.5, 1, 2], np.float32), np.array([0, 1, 2], np.int32)]
    step = decode_request(LAYOUT, encode_step(LAYOUT, Step(7, actions)))
    assert isinstance(step, Step)
    np.testing.assert_equal(step.actions, actions)
    mask, seeds = np.array([True, False, True]), np.array([-1, 2**53 - 1, 0])
    reset = decode_request(LAYOUT, encode_reset(Reset(8, mask, seeds)))
    assert isinstance(reset, Reset)
    np.testing.assert_equal((reset.mask, reset.seeds), (mask, seeds))


def test_arrays_belong_to_the_caller() -> None:
    frame = encode_reply(LAYOUT, _reply())
    first, second = decode_reply(LAYOUT, frame), decode_reply(LAYOUT, frame)
    assert isinstance(first.observations[0], np.ndarray)
    first.observations[0][:] = 0
    assert second.observations[0].max() == 17


def test_a_frame_that_is_cut_or_longer_is_refused() -> None:
    frame = encode_reply(LAYOUT, _reply())
    for wrong in [frame[:length] for length in range(0, len(frame), 3)] + [frame + bytes(8)]:
        with pytest.raises(AgentGymError) as caught:
            decode_reply(LAYOUT, wrong)
        assert caught.value.code == "frame_invalid"
    with pytest.raises(AgentGymError, match="operation 9"):
        decode_request(LAYOUT, bytes([9, *bytes(15)]))
