import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { problemOf } from '../../test/support/problem.ts'
import { type Actor, systemActor } from '../kernel/context.ts'
import { Problem } from '../kernel/errors.ts'
import {
  type LockedUser,
  requireMayChange,
  requireMaySuspend,
  requireMayTakeFrom,
  requireOwnerLeft,
  type UserChange,
} from './lifecycle.ts'

const ada: LockedUser = {
  id: 'ada',
  name: 'Ada',
  active: true,
  suspended: false,
  is_owner: false,
  scopes: ['requests:create'],
  other_owners: 1,
  ...{ department: null, title: null, manager_id: null, identity_provider_id: null },
}
const desk = new Set(['users:write', 'requests:create'])
const actor: Actor = { kind: 'user', user_id: 'desk', api_key_id: null, scopes: desk }

function outcome(work: () => unknown): unknown {
  try {
    return work()
  } catch (thrown) {
    if (thrown instanceof Problem) return thrown.code
    throw thrown
  }
}

suite('a change of a user', () => {
  const gone = { active: false }
  const owner = { is_owner: true, other_owners: 0 }
  const cases: [string, Partial<LockedUser>, UserChange, string[] | string][] = [
    ['without fields is none', {}, {}, []],
    ['without effect is none', {}, { name: 'Ada', active: true }, []],
    ['of the name emits an event', {}, { name: 'Ada L.' }, ['user.updated']],
    ['deactivates an active user', {}, { active: false }, ['user.deactivated']],
    ['does not deactivate twice', gone, { active: false }, []],
    ['reactivates a deactivated user', gone, { active: true }, ['user.reactivated']],
    [
      'does not reactivate a user with scopes that the caller lacks',
      { ...gone, scopes: ['roles:write'] },
      { active: true },
      'forbidden',
    ],
    [
      'does not deactivate a user with scopes that the caller lacks (P34)',
      { scopes: ['roles:write'] },
      { active: false },
      'forbidden',
    ],
    ['needs no scope to deactivate again', { ...gone, scopes: ['roles:write'] }, { active: false }, []],
    ['needs no scope to rename', { scopes: ['roles:write'] }, { name: 'A' }, ['user.updated']],
    [
      'reports the missing scope before the last owner',
      { ...owner, scopes: ['roles:write'] },
      { active: false },
      'forbidden',
    ],
    ['of both emits both events', gone, { name: 'A', active: true }, ['user.updated', 'user.reactivated']],
    ['deactivates an owner while there is another', { is_owner: true }, { active: false }, ['user.deactivated']],
    ['does not deactivate the last owner (P16)', owner, { active: false }, 'last_owner'],
    ['renames the last owner', owner, { name: 'A' }, ['user.updated']],
    ['of an already deactivated owner is none', { ...owner, active: false }, { active: false }, []],
  ]
  for (const [name, user, change, expected] of cases) {
    test(name, () =>
      assert.deepEqual(
        outcome(() => requireMayChange({ ...ada, ...user }, change, { actor, session: null, now: new Date() }).events),
        expected,
      ),
    )
  }
})

suite('taking rights from a user', () => {
  const strong = { id: 'ada', scopes: ['users:write', 'roles:write', 'audit:read'] }
  const key: Actor = { ...actor, kind: 'api_key', api_key_id: 'k' }
  const cases: [string, Pick<LockedUser, 'id' | 'scopes'>, Actor, string[] | undefined][] = [
    ['needs nothing where they hold nothing', { ...strong, scopes: [] }, { ...actor, scopes: new Set() }, undefined],
    ['is allowed with the same scopes', { ...strong, scopes: ['users:write'] }, actor, undefined],
    ['is refused, naming only the missing scopes (P34)', strong, actor, ['roles:write', 'audit:read']],
    ['is allowed to the user themself', strong, { ...actor, user_id: 'ada' }, undefined],
    [
      'is refused to a key of the user with fewer scopes (P34)',
      strong,
      { ...key, user_id: 'ada' },
      ['roles:write', 'audit:read'],
    ],
    ['is allowed to a key with all scopes', strong, { ...key, scopes: new Set(strong.scopes) }, undefined],
    ['is refused to no person', { ...strong, scopes: ['audit:read'] }, systemActor, ['audit:read']],
  ]
  for (const [name, user, by, lacking] of cases) {
    test(name, () => {
      if (lacking === undefined) return requireMayTakeFrom(user, by)
      const problem = problemOf(() => requireMayTakeFrom(user, by))
      assert.deepEqual([problem.code, problem.details], ['forbidden', { scopes: lacking }])
    })
  }
})

suite('a user to suspend', () => {
  const strong = { scopes: ['roles:write'] }
  const cases: [string, Partial<LockedUser>, string | undefined][] = [
    ['can be any user, with any scopes', strong, undefined],
    ['can be suspended already', { suspended: true }, undefined],
    ['can be an owner while there is another', { is_owner: true }, undefined],
    ['cannot be the last active owner (P16)', { is_owner: true, other_owners: 0 }, 'last_owner'],
    ['cannot be deactivated', { active: false }, 'unprocessable'],
    ['cannot be a deactivated owner', { active: false, is_owner: true, other_owners: 0 }, 'unprocessable'],
  ]
  for (const [name, user, expected] of cases) {
    test(name, () =>
      assert.equal(
        outcome(() => requireMaySuspend({ ...ada, ...user })),
        expected,
      ),
    )
  }
})

suite('a user to delete', () => {
  const cases: [string, Partial<LockedUser>, string | undefined][] = [
    ['can be any user', {}, undefined],
    ['can be an owner while there is another', { is_owner: true }, undefined],
    ['cannot be the last active owner (P16)', { is_owner: true, other_owners: 0 }, 'last_owner'],
    ['can be an already deactivated owner', { is_owner: true, active: false, other_owners: 0 }, undefined],
  ]
  for (const [name, user, expected] of cases) {
    test(name, () =>
      assert.equal(
        outcome(() => requireOwnerLeft({ ...ada, ...user })),
        expected,
      ),
    )
  }
})
