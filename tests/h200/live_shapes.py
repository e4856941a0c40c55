"""live_shapes.py - live.py's parts shapes, captures, mps and user: programs of other shapes, with MPS in the way, as an ordinary user.

Reads what wsdbg says of build/bin/shapes and waits, and what kernel_stream finds; returns rows for live_tables.py.  Needs build/lib beside build/bin.
"""
import json, os, re, shutil, signal, subprocess, time

LIMIT_S = 20
PLACES = '''SELECT f.name AS kernel, c."row" AS context, c.device_ordinal AS device FROM grid g
LEFT JOIN context c ON c.id = g.context_id LEFT JOIN function f ON f.id = g.function_id
WHERE g.snapshot_id = (SELECT max(id) FROM snapshot)'''
NOBODY = '65534'


def modes(live):
    text = subprocess.run([live.tool('shapes'), '--list'], capture_output=True, text=True, timeout=20).stdout
    return [line.split('\t') for line in text.splitlines()]


def places(live):
    """Kernel, context row and device ordinal of every grid of the newest picture in the database."""
    query = [live.tool('wsdbg'), 'query', os.path.join(live.scratch, 'run.db'), PLACES, '--json']
    done = subprocess.run(query, capture_output=True, text=True, timeout=20)
    try:
        return json.loads(done.stdout)
    except ValueError:
        return []


def looks_at(*moments_s):
    """A look forced at each moment (seconds after the start of wsdbg)."""
    def during(process):
        start = time.monotonic()
        for moment_s in moments_s:
            time.sleep(max(0, start + moment_s - time.monotonic()))
            process.send_signal(signal.SIGQUIT)
    return during


def own_words(stderr, program):
    """What the program itself complained of."""
    return [line for line in stderr.splitlines() if line.startswith(program + ':')]


def told(live, result, cause, kernel):
    """What a run said, beside what was expected."""
    report = result['report'] or {}
    judged = live.judge(result, cause, '', '')
    first = (report.get('findings') or [{}])[0]
    grids, at = report.get('grids') or [], first.get('grid')
    named = grids[at]['symbol'] if isinstance(at, int) and at < len(grids) else None
    standing = [place for place in places(live) if place['kernel'] == named] if named else []
    return {'status': result['status'], 'hang': result['status'] == 124, 'cause': judged['cause'], 'confidence': judged['confidence'],
            'cause_right': judged['cause'] == cause if cause else not result['status'] == 124, 'kernel': named,
            'kernel_right': named == kernel, 'places': standing, 'verdict_ms': judged['verdict_ms'], 'looks': judged['looks'],
            'pictures': result['stderr'].count('where every warp stands now'), 'notes': report.get('notes'),
            'stderr': result['stderr'][-2000:], 'seconds': result['seconds']}


def shape(live, mode, cause, kernel, form):
    capture = mode.startswith('capture')
    program = [live.tool('shapes'), mode, '--seconds', '5' if capture else '4', *(['--healthy'] if form == 'healthy' else [])]
    moments = (1.2, 2.0, 2.8) if form == 'healthy' else (1.5,) if capture else ()
    # So that the capture is seen to end well after the hang was found.
    extra = ['--on-stall', 'wait'] if mode == 'capture' else []
    result = live.watched(program, ['--evidence', 'live', *extra], limit=LIMIT_S, during=looks_at(*moments))
    words = own_words(result['stderr'], 'shapes')
    return {'mode': mode, 'form': form, 'expected': [cause, kernel], **told(live, result, cause, kernel), 'complaints': words,
            'printed': result['stdout'].splitlines(), 'skipped': '; '.join(words) if result['status'] == 77 else ''}


def shapes(live):
    table = []
    for mode, cause, kernel, _ in modes(live):
        for form in ('hung', 'healthy'):
            row = shape(live, mode, cause if form == 'hung' else '', kernel, form)
            table.append(row)
            live.keep(table)
            print('shapes', mode, form, row['status'], row['cause'], row['kernel'], row['places'], row['verdict_ms'], row['pictures'],
                  row['printed'][-2:], row['complaints'], flush=True)
            if row['skipped']:
                break
    return table


def captures(live):
    """What the driver lets a thread of ours do while another one captures."""
    done = subprocess.run([live.tool('kernel_stream'), '--captures'], capture_output=True, text=True, timeout=LIMIT_S)
    print('captures', done.returncode, done.stdout, done.stderr, flush=True)
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith('{')]


# ---- MPS ----

def start_mps(folder):
    """The control daemon as our child; its folders are in the environment."""
    for name in ('pipe', 'log'):
        os.makedirs(os.path.join(folder, name), exist_ok=True)
    os.environ['CUDA_MPS_PIPE_DIRECTORY'] = os.path.join(folder, 'pipe')
    os.environ['CUDA_MPS_LOG_DIRECTORY'] = os.path.join(folder, 'log')
    daemon = subprocess.Popen(['nvidia-cuda-mps-control', '-f'], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL)
    control = os.path.join(folder, 'pipe', 'control')
    for _ in range(50):
        if os.path.exists(control) or daemon.poll() is not None:
            break
        time.sleep(0.1)
    return daemon


def stop_mps(daemon):
    try:
        subprocess.run(['nvidia-cuda-mps-control'], input='quit -t 3\n', text=True, capture_output=True, timeout=15)
        daemon.wait(timeout=10)
        ended = 'by its own quit'
    except subprocess.TimeoutExpired:
        daemon.kill()
        daemon.wait()
        ended = 'killed'
    return ended


def hang_of(live, title, cause='ARRIVE_SHORT'):
    result = live.watched([live.tool('waits'), '--bug', 'arrive-short'], ['--evidence', 'live'], limit=LIMIT_S)
    row = {'case': title, **told(live, result, cause, 'wait_arrive_short'), 'complaints': own_words(result['stderr'], 'waits')}
    print(title, row['status'], row['cause'], row['verdict_ms'], row['stderr'][-400:], flush=True)
    return row


def mps(live):
    if not shutil.which('nvidia-cuda-mps-control'):
        return [{'case': 'mps', 'skipped': 'there is no nvidia-cuda-mps-control'}]
    daemon = start_mps(os.path.join(live.scratch, 'mps'))
    table = []
    try:
        table.append({'daemon': daemon.poll() is None, **hang_of(live, 'MPS runs', '')})
        live.keep(table)
    finally:
        ended = stop_mps(daemon)
    left = os.path.exists(os.path.join(os.environ['CUDA_MPS_PIPE_DIRECTORY'], 'control'))
    table.append({'daemon': False, 'ended': ended, 'pipe_left': left, **hang_of(live, 'MPS ended, its folder still named')})
    for name in ('CUDA_MPS_PIPE_DIRECTORY', 'CUDA_MPS_LOG_DIRECTORY'):
        del os.environ[name]
    return table


# ---- an ordinary user ----

def user(live):
    """Everything copied to where that user can read it; wsdbg and the program run as it."""
    if os.geteuid() != 0 or not shutil.which('setpriv'):
        return [{'case': 'user', 'skipped': 'needs root and setpriv'}]
    folder = os.path.join(live.scratch, 'user')
    os.makedirs(os.path.join(folder, 'bin'))
    shutil.copytree(os.path.join(os.path.dirname(live.bin), 'lib'), os.path.join(folder, 'lib'))
    for name in ('wsdbg', 'waits', 'shapes'):
        shutil.copy(live.tool(name), os.path.join(folder, 'bin', name))
    os.chmod(live.scratch, 0o755)
    subprocess.run(['chmod', '-R', 'go+rX', folder], check=True)
    os.makedirs(os.path.join(folder, 'work'))
    os.chown(os.path.join(folder, 'work'), int(NOBODY), int(NOBODY))
    kept = live.bin, live.scratch, live.prefix
    live.bin, live.scratch = os.path.join(folder, 'bin'), os.path.join(folder, 'work')
    live.prefix = ['env', '-C', live.scratch, '-u', 'XDG_RUNTIME_DIR', f'HOME={live.scratch}',
                   'setpriv', f'--reuid={NOBODY}', f'--regid={NOBODY}', '--clear-groups']
    try:
        return [hang_of(live, 'an ordinary user, live'),
                {'case': 'an ordinary user, a healthy program', **shape(live, 'streams', '', 'wait_copy_missing', 'healthy')}]
    finally:
        live.bin, live.scratch, live.prefix = kept


PARTS = {'shapes': shapes, 'captures': captures, 'mps': mps, 'user': user}
