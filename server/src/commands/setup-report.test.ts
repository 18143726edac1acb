import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FoundOnServer } from '../db/found-on-server.ts'
import { describeServices, explainFailure, lackOf } from './setup-report.ts'

test('a service is described so that its operator recognizes it, and controls no terminal', () => {
  const found: FoundOnServer = {
    roles: ['sallyport_app'],
    databases: [
      {
        name: 'sallyport',
        migrations: { count: 68, last: '0068_a' },
        connections: 12,
        processes: [
          {
            version: '1.2.0',
            commit: 'abcdef0123456789',
            public_url: 'https://a.example',
            host: 'one',
            seen_seconds_ago: 3,
          },
          { version: '1.2.0', commit: null, public_url: 'https://a\u001b[2J\n.example', host: '', seen_seconds_ago: 0 },
        ],
      },
      { name: 'unseen', migrations: undefined, connections: 0, processes: [] },
    ],
  }
  assert.deepEqual(describeServices(found).split('\n'), [
    '  database sallyport: 68 migrations, the last one 0068_a; connections now: 12',
    '    https://a.example, version 1.2.0 (abcdef012345), on one, seen 3 s ago',
    '    https://a [2J .example, version 1.2.0, on -, seen 1 s ago',
    '  database unseen: no tables that this user may read; connections now: 0',
  ])
  assert.match(describeServices({ roles: ['sallyport_app'], databases: [] }), /sallyport_app, and no database/)
})

test('a user must be able to create roles, and the database if it is missing', () => {
  const cases: [boolean, boolean, boolean, boolean, RegExp | undefined][] = [
    [true, false, false, false, undefined],
    [false, true, true, false, undefined],
    [false, true, false, true, undefined],
    [false, true, false, false, /may not create databases/],
    [false, false, true, true, /may not create roles/],
  ]
  for (const [is_superuser, creates_roles, creates_databases, has_database, lack] of cases) {
    const found = lackOf({ is_superuser, creates_roles, creates_databases }, has_database)
    if (lack === undefined) assert.equal(found, undefined)
    else assert.match(found ?? '', lack)
  }
})

test('a failure of the server is explained without the host, which can be a part of a mistyped password', () => {
  const failure = (code: string | undefined, message: string) => Object.assign(new Error(message), { code })
  const cases: [Error, RegExp][] = [
    [failure('ENOTFOUND', 'getaddrinfo ENOTFOUND kept-secret'), /^no PostgreSQL answers .* \(ENOTFOUND\)$/],
    [failure('ECONNREFUSED', ''), /^no PostgreSQL answers .* \(ECONNREFUSED\)$/],
    [failure('28P01', 'password authentication failed for user "a"'), /^PostgreSQL refuses this user .*user "a"\)$/],
    [failure('25006', 'cannot execute CREATE ROLE in a read-only transaction'), /read-only\. Use .* the primary/],
    [failure(undefined, 'self-signed certificate'), /^self-signed certificate$/],
    [failure(undefined, 'timeout expired'), /^no PostgreSQL answers .* \(timeout expired\)$/],
  ]
  for (const [error, sentence] of cases) {
    assert.match(explainFailure(error), sentence)
    assert.ok(!explainFailure(error).includes('kept-secret'))
  }
})
