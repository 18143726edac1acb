import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { connectionLimit, findLoginFault, madeLimit, mayTakeAll } from './role-rules.ts'
import type { LoginFacts } from './server-roles.ts'

suite('a login takes all connections', () => {
  type Case = [name: string, connection_limit: number, room: number, our_room: number, may: boolean, open?: number]
  const cases: Case[] = [
    ['without a limit', -1, 97, 97, true],
    ['with a limit that leaves as many as an end needs', 94, 97, 97, false],
    ['with a limit that leaves fewer', 95, 97, 97, true],
    ['with a limit above it', 500, 97, 97, true],
    ['with a limit of none', 0, 97, 97, false],
    ['with a limit, and as many open from before it', 20, 97, 97, false, 94],
    ['with a limit, and more open from before it', 20, 97, 97, true, 95],
    ['without a limit, where some are reserved for Sallyport', -1, 94, 97, false],
    ['without a limit, where too few are reserved for Sallyport', -1, 95, 97, true],
    ['with a high limit, where some are reserved for Sallyport', 500, 94, 97, false],
    ['without a limit, where it may use those too', -1, 97, 97, true],
    ['without a limit, where it alone may use those', -1, 97, 94, true],
    ['with a limit of what is left to Sallyport, where it alone may use those', 94, 97, 94, true],
    ['with a low limit, where it may use those too', 20, 97, 94, false],
    ['if the server does not say what it has', 20, 97, Number.NaN, true],
  ]
  for (const [name, connection_limit, room, our_room, may, open = 0] of cases) {
    test(`${name}: ${may ? 'yes' : 'no'}`, () =>
      assert.equal(mayTakeAll({ connection_limit, room, our_room, open }), may))
  }
})

suite('such a login', () => {
  const ada: LoginFacts = {
    oid: '1',
    name: 'ada',
    is_me: false,
    is_powerful: false,
    can_login: true,
    valid_until_ms: null,
    may_alter: true,
    holds_ours: false,
    worn_by: null,
    inherits: true,
    connection_limit: -1,
    room: 97,
    our_room: 97,
    open: 0,
  }
  const cases: [name: string, more: Partial<LoginFacts>, managed: boolean, fault: RegExp | undefined][] = [
    ['is refused', {}, false, /`alter role "ada" connection limit 20`/],
    ['is refused with a lower limit at a small server', { room: 11, our_room: 11 }, false, /connection limit 4`/],
    ['is not refused where Sallyport sets its limit', {}, true, undefined],
    ['is not refused once it has the limit', { connection_limit: 20 }, false, undefined],
  ]
  for (const [name, more, managed, fault] of cases) {
    test(name, () => {
      const found = findLoginFault('ada', { ...ada, ...more }, managed, 'sallyport')
      if (fault === undefined) assert.equal(found, undefined)
      else assert.match(found ?? '', fault)
    })
  }
})

suite('the limit that Sallyport sets', () => {
  for (const [ourRoom, limit] of [
    [497, 20],
    [43, 20],
    [17, 7],
    [5, 1],
  ] as const) {
    test(`is ${limit} of ${ourRoom}`, () => {
      assert.equal(connectionLimit(ourRoom), limit)
      assert.ok(!mayTakeAll({ connection_limit: limit, room: ourRoom, our_room: ourRoom, open: 0 }))
    })
  }

  test('leaves some to Sallyport, however many logins it makes, until none is left', () => {
    const room = { room: 97, our_room: 97 }
    const limits: number[] = []
    for (let taken = 0; madeLimit({ ...room, taken }) >= 1; taken += limits.at(-1) ?? 0)
      limits.push(madeLimit({ ...room, taken }))
    assert.deepEqual(limits, [20, 20, 20, 17, 8, 4, 2, 1, 1])
  })

  test('is not less for those before it where connections are reserved for Sallyport', () => {
    assert.equal(madeLimit({ room: 94, our_room: 97, taken: 500 }), 20)
  })
})
