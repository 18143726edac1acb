import assert from 'node:assert/strict'
import { test } from 'node:test'
import { allScopes, isScope, permissionGroups, scopesLacking } from './permission.ts'

test('the scopes are those of the API, each once', () => {
  assert.equal(new Set(allScopes).size, allScopes.length)
  const actionsOf = Object.fromEntries(
    permissionGroups.map((group) => [group.resource, group.scopes.map((scope) => scope.action).join()]),
  )
  assert.deepEqual(actionsOf, {
    requests: 'read,create,approve,cancel',
    grants: 'read,revoke',
    policies: 'read,write',
    roles: 'read,write',
    users: 'read,write',
    groups: 'read,write',
    identity_providers: 'read,write,sync',
    api_keys: 'read,write',
    settings: 'read,write',
    notification_channels: 'read,write',
    cloud_accounts: 'read,write',
    provisioners: 'read,write',
    audit: 'read',
    scim: 'provision',
  })
})

test('a scope is valid only by its exact name', () => {
  for (const text of ['users:read', 'scim:provision']) assert.ok(isScope(text), text)
  for (const text of ['', 'users', 'users:', 'Users:read', 'users:read ', 'users:own', 'toString', '*']) {
    assert.ok(!isScope(text), text)
  }
})

test('a granter must hold every scope that they grant', () => {
  const holder = new Set(['users:read', 'users:write'])
  const cases: [string[], string[]][] = [
    [[], []],
    [['users:read'], []],
    [['users:read', 'roles:write', 'roles:write'], ['roles:write']],
  ]
  for (const [granted, lacking] of cases) assert.deepEqual(scopesLacking(holder, granted), lacking)
})
