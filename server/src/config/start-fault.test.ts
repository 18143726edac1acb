import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { describeStartFault } from './start-fault.ts'

const embedded = { database_url: undefined, data_dir: '/d' }

suite('why the service does not start', () => {
  const rows: [what: string, error: unknown, place: typeof embedded | undefined, text: string][] = [
    ['is the sentence of the error', new Error('the port is taken'), embedded, 'the port is taken'],
    ['is one line', new Error('one\n  two'), embedded, 'one; two'],
    ['is what was thrown', 'a text', undefined, 'a text'],
    [
      'is a full disk in the words of PostgreSQL',
      new Error('could not write to file "pg_wal/x": No space left on device'),
      embedded,
      'no space is left on the disk of `/d`: make room, then start again; what was saved stays (could not write to file "pg_wal/x": No space left on device)',
    ],
    [
      'is a full disk in the words of Node',
      new Error('ENOSPC: no space left on device, write'),
      { ...embedded, database_url: 'postgres://a' } as never,
      'no space is left on the database server or on the disk of `/d`: make room, then start again; what was saved stays (ENOSPC: no space left on device, write)',
    ],
  ]
  for (const [what, error, place, text] of rows) test(what, () => assert.equal(describeStartFault(error, place), text))
})
