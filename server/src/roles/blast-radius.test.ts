import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { allScopes, type Scope } from '../permissions/permission.ts'
import { type BlastLevel, blastLevels, blastRadius } from './blast-radius.ts'
import { systemRoles } from './role.ts'

/** Every scope that does more than read, by the level that it has alone. */
const levels: Record<BlastLevel, Scope[]> = {
  low: ['requests:create'],
  medium: ['notification_channels:write'],
  high: [
    'requests:approve',
    'requests:cancel',
    'grants:revoke',
    'users:write',
    'groups:write',
    'scim:provision',
    'cloud_accounts:write',
  ],
  critical: [
    'policies:write',
    'roles:write',
    'identity_providers:write',
    'identity_providers:sync',
    'api_keys:write',
    'settings:write',
    'provisioners:write',
  ],
}

suite('the blast radius', () => {
  for (const level of blastLevels) {
    for (const scope of levels[level]) {
      test(`of ${scope} is ${level}, with a reason`, () => {
        const { level: found, reasons } = blastRadius([scope])
        assert.equal(found, level)
        assert.equal(reasons.length, 1)
        assert.match(reasons[0] ?? '', new RegExp(`^\`${scope}\` \\w`))
      })
    }
  }

  test('of read scopes is low, the audit log included', () => {
    const reading = allScopes.filter((scope) => scope.endsWith(':read'))
    assert.deepEqual(
      reading.map((scope) => blastRadius([scope]).level),
      reading.map(() => 'low'),
    )
    assert.deepEqual(blastRadius(['audit:read']).reasons, ['`audit:read` only reads'])
  })

  test('covers every scope', () => {
    const known = Object.values(levels).flat()
    assert.deepEqual(
      allScopes.filter((scope) => !scope.endsWith(':read') && !known.includes(scope)),
      [],
    )
  })

  const mixtures: [string, readonly string[], BlastLevel, number][] = [
    ['of no scopes is low, without a reason', [], 'low', 0],
    [
      'of a read and a medium write is medium, for the write',
      ['users:read', 'notification_channels:write'],
      'medium',
      1,
    ],
    ['of two high scopes has two reasons', ['grants:revoke', 'users:write', 'users:read'], 'high', 2],
    ['is the highest of all', ['requests:create', 'cloud_accounts:write', 'users:write', 'roles:write'], 'critical', 1],
    ['ignores a scope that does not exist any more', ['attics:write', 'users:read'], 'low', 1],
    ['of a user is low', systemRoles.user.scopes, 'low', 1],
    ['of an approver is high, for approving', systemRoles.approver.scopes, 'high', 1],
    ['of an auditor is low', systemRoles.auditor.scopes, 'low', systemRoles.auditor.scopes.length],
    ['of an admin is critical', systemRoles.admin.scopes, 'critical', levels.critical.length],
  ]
  for (const [name, scopes, level, reasons] of mixtures) {
    test(name, () => {
      const found = blastRadius(scopes)
      assert.deepEqual([found.level, found.reasons.length], [level, reasons])
    })
  }
})
