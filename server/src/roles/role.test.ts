import assert from 'node:assert/strict'
import { test } from 'node:test'
import { allScopes } from '../permissions/permission.ts'
import { isCreationRole, systemRoles } from './role.ts'

test('a user asks for access and holds nothing else', () => {
  assert.deepEqual(systemRoles.user.scopes, ['requests:create'])
})

test('an approver holds what a user holds, decides, and sees requests and grants', () => {
  assert.deepEqual([...systemRoles.approver.scopes].sort(), [
    'grants:read',
    'requests:approve',
    'requests:create',
    'requests:read',
  ])
})

test('an admin holds everything but the scope of directories', () => {
  assert.deepEqual(
    allScopes.filter((scope) => !systemRoles.admin.scopes.includes(scope)),
    ['scim:provision'],
  )
})

test('an auditor reads everything and does nothing', () => {
  assert.ok(systemRoles.auditor.scopes.includes('audit:read'))
  assert.deepEqual(
    allScopes.filter((scope) => systemRoles.auditor.scopes.includes(scope) !== scope.endsWith(':read')),
    [],
  )
})

test('a user is created with user, approver or admin, in those very words', () => {
  for (const role of ['user', 'approver', 'admin']) assert.ok(isCreationRole(role), role)
  for (const role of ['auditor', 'owner', 'Admin', 'admin ', '', 'constructor']) assert.ok(!isCreationRole(role), role)
})
