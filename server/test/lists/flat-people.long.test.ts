import { findCloudAccountsPage } from '../../src/cloud/cloud-account-store.ts'
import { type GroupFilters, listGroupsPage } from '../../src/groups/group-list-store.ts'
import { listHoldersPage } from '../../src/roles/holder-store.ts'
import { findRolesPage } from '../../src/roles/role-store.ts'
import { listUserGroupsPage } from '../../src/users/user-group-store.ts'
import { listUsersPage, type UserFilters } from '../../src/users/user-list-store.ts'
import { testDatabase } from '../support/database.ts'
import { manyRecords, type Pages, requireFlat } from '../support/flat-lists.ts'
import { idOf, seedManyPeople } from '../support/many-people.ts'

const db = await testDatabase()
// As many users, groups and accounts each: the runner takes a file for stuck whose first test does not begin within two minutes.
const { tenant_id, groups } = await seedManyPeople(db.asSuperuser, Math.min(manyRecords, 300_000))
await seedManyPeople(db.asSuperuser, 2_000)
const [{ id: member = '' } = {}] = await db.asSuperuser<{ id: string }>(`select ${idOf('77')} as id`)

const users =
  (filters: UserFilters): Pages =>
  (tx, page) =>
    listUsersPage(tx, filters, page)
const found =
  (filters: GroupFilters): Pages =>
  (tx, page) =>
    listGroupsPage(tx, filters, page)
const accounts =
  (q: string): Pages =>
  (tx, page) =>
    findCloudAccountsPage(tx, q, page)
const holders =
  (role_id: string): Pages =>
  (tx, page) =>
    listHoldersPage(tx, role_id, true, page)

const single: Record<string, Pages> = {
  'all users': users({}),
  'all users, the newest first': users({ sort: '-created_at' }),
  'all users by name': users({ sort: 'name' }),
  'all users by name, from the end': users({ sort: '-name' }),
  'users of a role that all have': users({ role: ['user'] }),
  'users of a role that few have': users({ role: ['admin'] }),
  'users of a role that only old users have, the newest first': users({ role: ['auditor'], sort: '-created_at' }),
  'users of a role that nobody has': users({ role: ['nobody'] }),
  'users of several roles': users({ role: ['admin', 'auditor', 'nobody'] }),
  'members of a group of everybody': users({ group: groups.everybody }),
  'members of a group of few': users({ group: groups.few }),
  'members of a group of the newest': users({ group: groups.newest }),
  'members of a group of the oldest, the newest first': users({ group: groups.oldest, sort: '-created_at' }),
  'active users': users({ active: true }),
  'users who left, by name': users({ active: false, sort: 'name' }),
  'users who left': users({ active: false }),
  'users of a rare provider': users({ auth_provider: ['saml'] }),
  'users of a provider that only old users have': users({ auth_provider: ['oidc'], sort: '-created_at' }),
  'users of rare providers': users({ auth_provider: ['saml', 'oidc'] }),
  'users of a rare provider, by name': users({ auth_provider: ['saml'], sort: 'name' }),
  'users of a year before': users({ created_before: '2023-02-01T00:00:00Z' }),
  'users from a day on': users({ created_after: '2024-03-01T00:00:00Z', created_before: '2024-03-03T00:00:00Z' }),
  'a word of everybody': users({ q: 'example' }),
  'a beginning': users({ q: 'benj' }),
  'a word of nobody': users({ q: 'nobody' }),
  'all groups': found({}),
  'groups by name': found({ sort: 'name' }),
  'the newest groups': found({ sort: '-created_at' }),
  'groups of a rare source': found({ source: 'scim' }),
  'groups of a rare source by name': found({ source: 'scim', sort: '-name' }),
  'groups of no source': found({ source: 'nothing' }),
  'groups of a day': found({ created_after: '2024-03-01T00:00:00Z', created_before: '2024-03-03T00:00:00Z' }),
  'groups by a rare word': found({ q: 'rare' }),
  'groups by a word of all': found({ q: 'team' }),
  'accounts by a number': accounts('000000004711'),
  'accounts by a word of all': accounts('payments'),
  'roles by a word': (tx, page) => findRolesPage(tx, 'custom role', page),
  'holders of a role that all have': holders('user'),
  'holders of a role that few have, and a group gives': holders('admin'),
  'groups of a user who is in many': (tx, page) => listUserGroupsPage(tx, member, true, page),
}

const combined: Record<string, Pages> = {
  'suspended users': users({ suspended: true }),
  'users who are not suspended': users({ suspended: false }),
  'members of a group of few, by name': users({ group: groups.few, sort: 'name' }),
  'members of two kinds': users({ group: groups.everybody, role: ['admin'] }),
  'members of a group of few with one of several roles': users({ group: groups.few, role: ['admin', 'auditor'] }),
  'active users of several roles': users({ role: ['admin', 'auditor'], active: true }),
  'users of a role who left': users({ role: ['user'], active: false }),
  'admins of a day': users({ role: ['admin'], created_after: '2024-11-01T00:00:00Z' }),
  'users who left, of a rare provider': users({ active: false, auth_provider: ['saml'] }),
  'users of a day, by name': users({ created_after: '2024-11-01T00:00:00Z', sort: 'name' }),
  'a word among few members': users({ q: 'example', group: groups.few }),
  'an address': users({ q: 'ben.4711@example.com' }),
  'accounts by two words': accounts('payments 2222'),
  'two words of many that never meet': users({ q: 'anna ben' }),
  'a word and a provider that never meet': users({ q: 'example', auth_provider: ['saml'], active: false }),
  'groups of a rare source by a word of all': found({ source: 'scim', q: 'team' }),
  'groups of a rare source of a day': found({ source: 'scim', created_after: '2024-03-01T00:00:00Z' }),
  'groups of a day by name': found({ created_after: '2024-11-01T00:00:00Z', sort: 'name' }),
  'holders of a role that many groups without members give': holders('by-groups'),
}

requireFlat(db, tenant_id, { single, combined })
