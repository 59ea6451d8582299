"""Sums over processes by `torch.distributed`, for training that runs in the extension module.

Both packages share one libtorch, so that tensors stay where they are: what is summed is told by address.
"""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch.distributed import ProcessGroup


class TorchRanks:
    """What the extension module asks of the processes of a group.

    Values in main memory go through gloo, those on a GPU through the group itself where it is one of NCCL;
    else the extension module takes them through main memory.
    """

    def __init__(self, group: ProcessGroup) -> None:
        import torch.distributed as dist

        backend = dist.get_backend(group)
        ranks = dist.get_process_group_ranks(group)
        self.rank = dist.get_rank(group)
        self.count = dist.get_world_size(group)
        self._has_nccl = "nccl" in backend
        self._group = group
        # NCCL knows nothing of main memory.
        self._host = group if "gloo" in backend else dist.new_group(ranks, backend="gloo")

    def sum(self, address: int, length: int) -> None:
        """Replaces numbers of 32 bits in main memory by their sums over all processes."""
        import torch
        import torch.distributed as dist

        memory = (ctypes.c_float * length).from_address(address)
        dist.all_reduce(torch.frombuffer(memory, dtype=torch.float32), group=self._host)

    def sum_on_gpu(self, address: int, length: int, gpu: int) -> bool:
        """As `sum`, on a GPU; False where the group cannot."""
        if not self._has_nccl:
            return False
        import torch
        import torch.distributed as dist

        with torch.cuda.device(gpu):
            values = torch.as_tensor(_OnGpu(address, length), device=f"cuda:{gpu}")
            # Both packages queue their work in the same stream, which waits for the sums.
            dist.all_reduce(values, group=self._group)
        return True

    def gather(self, own: bytes) -> list[bytes]:
        """What every process has to say, in the order of ranks."""
        import torch
        import torch.distributed as dist

        lengths = torch.zeros(self.count, dtype=torch.int64)
        lengths[self.rank] = len(own)
        dist.all_reduce(lengths, group=self._host)
        longest = int(lengths.max())
        if longest == 0:
            return [b""] * self.count
        padded = torch.frombuffer(bytearray(own.ljust(longest, b"\0")), dtype=torch.uint8)
        said = [torch.empty(longest, dtype=torch.uint8) for _ in range(self.count)]
        dist.all_gather(said, padded, group=self._host)
        return [
            bytes(one.numpy()[:length].tobytes()) for one, length in zip(said, lengths.tolist())
        ]


class _OnGpu:
    """Memory that is there already, as PyTorch takes it without a copy."""

    def __init__(self, address: int, length: int) -> None:
        self.__cuda_array_interface__: dict[str, Any] = {
            "shape": (length,),
            "typestr": "<f4",
            "data": (address, False),
            "version": 3,
        }
