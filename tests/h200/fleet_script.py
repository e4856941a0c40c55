"""fleet_script.py - the options that scripts with two ranks share, and their two ways: measure, or write a section of docs/results/fleet.md."""
import argparse, json, os, sys, time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(os.path.dirname(HERE)), 'tests')]
import results, stands_score


def gpus_of(kept):
    return ', '.join(kept['device']) if isinstance(kept['device'], list) else str(kept['device'])


def begin(options, **facts):
    """What a script keeps, with nothing measured yet."""
    return {'device': stands_score.device(options.device), 'date': time.strftime('%Y-%m-%d'), **facts}


def main(name, section, measure, page, deadline_s, **numbers):
    """`numbers`: further options and their defaults.  measure(options) gives the exit status; page(kept) the lines of the section."""
    parser = argparse.ArgumentParser()
    parser.add_argument('--build', default='build')
    parser.add_argument('--deadline', type=float, default=deadline_s)
    parser.add_argument('--out', default=f'{name}.json')
    parser.add_argument('--device', choices=('gpu', 'sim'), default='gpu')
    parser.add_argument('--role')  # of processes that the script starts itself
    parser.add_argument('--page')
    for option, default in numbers.items():
        parser.add_argument(f'--{option}', type=type(default), default=default)
    options = parser.parse_args()
    if options.page:
        kept = json.load(open(options.page))
        results.save(section, kept, '\n'.join(page(kept)), 'fleet')
        return 0
    if not options.role and options.device == 'gpu' and not stands_score.has_driver():
        print(f'{name}: skipped: no GPU, or no driver for it', file=sys.stderr)
        return stands_score.SKIPPED
    return measure(options)
