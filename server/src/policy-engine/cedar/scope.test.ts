import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Problem } from '../../kernel/errors.ts'
import {
  covers,
  type Scope,
  type ScopeFields,
  scopeFields,
  scopeFromEngine,
  scopeFromFields,
  scopeToEngine,
} from './scope.ts'

const any: ScopeFields = {
  principal_scope_type: 'any',
  action_scope_type: 'any',
  action_ids: [],
  resource_scope_type: 'any',
}

const forms: [name: string, fields: Partial<ScopeFields>][] = [
  ['everything', {}],
  ['one user', { principal_scope_type: 'eq', principal_entity_type: 'User', principal_entity_id: 'u1' }],
  ['a group', { principal_scope_type: 'in', principal_entity_type: 'Group', principal_entity_id: 'g1' }],
  ['a type', { principal_scope_type: 'is', principal_entity_type: 'User' }],
  [
    'a type within a group',
    { principal_scope_type: 'is_in', principal_entity_type: 'User', principal_entity_id: 'Group::"a \\"b\\" c"' },
  ],
  ['one action', { action_scope_type: 'eq', action_ids: ['ReadOnlyAccess'] }],
  ['a list of actions', { action_scope_type: 'in', action_ids: ['a', 'b'] }],
  [
    'one resource',
    { resource_scope_type: 'eq', resource_entity_type: 'cloud_account', resource_entity_id: '123456789012' },
  ],
  [
    'accounts within a unit',
    {
      resource_scope_type: 'is_in',
      resource_entity_type: 'cloud_account',
      resource_entity_id: 'cloud_organizational_unit::"ou-ab12-12345678"',
    },
  ],
]

for (const [name, fields] of forms)
  test(`the fields of a scope over ${name} survive the conversion to the engine’s JSON and back`, () => {
    const wanted = { ...any, ...fields }
    const engine = scopeToEngine(scopeFromFields(wanted))
    assert.deepEqual(scopeFields(scopeFromEngine({ ...engine })), wanted)
  })

test('a reference may spell its id in any form of JSON, and is returned in one form', () => {
  const spelled = (principal_entity_id: string) => ({
    ...any,
    ...({ principal_scope_type: 'is_in', principal_entity_type: 'User', principal_entity_id } as const),
  })
  const fields = scopeFields(scopeFromFields(spelled('Group::"\\/\\u0061"')))
  assert.deepEqual(fields, spelled('Group::"/a"'))
})

const misfits: [name: string, fields: Partial<ScopeFields>, pointers: string[]][] = [
  ['a type with any', { principal_entity_type: 'User' }, ['/principal_entity_type']],
  ['an id with any', { resource_entity_id: 'x' }, ['/resource_entity_id']],
  ['eq without type and id', { principal_scope_type: 'eq' }, ['/principal_entity_type', '/principal_entity_id']],
  [
    'is with an id',
    { principal_scope_type: 'is', principal_entity_type: 'User', principal_entity_id: 'u' },
    ['/principal_entity_id'],
  ],
  [
    'an unknown type',
    { resource_scope_type: 'eq', resource_entity_type: 'account', resource_entity_id: '1' },
    ['/resource_entity_type'],
  ],
  [
    'is_in without a group',
    { principal_scope_type: 'is_in', principal_entity_type: 'User', principal_entity_id: 'g1' },
    ['/principal_entity_id'],
  ],
  [
    'is_in with half a surrogate pair',
    { principal_scope_type: 'is_in', principal_entity_type: 'User', principal_entity_id: 'Group::"\\ud800"' },
    ['/principal_entity_id'],
  ],
  ['actions with any', { action_ids: ['a'] }, ['/action_ids']],
  ['eq with two actions', { action_scope_type: 'eq', action_ids: ['a', 'b'] }, ['/action_ids']],
  ['in without actions', { action_scope_type: 'in', action_ids: [] }, ['/action_ids']],
]

for (const [name, fields, pointers] of misfits)
  test(`refuses ${name} and names the field`, () => {
    assert.throws(
      () => scopeFromFields(fields),
      (error: Problem) => {
        assert.ok(error instanceof Problem)
        assert.equal(error.code, 'invalid_input')
        const named = ((error.details?.fields ?? []) as { pointer: string }[]).map((field) => field.pointer)
        assert.deepEqual(named, pointers)
        return true
      },
    )
  })

const scopeOf = (fields: Partial<ScopeFields>): Scope => scopeFromFields(fields)
const unit = (scope: 'in' | 'is_in') =>
  scopeOf(
    scope === 'in'
      ? { resource_scope_type: 'in', resource_entity_type: 'cloud_organizational_unit', resource_entity_id: 'ou' }
      : {
          resource_scope_type: 'is_in',
          resource_entity_type: 'cloud_account',
          resource_entity_id: 'cloud_organizational_unit::"ou"',
        },
  )
const approve = scopeOf({ action_scope_type: 'eq', action_ids: ['approve'] })
const actionA = scopeOf({ action_scope_type: 'eq', action_ids: ['a'] })
const actionsAB = scopeOf({ action_scope_type: 'in', action_ids: ['a', 'b'] })

const coverage: [name: string, wide: Scope, narrow: Scope, covers: boolean][] = [
  ['everything covers one action', scopeOf({}), actionA, true],
  ['one action does not cover everything', actionA, scopeOf({}), false],
  ['a list covers one of its actions', actionsAB, actionA, true],
  ['one action does not cover a list', actionA, actionsAB, false],
  ['everything does not cover approve', scopeOf({}), approve, false],
  ['a unit covers its accounts', unit('in'), unit('is_in'), true],
  ['the accounts of a unit do not cover the unit', unit('is_in'), unit('in'), false],
]

for (const [name, wide, narrow, expected] of coverage)
  test(`${name}`, () => {
    assert.equal(covers(wide, narrow), expected)
  })
