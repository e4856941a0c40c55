#!/usr/bin/env python3
"""pack.py - makes the fixtures tests/zoo/h200/*.tar.xz of what `score.py --keep RECORDED` kept.

    tests/zoo/pack.py RECORDED [--build build] [--tree FOLDER] [--kinds live,core,ring,both]

RECORDED holds live, core, ring and both, each with a folder a case.  Kept of a case: its first two looks, its dump cut down by trim_core, its
recording.  --tree is the folder in which the kernels were compiled: its name, which line tables and records hold, becomes one of the same
length that says nothing.  Fails where some path of a machine is left.  A development script.
"""
import argparse, glob, io, lzma, os, re, struct, subprocess, sys, tarfile, tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
KINDS = ('live', 'core', 'ring', 'both')
HEAD, FRAME, LOOK = struct.Struct('<QII'), struct.Struct('<IIQQQ'), struct.Struct('<IIQQQII')  # tracer/evidence/record.h
LOOK_MAGIC = int.from_bytes(b'LOOK', 'little')
PATHS = re.compile(rb'/(?:tmp|work|root|home)/[\x21-\x7e]*')


def zstd(data, *options):
    return subprocess.run(['zstd', '-q', '-c', *options], input=data, capture_output=True, check=True).stdout


class Packer:
    def __init__(self, options):
        self.options = options
        self.tree = options.tree.rstrip('/').encode()
        self.neutral = ((b'/source/tree' if len(self.tree) == 12 else b'/source') + b'_' * len(self.tree))[:len(self.tree)]

    def clean(self, data, what):
        """Bytes without the name of the folder."""
        data = data.replace(self.tree, self.neutral)
        left = PATHS.search(data)
        if left:
            sys.exit(f'{what}: {left.group().decode()} is left')
        return data

    def recording(self, path):
        """The frames alone, as version 1 has them: the looks lie beside the recording, where they pack better."""
        with open(path, 'rb') as file:
            data = file.read()
        magic, _, reserved = HEAD.unpack_from(data)
        out, at = [HEAD.pack(magic, 1, reserved)], HEAD.size
        while at < len(data):
            if int.from_bytes(data[at:at + 4], 'little') == LOOK_MAGIC:
                at += LOOK.size + LOOK.unpack_from(data, at)[4]
                continue
            magic, processes, now_ns, _, packed = FRAME.unpack_from(data, at)
            plain = self.clean(zstd(data[at + FRAME.size:at + FRAME.size + packed], '-d'), path)
            again = zstd(plain, '-19', '--check')
            out += [FRAME.pack(magic, processes, now_ns, len(plain), len(again)), again]
            at += FRAME.size + packed
        return b''.join(out)

    def dump(self, path):
        """Cut down where it is whole; looks hold only what was read anyway."""
        with tempfile.TemporaryDirectory() as folder:
            trimmed = os.path.join(folder, 'core')
            subprocess.run([os.path.join(self.options.build, 'tests', 'trim_core'), path, trimmed], check=True)
            with open(trimmed, 'rb') as file:
                return self.clean(file.read(), path)

    def looks(self, folder):
        found = sorted(glob.glob(os.path.join(folder, 'look-*.core')), key=lambda path: int(path.rsplit('-', 1)[1][:-5]))[:2]
        if len(found) < 2:
            return {}
        return {f'{i + 1}.core': self.clean(open(path, 'rb').read(), path) for i, path in enumerate(found)}

    def files(self, kind, folder):
        if kind == 'live':
            return self.looks(folder)
        if kind == 'core':
            path, look = os.path.join(folder, 'core'), os.path.join(folder, 'look.core')
            if os.path.exists(look):  # what wsdbg read of a dump
                return {'core': self.clean(open(look, 'rb').read(), look)}
            return {'core': self.dump(path)} if os.path.exists(path) else {}
        path = os.path.join(folder, 'ring.wsrec')
        if not os.path.exists(path):
            return {}
        return {'ring.wsrec': self.recording(path), **(self.looks(folder) if kind == 'both' else {})}

    def pack(self, kind):
        """Files of one name behind each other, so that what they share is found."""
        rows = []
        for case in sorted(os.listdir(os.path.join(self.options.recorded, kind))):
            for name, data in self.files(kind, os.path.join(self.options.recorded, kind, case)).items():
                rows.append((name, case, data))
        plain = io.BytesIO()
        with tarfile.open(fileobj=plain, mode='w', format=tarfile.USTAR_FORMAT) as tar:
            for name, case, data in sorted(rows, key=lambda row: (row[1], row[0])):
                member = tarfile.TarInfo(f'{kind}/{case}/{name}')
                member.size = len(data)
                tar.addfile(member, io.BytesIO(data))
        path = os.path.join(HERE, 'h200', f'{kind}.tar.xz')
        filters = [{'id': lzma.FILTER_LZMA2, 'preset': 9 | lzma.PRESET_EXTREME, 'dict_size': 1 << 25}]
        with open(path, 'wb') as file:
            file.write(lzma.compress(plain.getvalue(), filters=filters))
        print(f'{path}: {len(rows)} files, {os.path.getsize(path)} bytes')


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('recorded')
    parser.add_argument('--build', default='build')
    parser.add_argument('--tree', required=True)
    parser.add_argument('--kinds', default=','.join(KINDS))
    options = parser.parse_args()
    packer = Packer(options)
    for kind in options.kinds.split(','):
        packer.pack(kind)


main()
