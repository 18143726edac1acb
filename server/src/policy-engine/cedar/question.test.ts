import assert from 'node:assert/strict'
import { test } from 'node:test'
import { approveOf, askOf, localTime, type Principal, type Resource } from './question.ts'
import { sampleAccount, sampleApproval, sampleQuestion } from './samples.ts'

const clocks: [instant: string, zone: string, weekday: number, minute: number][] = [
  ['2024-01-01T00:00:00Z', 'UTC', 1, 0],
  ['2024-01-01T00:30:00Z', 'America/New_York', 7, 19 * 60 + 30],
  ['2024-01-06T23:59:59Z', 'Asia/Kolkata', 7, 5 * 60 + 29],
  ['2024-03-31T01:30:00Z', 'Europe/Berlin', 7, 3 * 60 + 30],
]
for (const [instant, zone, weekday, minute] of clocks)
  test(`${instant} is weekday ${weekday}, minute ${minute} in ${zone}`, () => {
    assert.deepEqual(localTime(new Date(instant), zone), { weekday, minute })
  })

test('an address is passed on in the form of the rules', () => {
  for (const [given, wanted] of [
    ['::ffff:10.0.0.1', '10.0.0.1'],
    ['::ffff:a00:1', '10.0.0.1'],
    ['0:0:0:0:0:FFFF:10.0.0.1', '10.0.0.1'],
    ['0:0:0:0:0:0:0:1', '::1'],
    ['2001:DB8:0:0::1', '2001:db8::1'],
    ['fe80::1%eth0', 'fe80::1'],
    ['2001:db8::1', '2001:db8::1'],
  ] as const) {
    const { context } = askOf(
      { ...sampleQuestion, context: { ...sampleQuestion.context, source_ip: given } },
      sampleAccount,
      'a',
    )
    assert.deepEqual(context.source_ip, { __extn: { fn: 'ip', arg: wanted } })
  }
})

const smuggle = { __extn: { fn: 'unknown', arg: 'x' } } as unknown as string
const smuggled: [name: string, principal: Partial<Principal>, resource: Partial<Resource>][] = [
  ['a name', { name: smuggle }, {}],
  ['a scope', { scopes: [smuggle] }, {}],
  ['a group', { group_ids: [smuggle] }, {}],
  ['a verified address', { email_verified: smuggle as unknown as boolean }, {}],
  ['a tag', {}, { tags: { env: smuggle } }],
  ['an id', {}, { id: smuggle }],
  ['half a surrogate pair', { email: '\ud800' }, {}],
]
for (const [name, principal, resource] of smuggled)
  test(`refuses an escape of the engine as ${name} (J1)`, () => {
    const question = { ...sampleQuestion, principal: { ...sampleQuestion.principal, ...principal } }
    assert.throws(() => askOf(question, { ...sampleAccount, ...resource }, 'a'), TypeError)
  })

for (const duration_seconds of [1.5, Number.NaN, 2 ** 53, '3600' as unknown as number])
  test(`refuses a duration of ${duration_seconds} (${typeof duration_seconds})`, () => {
    const context = { ...sampleQuestion.context, duration_seconds }
    assert.throws(() => askOf({ ...sampleQuestion, context }, sampleAccount, 'a'), TypeError)
  })

test('refuses a network as the address of a caller', () => {
  const context = { ...sampleQuestion.context, source_ip: '10.0.0.0/8' }
  assert.throws(() => askOf({ ...sampleQuestion, context }, sampleAccount, 'a'), TypeError)
})

test('the parents of a request to decide are its target and the target’s parents', () => {
  const [, , asked] = approveOf(sampleApproval, sampleAccount).entities
  assert.deepEqual(asked?.parents, [
    { type: 'cloud_account', id: '123456789012' },
    { type: 'cloud_organizational_unit', id: 'ou-ab12-12345678' },
  ])
})
