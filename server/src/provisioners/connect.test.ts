import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { Compile } from 'typebox/compile'
import { Connect, connectOf, maxConnectBytes } from './connect.ts'

const isConnect = Compile(Connect)

suite('how to connect', () => {
  test('is one line of plain text in every part, and never too long', () => {
    const long = `☃"\\ ${'x'.repeat(5_000)}`
    const many = <Entry>(entry: Entry) => Array.from({ length: 300 }, () => entry)
    const connect = connectOf({
      kind: 'webhook',
      summary: `a\nb\u202e${long}`,
      links: many({ label: long, url: `https://a.example/${'x'.repeat(900)}` }),
      fields: many([long, long] as const),
      commands: many({ label: long, words: ['echo', 'x'.repeat(900)] }),
      files: many({ label: long, path: '~/.a', lines: many('x'.repeat(150)).slice(0, 90) }),
    })
    assert.ok(isConnect.Check(connect), JSON.stringify(isConnect.Errors(connect)))
    assert.ok(Buffer.byteLength(JSON.stringify(connect)) <= maxConnectBytes)
    assert.match(connect.summary, /^a b☃/)
    assert.ok(connect.links.length > 0 && connect.commands.length > 0, 'the ways to connect are kept before the rest')
  })

  for (const url of [
    ...[
      'http://a.example/',
      'javascript:alert(1)',
      'data:text/html,x',
      '//a.example',
      'https://',
      'ftp://a.example',
      '',
    ],
    ...[
      'https://user:password@a.example/',
      'https://a.example/\nx',
      'https://a.example/ x',
      'https://a.example/\u202ex',
    ],
    ...['https://a.example/é', ' https://a.example', `https://a.example/${'x'.repeat(1_000)}`],
  ]) {
    test(`has no link to ${JSON.stringify(url.slice(0, 40))}`, () => {
      assert.deepEqual(connectOf({ kind: 'webhook', summary: 's', links: [{ label: 'l', url }] }).links, [])
    })
  }

  test('has no command, file or data that could not be shown as it is', () => {
    const postgresql = { host: 'h', port: 1, database: 'a\nb', login: 'l', role: 'r' }
    const connect = connectOf({
      kind: 'postgresql',
      summary: 's',
      fields: [
        ['Database', 'a\nb'],
        ['Empty', ''],
      ],
      commands: [{ label: 'psql', words: ['psql', 'a\nb'] }],
      files: [{ label: 'f', path: '~/.f', lines: ['ok', 'a\nb'] }],
      postgresql,
    })
    const { kind, summary, fields, ...rest } = connect
    assert.deepEqual(rest, { links: [], commands: [], files: [] })
    assert.deepEqual(fields, [{ label: 'Database', value: 'a b' }])
  })
})
