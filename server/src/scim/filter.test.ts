import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { fc } from '../../test/support/chance.ts'
import { scimOutcome } from '../../test/support/scim-fault.ts'
import { findAttribute, groupKind, userKind } from './attribute.ts'
import { chooses, type Filter, readFilter, readValueFilter, searchedText } from './filter.ts'

/** A filter in short. */
function short(filter: Filter): string {
  switch (filter.op) {
    case 'and':
    case 'or':
      return `(${filter.filters.map(short).join(` ${filter.op} `)})`
    case 'not':
      return `not ${short(filter.filter)}`
    case 'of':
      return `${filter.attribute}[${short(filter.filter)}]`
    case 'nothing':
      return 'nothing'
    case 'pr':
      return `${filter.path} pr`
    default:
      return `${filter.path} ${filter.op} ${filter.value}`
  }
}

const read = (text: string, kind = userKind) => scimOutcome(() => short(readFilter(kind, text)))
const core = 'urn:ietf:params:scim:schemas:core:2.0:User'
const enterprise = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User'

suite('a filter of users', () => {
  const cases: [string, string][] = [
    // The names of attributes count in whatever case, with and without their schema.
    ['username eq "Ada"', 'userName eq ada'],
    ['USERNAME eq "Ada"', 'userName eq ada'],
    [`${core}:userName eq "ada"`, 'userName eq ada'],
    [`${core.toUpperCase()}:USERNAME eq "ada"`, 'userName eq ada'],
    [`${enterprise}:department eq "Ops"`, 'department eq ops'],
    ['department eq "Ops"', 'department eq ops'],
    [`${enterprise}:manager.value eq "Boss"`, 'manager.value eq Boss'],
    [`${core}:emails[type eq "work"].value eq "x"`, 'emails[(emails.type eq work and emails.value eq x)]'],
    ['name.familyName sw "L"', 'name.familyName sw l'],
    // Whether case counts is the attribute's.
    ['externalId eq "AbC"', 'externalId eq AbC'],
    ['id eq "AbC"', 'id eq AbC'],
    ['profileUrl eq "https://A"', 'profileUrl eq https://A'],
    // A text is searched in its normal form.
    ['nickName eq "e\u0301"', 'nickName eq é'],
    // A complex attribute stands for its value, and is there where a part of it is.
    ['emails eq "Ada@Example.com"', 'emails.value eq ada@example.com'],
    ['emails co "@example"', 'emails.value co @example'],
    ['manager eq "M1"', 'manager.value eq M1'],
    ['manager pr', '(manager.value pr or manager.$ref pr or manager.displayName pr)'],
    ['emails pr', '(emails.value pr or emails.display pr or emails.type pr or emails.primary pr)'],
    ['emails[type eq "Work"]', 'emails[emails.type eq work]'],
    [
      'emails[type eq "work" and not (primary eq true)]',
      'emails[(emails.type eq work and not emails.primary eq true)]',
    ],
    ['not (emails[type eq "work"])', 'not emails[emails.type eq work]'],
    // Booleans.
    ['active eq true', 'active eq true'],
    ['active eq "True"', 'active eq true'],
    ['active ne False', 'active ne false'],
    // Null is that there is none.
    ['title eq null', 'not title pr'],
    ['title ne null', 'title pr'],
    // A value that is no text is compared as one.
    ['employeeNumber eq 7', 'employeeNumber eq 7'],
    ['title eq true', 'title eq true'],
    // Moments, in one spelling.
    ['meta.created gt "2026-01-31T09:00:00Z"', 'meta.created gt 2026-01-31T09:00:00.000Z'],
    ['meta.lastModified le "2026-01-31T10:00:00.5+01:00"', 'meta.lastModified le 2026-01-31T09:00:00.500Z'],
    // What is the same for all is decided at once.
    ['meta.resourceType eq "User"', 'id pr'],
    ['meta.resourceType eq "Group"', 'nothing'],
    ['meta.resourceType ne "Group"', 'id pr'],
    ['meta.resourceType pr', 'meta.resourceType pr'],
    // What is not kept, nobody has.
    ['roles eq "admin"', 'nothing'],
    ['roles[value eq "admin"]', 'nothing'],
    ['password pr', 'nothing'],
    ['groups.value eq "x" or title pr', '(nothing or title pr)'],
    ['urn:acme:1.0:User:badge eq "x"', 'nothing'],
  ]
  for (const [text, means] of cases) test(`${text} is ${means}`, () => assert.equal(read(text), means))

  for (const text of [
    ...[
      'unknown eq "x"',
      'name.unknown eq "x"',
      'emails.unknown pr',
      'emails[unknown eq "x"]',
      'userName.value eq "x"',
    ],
    ...[
      'userName[value eq "x"]',
      'emails.value[type eq "x"]',
      'emails[phoneNumbers[type eq "x"]]',
      'manager[value eq "x"]',
    ],
    ...['name eq "Ada"', 'addresses eq "x"', 'meta eq "x"', `${enterprise}:userName eq "x"`, 'members.value eq "x"'],
    ...['active gt true', 'active co "tr"', 'active eq "yes"', 'active eq 1', 'title gt null', 'title co null'],
    ...['meta.created gt "yesterday"', 'meta.created gt "2026-01-31"', 'meta.created gt "+275760-09-13T00:00:00Z"'],
    ...['meta.created gt 5', 'meta.version eq "x"', 'meta.location sw "https"', '__proto__ pr', 'constructor eq "x"'],
    ...['emails.__proto__ pr', 'emails[constructor pr]', 'name.toString pr', '$ref pr', 'a:b:c eq "x"'],
  ]) {
    test(`${text} is refused`, () => assert.equal(read(text), '400 invalidFilter'))
  }

  test('has 50 comparisons at most, counted as they are made', () => {
    const joined = (part: string, times: number) => Array.from({ length: times }, () => part).join(' or ')
    assert.notEqual(read(joined('title pr', 50)), '400 invalidFilter')
    assert.equal(read(joined('title pr', 51)), '400 invalidFilter')
    assert.notEqual(read(joined('emails pr', 12)), '400 invalidFilter')
    assert.equal(read(joined('emails pr', 13)), '400 invalidFilter')
    assert.equal(read(`emails[${joined('type eq "a"', 51)}]`), '400 invalidFilter')
  })
})

test('a filter of groups knows the attributes of groups', () => {
  assert.equal(read('displayName eq "Ops"', groupKind), 'displayName eq ops')
  assert.equal(read('members[value eq "A"]', groupKind), 'members[members.value eq A]')
  assert.equal(read('members eq "A"', groupKind), 'members.value eq A')
  assert.equal(read('meta.resourceType eq "Group"', groupKind), 'id pr')
  for (const text of ['userName eq "x"', 'department eq "x"', `${enterprise}:department eq "x"`]) {
    assert.match(read(text, groupKind), /^(400 invalidFilter|nothing)$/)
  }
})

suite('the choice of a value of a list', () => {
  const emails = findAttribute(userKind.attributes, 'emails')
  assert.ok(emails)
  const chosen = (filter: string, element: Record<string, unknown>) =>
    chooses(readValueFilter(userKind, emails, filter), emails, element)
  const work = { value: 'Ada@Example.com', type: 'work', primary: true }

  const cases: [string, boolean][] = [
    ['type eq "work"', true],
    ['type eq "WORK"', true],
    ['type eq "home"', false],
    ['type ne "home"', true],
    ['display ne "x"', true],
    ['display eq "x"', false],
    ['display pr', false],
    ['value pr', true],
    ['value eq "ada@example.com"', true],
    ['value co "@EXAMPLE"', true],
    ['value sw "ada"', true],
    ['value ew ".com"', true],
    ['value gt "aaa"', true],
    ['value ge "ada@example.com"', true],
    ['value lt "aaa"', false],
    ['value le "ada@example.com"', true],
    ['primary eq true', true],
    ['primary eq "True"', true],
    ['primary ne false', true],
    ['display eq null', true],
    ['type eq "work" and primary eq true', true],
    ['type eq "home" or primary eq true', true],
    ['not (type eq "work")', false],
    ['not (display pr)', true],
  ]
  for (const [filter, is] of cases) test(`${filter}: ${is}`, () => assert.equal(chosen(filter, work), is))

  test('orders texts by their characters, as the database does', () => {
    const [before, after] = ['\uffee', '\u{1f600}']
    assert.ok(before > after, 'JavaScript orders the halves of a character')
    assert.equal(chosen(`value gt "${before}"`, { value: after }), true)
    assert.equal(chosen(`value lt "${before}"`, { value: after }), false)
  })

  test('says the same as a model, for any value and comparison', () => {
    const letters = fc.string({ unit: fc.constantFrom(...'aAbBß\u00e9e\u0301\u{1f600}'), maxLength: 4 })
    const model: Record<string, (text: string, other: string) => boolean> = {
      eq: (text, other) => text === other,
      ne: (text, other) => text !== other,
      co: (text, other) => text.split(other).length > 1 || other === '',
      sw: (text, other) => text.slice(0, other.length) === other,
      ew: (text, other) => text.slice(text.length - other.length) === other && other.length <= text.length,
    }
    const property = fc.property(fc.constantFrom(...Object.keys(model)), letters, letters, (op, text, other) => {
      const [left, right] = [text, other].map((one) => searchedText({ caseExact: false }, one)) as [string, string]
      assert.equal(chosen(`value ${op} ${JSON.stringify(other)}`, { value: text }), model[op]?.(left, right))
    })
    fc.assert(property, { numRuns: 2_000 })
  })
})
