import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { eventTable } from '../events/catalogue.ts'
import { Problem } from '../kernel/errors.ts'
import { filterableEvents } from './channel-fields.ts'
import { changeEmail, type NewEmailChannel, readNewEmail } from './email-channel.ts'
import type { ChannelChange } from './notification-channel.ts'

const sound: NewEmailChannel = { name: 'Security', to_addresses: ['sec@example.com'] }

function pointersOf(work: () => unknown): string[] {
  try {
    work()
  } catch (thrown) {
    assert.ok(thrown instanceof Problem && thrown.status === 400, String(thrown))
    return (thrown.details as { fields: { pointer: string }[] }).fields.map(({ pointer }) => pointer)
  }
  return []
}

test('a channel is enabled and gets every event by default', () => {
  assert.deepEqual(readNewEmail(sound), {
    name: 'Security',
    config: { to_addresses: ['sec@example.com'] },
    event_filters: [],
    enabled: true,
  })
})

test('a channel may name any event except those only for the audit log', () => {
  assert.ok(filterableEvents.includes('request.created'))
  assert.ok(filterableEvents.every((type) => eventTable[type].filterable))
  assert.ok(!(filterableEvents as string[]).includes('auth.signed_in'))
})

suite('a new channel', () => {
  const cases: [string, Partial<NewEmailChannel>, string[]][] = [
    ['accepts text in any language', { name: 'Zugänge – доступ', subject_prefix: '[Zugänge] ' }, []],
    ['accepts a sender', { from_address: 'access@example.com' }, []],
    ['accepts several recipients', { to_addresses: ['a@example.com', 'b@example.com'] }, []],
    ['refuses a name of spaces', { name: '   ' }, ['/name']],
    ['refuses a name of two lines', { name: 'a\r\nBcc: evil@example.com' }, ['/name']],
    ['refuses a prefix of two lines', { subject_prefix: 'a\r\nBcc: evil@example.com' }, ['/subject_prefix']],
    ['refuses a prefix with a line feed at its end', { subject_prefix: 'a\n' }, ['/subject_prefix']],
    ['refuses a prefix with a tab', { subject_prefix: 'a\tb' }, ['/subject_prefix']],
    ['refuses a prefix with a line separator', { subject_prefix: 'a\u2028b' }, ['/subject_prefix']],
    ['refuses a prefix that changes the text direction', { subject_prefix: 'a\u202eb' }, ['/subject_prefix']],
    ['refuses a prefix with an isolate', { subject_prefix: '\u2066a' }, ['/subject_prefix']],
    ['refuses a prefix with an encoded word', { subject_prefix: '=?utf-8?b?Qg==?=' }, ['/subject_prefix']],
    ['refuses a name with an encoded word', { name: '=?utf-8?b?Qg==?=' }, ['/name']],
    ['refuses a sender of two lines', { from_address: 'a@example.com\r\nBcc: b@example.com' }, ['/from_address']],
    ['refuses a sender with a display name', { from_address: 'A <a@example.com>' }, ['/from_address']],
    ['refuses a sender with an encoded word', { from_address: '=?utf-8?q?a?=@example.com' }, ['/from_address']],
    ['refuses an empty sender', { from_address: '' }, ['/from_address']],
    [
      'refuses a list for a recipient',
      { to_addresses: ['a@example.com', 'b@example.com,c@example.com'] },
      ['/to_addresses/1'],
    ],
    ['refuses a header in a recipient', { to_addresses: ['a@example.com\r\nBcc: b@example.com'] }, ['/to_addresses/0']],
    [
      'refuses a recipient twice, in another spelling',
      { to_addresses: ['a@example.com', 'A@EXAMPLE.com'] },
      ['/to_addresses/1'],
    ],
    [
      'names every fault',
      { name: '\n', to_addresses: ['x'], from_address: 'y' },
      ['/name', '/to_addresses/0', '/from_address'],
    ],
  ]
  for (const [name, more, pointers] of cases) {
    test(pointers.length === 0 ? name : `${name} (J8)`, () =>
      assert.deepEqual(
        pointersOf(() => readNewEmail({ ...sound, ...more })),
        pointers,
      ),
    )
  }
})

suite('a changed channel', () => {
  const before = readNewEmail({
    ...sound,
    from_address: 'access@example.com',
    subject_prefix: '[access]',
    event_filters: ['grant.failed'],
  })
  const cases: [string, ChannelChange, object][] = [
    ['keeps the fields that are not sent', {}, before],
    ['gets a new name', { name: 'Other' }, { ...before, name: 'Other' }],
    ['gets a new state', { enabled: false }, { ...before, enabled: false }],
    [
      'gets new events, each once',
      { event_filters: ['role.assigned', 'role.assigned'] },
      { ...before, event_filters: ['role.assigned'] },
    ],
    ['gets every event again', { event_filters: [] }, { ...before, event_filters: [] }],
    [
      'gets other recipients',
      { to_addresses: ['b@example.com'] },
      { ...before, config: { ...before.config, to_addresses: ['b@example.com'] } },
    ],
    [
      'loses its sender by null',
      { from_address: null },
      { ...before, config: { to_addresses: ['sec@example.com'], subject_prefix: '[access]' } },
    ],
    [
      'loses its prefix by null',
      { subject_prefix: null },
      { ...before, config: { to_addresses: ['sec@example.com'], from_address: 'access@example.com' } },
    ],
    [
      'loses its prefix by an empty string',
      { subject_prefix: '' },
      { ...before, config: { to_addresses: ['sec@example.com'], from_address: 'access@example.com' } },
    ],
  ]
  for (const [name, change, after] of cases) test(name, () => assert.deepEqual(changeEmail(before, change), after))

  test('follows the rules of a new channel', () => {
    assert.deepEqual(
      pointersOf(() => changeEmail(before, { subject_prefix: 'a\r\nb' })),
      ['/subject_prefix'],
    )
  })
})
