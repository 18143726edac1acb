import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { Problem } from '../kernel/errors.ts'
import { type HeldMapping, mappingFaults, planMappings, readGroupsClaim } from './group-mapping.ts'

suite('the claim that gives groups', () => {
  const read = (...values: string[]) => ({ is: 'read', values })
  const [missing, overflow] = [{ is: 'missing' }, { is: 'overflow' }]
  const thousand = Array.from({ length: 1_000 }, (_, n) => `g${n}`)
  const cases: [string, object, string, object][] = [
    ['is a list of texts', { groups: ['a', 'b'] }, 'groups', read('a', 'b')],
    ['is one text', { groups: 'a' }, 'groups', read('a')],
    ['may be empty', { groups: [] }, 'groups', read()],
    ['has each value once', { groups: ['a', 'a'] }, 'groups', read('a')],
    ['may have another name', { 'https://example.com/teams': ['a'] }, 'https://example.com/teams', read('a')],
    ['may have a thousand values', { groups: thousand }, 'groups', read(...thousand)],
    ['overflows with more', { groups: [...thousand, 'a'] }, 'groups', overflow],
    ['is missing', {}, 'groups', missing],
    ['is missing as null', { groups: null }, 'groups', missing],
    ['is missing as an object', { groups: { a: true } }, 'groups', missing],
    ['is missing with anything but texts', { groups: ['a', 1] }, 'groups', missing],
    ['is missing with a list in the list', { groups: [['a']] }, 'groups', missing],
    ['is missing by the name of what every object has', {}, 'constructor', missing],
    ['is elsewhere (Entra)', { _claim_names: { groups: 'src1' }, _claim_sources: {} }, 'groups', overflow],
    ['is elsewhere, whatever is sent beside', { groups: ['a'], _claim_names: { groups: 'src1' } }, 'groups', overflow],
    ['is not elsewhere where another is', { roles: ['a'], _claim_names: { groups: 'src1' } }, 'roles', read('a')],
    ['is elsewhere by `hasgroups`', { hasgroups: true }, 'groups', overflow],
    ['is elsewhere by `hasgroups` as a text', { hasgroups: 'true' }, 'groups', overflow],
    ['is there by `hasgroups` of no', { groups: ['a'], hasgroups: false }, 'groups', read('a')],
    ['is there where `hasgroups` is of another claim', { roles: ['a'], hasgroups: true }, 'roles', read('a')],
    ['loses values that no mapping has', { groups: ['a', '', 'x'.repeat(501), 'a\0b', '\ud800'] }, 'groups', read('a')],
  ]
  for (const [name, claims, claim, expected] of cases) {
    test(name, () => assert.deepEqual(readGroupsClaim(claims as Record<string, unknown>, claim), expected))
  }
})

test('a mapping is sent once', () => {
  const one = { value: 'a', group_id: 'g' }
  assert.deepEqual(mappingFaults([one, { ...one, value: 'A' }, { ...one, group_id: 'h' }]), [])
  const faults = mappingFaults([one, { ...one, value: 'b' }, one])
  assert.deepEqual(
    faults.map(({ pointer }) => pointer),
    ['/group_mappings/2'],
  )
})

suite('mappings that replace others', () => {
  const groups = [
    { id: 'plain', scopes: [] },
    { id: 'one', scopes: ['a'] },
    { id: 'two', scopes: ['a', 'b'] },
  ]
  const held = (value: string, group_id: string, in_effect = true): HeldMapping => ({
    ...{ id: `${value} ${group_id}`, value, group_id, in_effect },
  })
  const wanted = (value: string, group_id: string) => ({ value, group_id })
  const nothing = { added: [], removed: [], vouched: [] }
  type Case = [string, HeldMapping[], ReturnType<typeof wanted>[], string[], object]
  const cases: Case[] = [
    ['that stay need no right', [held('x', 'two')], [wanted('x', 'two')], [], nothing],
    ['may be none', [], [], [], nothing],
    ['add to a group without scopes', [], [wanted('x', 'plain')], [], { ...nothing, added: [wanted('x', 'plain')] }],
    ['add with all scopes', [], [wanted('x', 'two')], ['a', 'b'], { ...nothing, added: [wanted('x', 'two')] }],
    ['add not without one', [], [wanted('x', 'two')], ['a'], ['b']],
    ['remove with all scopes', [held('x', 'one')], [], ['a'], { ...nothing, removed: [held('x', 'one')] }],
    ['remove not without one', [held('x', 'two')], [], ['b'], ['a']],
    ['remove one out of effect not without one', [held('x', 'two', false)], [], ['a'], ['b']],
    ['lead to another group with the scopes of both', [held('x', 'one')], [wanted('x', 'two')], ['a'], ['b']],
    [
      'vouch again',
      [held('x', 'one', false)],
      [wanted('x', 'one')],
      ['a'],
      { ...nothing, vouched: [held('x', 'one', false)] },
    ],
    ['do not vouch without the scopes', [held('x', 'one', false)], [wanted('x', 'one')], [], nothing],
  ]
  for (const [name, before, now, scopes, expected] of cases) {
    test(name, () => {
      const plan = () => planMappings(before, now, groups, new Set([...scopes, 'groups:write']))
      if (!Array.isArray(expected)) return assert.deepEqual(plan(), expected)
      assert.throws(plan, (problem) => {
        assert.ok(problem instanceof Problem && problem.code === 'forbidden')
        assert.deepEqual(problem.details, { scopes: expected })
        return true
      })
    })
  }

  test('are changed by nobody without `groups:write`, as members of a group are', () => {
    const [one, scopes] = [[wanted('x', 'plain')], new Set(['settings:write'])]
    for (const [before, now] of [
      [[], one],
      [[held('x', 'plain')], []],
    ] as const) {
      assert.throws(() => planMappings(before, now, groups, scopes), /`groups:write`/)
    }
    assert.deepEqual(planMappings([held('x', 'plain')], one, groups, scopes), nothing)
  })

  test('lead to groups of the provider alone, and the refusal names each other one', () => {
    assert.throws(
      () => planMappings([], [wanted('x', 'plain'), wanted('y', 'gone'), wanted('z', 'gone')], groups, new Set()),
      (problem) => {
        assert.ok(problem instanceof Problem && problem.code === 'unprocessable')
        const { fields } = problem.details as { fields: { pointer: string }[] }
        assert.deepEqual(
          fields.map(({ pointer }) => pointer),
          ['/group_mappings/1/group_id', '/group_mappings/2/group_id'],
        )
        return true
      },
    )
  })
})
