import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { connectionLimit, findLoginFault, mayTakeAll } from './role-rules.ts'
import type { LoginFacts } from './server-roles.ts'

suite('a login takes all connections', () => {
  const cases: [name: string, connection_limit: number, room: number, our_room: number, may: boolean][] = [
    ['without a limit', -1, 97, 97, true],
    ['with a limit below what the server has', 96, 97, 97, false],
    ['with a limit of all that the server has', 97, 97, 97, true],
    ['with a limit above it', 500, 97, 97, true],
    ['with a limit of none', 0, 97, 97, false],
    ['without a limit, where some are reserved for Sallyport', -1, 94, 97, false],
    ['with a high limit, where some are reserved for Sallyport', 500, 94, 97, false],
    ['without a limit, where it may use those too', -1, 97, 97, true],
    ['without a limit, where it alone may use those', -1, 97, 94, true],
    ['with a limit of what is left to Sallyport, where it alone may use those', 94, 97, 94, true],
    ['with a low limit, where it may use those too', 20, 97, 94, false],
    ['if the server does not say what it has', 20, 97, Number.NaN, true],
  ]
  for (const [name, connection_limit, room, our_room, may] of cases) {
    test(`${name}: ${may ? 'yes' : 'no'}`, () => assert.equal(mayTakeAll({ connection_limit, room, our_room }), may))
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
  }
  const cases: [name: string, more: Partial<LoginFacts>, managed: boolean, fault: RegExp | undefined][] = [
    ['is refused', {}, false, /`alter role "ada" connection limit 20`/],
    ['is refused with a lower limit at a small server', { room: 11, our_room: 11 }, false, /connection limit 5`/],
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
    [40, 20],
    [17, 8],
    [2, 1],
  ] as const) {
    test(`is ${limit} of ${ourRoom}`, () => {
      assert.equal(connectionLimit(ourRoom), limit)
      assert.ok(!mayTakeAll({ connection_limit: limit, room: ourRoom, our_room: ourRoom }))
    })
  }
})
