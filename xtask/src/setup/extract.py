"""Takes the parts of libtorch that the CPU needs out of the wheels, or licences alone:
extract.py TARGET all|licences WHEEL..."""

import pathlib
import shutil
import sys
import zipfile

LIBRARIES = {"libtorch_cpu.so", "libc10.so", "libgomp.so.1", "libcudart.so.13", "libcupti.so.13"}


LICENCES = ("license", "notice")


def place(member):
    """Where a file of a wheel belongs below TARGET, or None."""
    path = pathlib.PurePosixPath(member)
    if path.parts[0].endswith(".dist-info") and path.name.lower().startswith(LICENCES):
        return pathlib.Path("licences", path.parts[0].removesuffix(".dist-info"), path.name)
    if sys.argv[2] == "licences":
        return None
    if path.parent.name == "lib" and path.name in LIBRARIES:
        return pathlib.Path("lib", path.name)
    if path.parts[:2] == ("torch", "include"):
        return pathlib.Path("include", *path.parts[2:])
    return None


def main():
    target = pathlib.Path(sys.argv[1])
    for wheel in sys.argv[3:]:
        with zipfile.ZipFile(wheel) as archive:
            for entry in archive.infolist():
                relative = place(entry.filename)
                if relative is None or entry.is_dir():
                    continue
                path = target / relative
                path.parent.mkdir(parents=True, exist_ok=True)
                with archive.open(entry) as source, open(path, "wb") as sink:
                    shutil.copyfileobj(source, sink, 1 << 20)


main()
