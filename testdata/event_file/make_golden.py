"""Writes golden.tfevents: the records below as TensorBoard's own code encodes and frames them.

Usage: python make_golden.py    (needs tensorboard; the values were made with 2.21.0)
"""

import json
import math
from pathlib import Path

from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.summary.writer.record_writer import RecordWriter

# Wall time, step, values. A step of 0 is left out of the bytes; a value of 0 is not.
RECORDS = [
    (1700000000.25, 0, {"loss": 0.6931471805599453}),
    (1700000001.5, 1, {"loss": 0.0, "learning_rate": 1e-3}),
    (1700000002.75, 127, {"loss": -1.5}),
    (1700000003.0, 128, {"valid/P@1": 0.875, "valid/nDCG@5": 0.7672, "überprüft": 3.0}),
    (1700000004.0, 3_000_000_000, {"a" * 200: 1e300}),
]


def to_f32(value):
    """What a float field holds; protobuf refuses what C rounds to infinity."""
    return math.inf if abs(value) > 3.5e38 else value


def main():
    folder = Path(__file__).parent
    with open(folder / "golden.tfevents", "wb") as file:
        writer = RecordWriter(file)
        writer.write(Event(wall_time=1700000000.0, file_version="brain.Event:2").SerializeToString())
        for wall_time, step, values in RECORDS:
            entries = [Summary.Value(tag=tag, simple_value=to_f32(v)) for tag, v in values.items()]
            event = Event(wall_time=wall_time, step=step, summary=Summary(value=entries))
            writer.write(event.SerializeToString())
    records = [[time, step, list(values.items())] for time, step, values in RECORDS]
    text = json.dumps(records, ensure_ascii=False, indent=1) + "\n"
    (folder / "golden.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
