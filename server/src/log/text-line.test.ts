import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { textLine } from './text-line.ts'

suite('an entry of the log on a terminal', () => {
  const time = '2026-03-01T15:04:05.678Z'
  const rows: [what: string, entry: object, text: string][] = [
    ['is its moment and its message', { level: 'info', time, msg: 'ready' }, '15:04:05  ready\n'],
    ['says that it is loud', { level: 'warn', time, msg: 'late' }, '15:04:05  warning: late\n'],
    [
      'has its fields, objects as JSON',
      { level: 'info', time, status: 200, url: '/v1/users', actor: { kind: 'user' }, msg: 'answered' },
      '15:04:05  answered  status=200  url=/v1/users  actor={"kind":"user"}\n',
    ],
    [
      'has the cause and the stack of an error',
      {
        ...{ level: 'error', time, msg: 'unavailable' },
        err: { type: 'Error', message: 'no answer', code: '08006', stack: 'Error: no answer\n    at one (a.ts:1)' },
      },
      '15:04:05  error: unavailable  cause=no answer  code=08006\n    at one (a.ts:1)\n',
    ],
    [
      'stays on its line, whatever others wrote',
      { level: 'info', time, msg: 'a\nb', url: '/\u001b[2J\r\u202e' },
      '15:04:05  a b  url=/ [2J\n',
    ],
    ['may lack a message', { level: 'info', time, id: 1 }, '15:04:05    id=1\n'],
  ]
  for (const [what, entry, text] of rows) test(what, () => assert.equal(textLine(JSON.stringify(entry)), text))
})
