import { execFileSync } from 'node:child_process'

/** Words that do something else in a shell when they are not quoted. */
export const trickyWords = [
  ...['plain', '', ' ', 'two words', "it's", `"double"`, '$HOME', '$(touch owned)', '`touch owned`', 'a;touch owned'],
  ...[
    'a&&b',
    'a|b',
    '>owned',
    '<owned',
    '*',
    '?',
    '[a]',
    '{a,b}',
    '~',
    '~root',
    '=ls',
    '!!',
    '!$',
    '#no',
    '\\',
    "\\'",
    "'\\''",
  ],
  ...['-rf', '--help', 'a=b', '%s', '^a^b', '(a)', 'é ☃ 语', "';touch owned;'", '"$(touch owned)"', "$'\\x41'"],
]

/** The arguments that a shell makes of a line, without running its program. */
export function argumentsOf(line: string, shell = '/bin/sh'): string[] {
  const script = `set -- ${line}\nprintf '%s\\0' "$@"`
  return execFileSync(shell, ['-c', script], { encoding: 'utf8', cwd: '/tmp' }).split('\0').slice(0, -1)
}
