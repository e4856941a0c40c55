#!/usr/bin/env python3
"""shell.py - job control in real shells on a terminal: does a program under wsdbg do there what it does alone?

    tests/trust/shell.py [--build build] [--save]

Each case is a line that is typed into an interactive shell on a pseudo-terminal, and keys that are pressed while it runs, once with the program alone and once with
`wsdbg run -q`.  Compared are the words that the shell and the program show.  --save writes the section "shell" of docs/results/trust.md.
Exit status: 1 when a case differs.  A development script.
"""
import argparse, os, pty, re, select, shutil, signal, sys, tempfile, time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.dirname(HERE), HERE]
import matrix, results

LIMIT_S = 8
INTERRUPT, QUIT, STOP, END = '\x03', '\x1c', '\x1a', '\x04'
# What is typed; then (words to wait for, keys) one after the other; then the words that must be seen.  {} is the program, or wsdbg with it.
CASES = [
    ('Ctrl-C ends it', "{} sh -c 'echo ready; exec sleep 20'", [('ready', INTERRUPT), ('', 'echo status=$?\n')], 'status=130'),
    ('Ctrl-C that it catches', "{} sh -c 'trap \"echo caught\" INT; echo ready; sleep 1; sleep 0.2; exit 3'; echo status=$?", [('ready', INTERRUPT)], 'status=3'),
    ('Ctrl-C ends a loop of the shell', "for i in 1 2 3; do {} sh -c 'echo ready; exec sleep 20'; done; echo over", [('ready', INTERRUPT), ('', 'echo next\n')], 'next'),
    ('Ctrl-Z, fg', "{} sh -c 'echo ready; sleep 1; echo fin\"\"ished'; echo status=$?", [('ready', STOP), ('topped', 'fg\n')], 'finished'),
    ('Ctrl-Z, bg, wait', "{} sh -c 'echo ready; sleep 1; echo fin\"\"ished'", [('ready', STOP), ('topped', 'bg; wait; echo waited\n')], 'waited'),
    ('in the background', "{} sh -c 'sleep 0.3; echo fin\"\"ished' & wait; echo waited", [], 'waited'),
    ('in the background, kill %1', "{} sh -c 'echo ready; exec sleep 20' & sleep 0.7; kill %1; wait $!; echo status=$?", [], 'status=143'),
    ('in the background, fg, Ctrl-C', "{} sh -c 'echo ready; exec sleep 20' &", [('ready', 'fg\n'), ('', INTERRUPT), ('', 'echo next\n')], 'next'),
    ('reads the terminal', "{} sh -c 'echo ready; read line; echo \"got $line\"'; echo status=$?", [('ready', 'words\n')], 'got words'),
    ('reads the terminal to its end', "{} cat; echo status=$?", [('', 'a line\n'), ('a line', END)], 'status=0'),
    ('reads the terminal in the background', "{} sh -c 'read line; echo got $line' & sleep 0.7; jobs; kill %1; sleep 0.4; wait; echo over", [], 'over'),
    ('in a pipe', "{} sh -c 'echo one; echo two' | sort -r | {} cat; echo status=$?", [], 'status=0'),
    ('a pipe whose reader ends first', "{} sh -c 'while echo y; do :; done' 2>/dev/null | head -1; echo over", [], 'over'),
    ('in a command substitution', 'echo "<$({} sh -c \'echo inner\')>"', [], '<inner>'),
    ('with set -e', "(set -e; {} sh -c 'exit 5'; echo not reached); echo status=$?", [], 'status=5'),
    ('changes the terminal and dies', "{} sh -c 'stty -echo; kill -KILL $$'; echo status=$?; stty -a | grep -o -e ' -\\?echo '", [], 'status=137'),
]


class Shell:
    def __init__(self, words, folder, environment):
        self.pid, self.master = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            os.execvpe(words[0], words, environment)
        self.text = ''

    def read(self, seconds):
        if select.select([self.master], [], [], seconds)[0]:
            try:
                self.text += os.read(self.master, 65536).decode(errors='replace')
            except OSError:
                return False
        return True

    def wait_for(self, words, since, seconds=LIMIT_S):
        until = time.monotonic() + seconds
        while words not in self.text[since:] and time.monotonic() < until and self.read(0.05):
            pass
        return words in self.text[since:]

    def press(self, keys):
        os.write(self.master, keys.encode())

    def close(self):
        try:
            os.killpg(os.tcgetpgrp(self.master), signal.SIGKILL)
        except OSError:
            pass
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.master)


def shown(text, names):
    """The words that came, line by line, without what differs from run to run and without the command's own name."""
    for name in names:
        text = text.replace(name, '')
    lines = [re.sub(r'(?<=\[1\])[+-]', '', line) for line in text.replace('\r', '').splitlines()]  # which job is the current one: a race in the shell
    lines = [re.sub(r'(?<=\[1\] )\d+|(?<=\[)\d{3,}(?=\])', 'PID', re.sub(r'\s+', ' ', line)).strip() for line in lines]
    return [line for line in lines if line and not line.startswith('wsdbg: ')]


def one(shell_words, typed, steps, last, begin, folder, environment):
    shell = Shell(shell_words, folder, environment)
    problem = None
    shell.press('PS1="$ "; PS2=; stty -echo\n')
    time.sleep(0.4)
    shell.read(0.2)
    shell.text = ''
    at = 0
    shell.press(typed.replace('{}', begin) + '\n')
    for words, keys in steps:
        if words and not shell.wait_for(words, at):
            problem = f'no "{words}"'
        at = len(shell.text)
        time.sleep(0.3)
        shell.press(keys)
    if not shell.wait_for(last, 0) and not problem:
        problem = f'no "{last}"'
    shell.wait_for('$ ', len(shell.text), 0.3)
    shell.close()
    return problem, shell.text


def compare(shell_words, case, options, folder):
    name, typed, steps, last = case
    begin, outcomes = f'{folder}/watched', []
    with open(begin, 'w') as script:
        script.write(f'#!/bin/sh\nexec {options.wsdbg} run -q -o {folder}/$$.db -- "$@"\n')
    os.chmod(begin, 0o755)
    for prefix in '', begin:
        problem, text = one(shell_words, typed, steps, last, prefix, folder, {**os.environ, 'TMPDIR': folder, 'HISTFILE': ''})
        outcomes.append((problem, shown(text, [prefix] if prefix else [])))
    (alone_problem, alone), (watched_problem, watched) = outcomes
    if alone_problem:
        return [f'alone: {alone_problem}: {alone}']
    return [f'{watched_problem}: {watched}'] if watched_problem else [] if alone == watched else [f'{alone} alone, {watched} under wsdbg']


def page(kept):
    shells = list(dict.fromkeys(entry['shell'] for entry in kept))
    cell = {(entry['case'], entry['shell']): '; '.join(entry['differs']) or 'the same' for entry in kept}
    lines = ['## Job control', '', "`tests/trust/shell.py`: a line typed into an interactive shell on a pseudo-terminal, and keys pressed while it runs: the program alone and under `wsdbg run -q`. "
             'Compared is what the shell and the program show.', '',
             f"{len(kept)} runs, {sum(bool(entry['differs']) for entry in kept)} with a difference.", '', '| | ' + ' | '.join(shells) + ' |', '|---|' + '---|' * len(shells)]
    return '\n'.join(lines + [f'| {case[0]} | ' + ' | '.join(cell[case[0], shell] for shell in shells) + ' |' for case in CASES])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--build', default='build')
    parser.add_argument('--cases', default='')
    parser.add_argument('--save', action='store_true')
    options = parser.parse_args()
    options.wsdbg = os.path.abspath(options.build) + '/bin/wsdbg'
    kept = []
    with tempfile.TemporaryDirectory() as folder:
        for words in (['bash', '--norc', '--noprofile', '-i'], ['dash', '-i'], ['zsh', '-f', '-i']):
            for case in CASES:
                if shutil.which(words[0]) and (not options.cases or case[0] in options.cases.split(',')):
                    differs = compare(words, case, options, folder)
                    print(f"{words[0]}, {case[0]}: {'; '.join(differs) or 'the same'}", flush=True)
                    kept.append({'shell': words[0], 'case': case[0], 'differs': differs})
    if options.save:
        results.save('shell', kept, page(kept), 'trust')
    return int(any(entry['differs'] for entry in kept))


if __name__ == '__main__':
    sys.exit(main())
