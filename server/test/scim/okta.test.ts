import { suite } from 'node:test'
import { groupSchema, userSchema } from '../../src/scim/attribute.ts'
import { playSequence } from '../support/scim-sequence.ts'
import { openScimStage } from '../support/scim-stage.ts'

/** The requests of Okta's test suite for SCIM 2.0, and of its provisioning, in their order. */
const { directory } = await openScimStage()
const error = 'urn:ietf:params:scim:api:messages:2.0:Error'
const list = 'urn:ietf:params:scim:api:messages:2.0:ListResponse'
const patch = (...Operations: object[]) => ({ schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'], Operations })

const ada = {
  schemas: [userSchema],
  userName: 'ada.lovelace@okta.example',
  name: { givenName: 'Ada', familyName: 'Lovelace' },
  emails: [{ primary: true, value: 'ada.lovelace@okta.example', type: 'work' }],
  displayName: 'Ada Lovelace',
  locale: 'en-US',
  externalId: '00ujl29u0le5T6Aj10h7',
  groups: [],
  password: '1mz050nq',
  active: true,
}

suite('Okta’s users', () => {
  playSequence(directory, [
    {
      what: 'tests the connection',
      method: 'GET',
      path: '/ServiceProviderConfig',
      status: 200,
      answer: { patch: { supported: true }, filter: { supported: true } },
    },
    {
      what: 'tests the credentials',
      method: 'GET',
      path: '/Users?startIndex=1&count=2',
      status: 200,
      answer: { schemas: [list], totalResults: 0, startIndex: 1, Resources: [] },
    },
    {
      what: 'looks for the user',
      method: 'GET',
      path: '/Users?filter=userName eq "ada.lovelace@okta.example"&startIndex=1&count=100',
      status: 200,
      answer: { schemas: [list], totalResults: 0, itemsPerPage: 0, startIndex: 1, Resources: [] },
    },
    {
      what: 'asks for an id that is none',
      method: 'GET',
      path: '/Users/010101001010101011001010101011',
      status: 404,
      answer: { schemas: [error], status: '404' },
    },
    {
      what: 'makes the user',
      method: 'POST',
      path: '/Users',
      body: ada,
      status: 201,
      keep: 'ada',
      answer: {
        schemas: [userSchema],
        userName: ada.userName,
        name: ada.name,
        active: true,
        externalId: ada.externalId,
      },
    },
    {
      what: 'makes the user again',
      method: 'POST',
      path: '/Users',
      body: ada,
      status: 409,
      answer: { schemas: [error], status: '409', scimType: 'uniqueness' },
    },
    {
      what: 'reads the user',
      method: 'GET',
      path: '/Users/{ada}',
      status: 200,
      answer: { id: '{ada}', userName: ada.userName, emails: ada.emails, meta: { resourceType: 'User' } },
    },
    {
      what: 'looks for the user in capitals',
      method: 'GET',
      path: '/Users?filter=userName eq "ADA.LOVELACE@OKTA.EXAMPLE"',
      status: 200,
      answer: { totalResults: 1, Resources: [{ id: '{ada}' }] },
    },
    {
      what: 'looks for the user by the id there',
      method: 'GET',
      path: '/Users?filter=externalId eq "00ujl29u0le5T6Aj10h7"',
      status: 200,
      answer: { totalResults: 1, Resources: [{ id: '{ada}' }] },
    },
    {
      what: 'changes the user',
      method: 'PUT',
      path: '/Users/{ada}',
      body: { ...ada, id: '{ada}', meta: { resourceType: 'User' }, name: { givenName: 'Augusta', familyName: 'King' } },
      status: 200,
      answer: { id: '{ada}', name: { givenName: 'Augusta', familyName: 'King' }, active: true },
    },
    {
      what: 'deactivates the user',
      method: 'PATCH',
      path: '/Users/{ada}',
      body: patch({ op: 'replace', value: { active: false } }),
      status: 200,
      answer: { id: '{ada}', active: false },
    },
    {
      what: 'reads that they are inactive',
      method: 'GET',
      path: '/Users/{ada}',
      status: 200,
      answer: { active: false },
    },
    {
      what: 'reactivates the user',
      method: 'PATCH',
      path: '/Users/{ada}',
      body: patch({ op: 'replace', value: { active: true } }),
      status: 200,
      answer: { active: true },
    },
    {
      what: 'deactivates the user by a whole',
      method: 'PUT',
      path: '/Users/{ada}',
      body: { ...ada, active: false },
      status: 200,
      answer: { active: false },
    },
    {
      what: 'activates the user by a whole',
      method: 'PUT',
      path: '/Users/{ada}',
      body: ada,
      status: 200,
      answer: { active: true },
    },
    {
      what: 'pushes a password',
      method: 'PATCH',
      path: '/Users/{ada}',
      body: patch({ op: 'replace', value: { password: 'new' } }),
      status: 200,
      answer: { id: '{ada}' },
    },
    {
      what: 'imports the users',
      method: 'GET',
      path: '/Users?startIndex=1&count=100',
      status: 200,
      answer: { totalResults: 1, itemsPerPage: 1, Resources: [{ id: '{ada}', name: { givenName: 'Ada' } }] },
    },
    {
      what: 'imports no more',
      method: 'GET',
      path: '/Users?startIndex=101&count=100',
      status: 200,
      answer: { totalResults: 1, itemsPerPage: 0, startIndex: 101, Resources: [] },
    },
  ])
})

suite('Okta’s groups', () => {
  const name = 'Test SCIMv2'
  playSequence(directory, [
    {
      what: 'finds the user',
      method: 'POST',
      path: '/Users',
      body: { ...ada, userName: 'ben@okta.example', externalId: 'ben', emails: [{ value: 'ben@okta.example' }] },
      status: 201,
      keep: 'ben',
    },
    {
      what: 'imports the groups',
      method: 'GET',
      path: '/Groups?startIndex=1&count=100',
      status: 200,
      answer: { schemas: [list], totalResults: 0, startIndex: 1, Resources: [] },
    },
    {
      what: 'looks for the group',
      method: 'GET',
      path: `/Groups?filter=displayName eq "${name}"&startIndex=1&count=100`,
      status: 200,
      answer: { totalResults: 0 },
    },
    {
      what: 'makes the group',
      method: 'POST',
      path: '/Groups',
      body: { schemas: [groupSchema], displayName: name, members: [] },
      status: 201,
      keep: 'group',
      answer: { schemas: [groupSchema], displayName: name, meta: { resourceType: 'Group' } },
    },
    {
      what: 'makes the group again',
      method: 'POST',
      path: '/Groups',
      body: { schemas: [groupSchema], displayName: name, members: [] },
      status: 409,
      answer: { schemas: [error] },
    },
    {
      what: 'reads the group',
      method: 'GET',
      path: '/Groups/{group}',
      status: 200,
      answer: { id: '{group}', displayName: name },
    },
    {
      what: 'asks for a group that is none',
      method: 'GET',
      path: '/Groups/abf4dd94-a4c0-4f67-89c9-76b03340cb9b',
      status: 404,
      answer: { schemas: [error], status: '404' },
    },
    {
      what: 'adds a member',
      method: 'PATCH',
      path: '/Groups/{group}',
      body: patch({ op: 'add', path: 'members', value: [{ value: '{ben}', display: 'ben@okta.example' }] }),
      status: 204,
    },
    {
      what: 'reads the members',
      method: 'GET',
      path: '/Groups/{group}',
      status: 200,
      answer: { members: [{ value: '{ben}' }] },
    },
    {
      what: 'looks for the groups of the user',
      method: 'GET',
      path: '/Groups?filter=members[value eq "{ben}"]&attributes=displayName',
      status: 200,
      answer: { totalResults: 1, Resources: [{ id: '{group}' }] },
    },
    {
      what: 'renames the group',
      method: 'PATCH',
      path: '/Groups/{group}',
      body: patch({ op: 'replace', value: { id: '{group}', displayName: 'Renamed' } }),
      status: 204,
    },
    {
      what: 'removes a member, and adds one',
      method: 'PATCH',
      path: '/Groups/{group}',
      body: patch(
        { op: 'remove', path: 'members[value eq "{ben}"]' },
        { op: 'add', path: 'members', value: [{ value: '{ben}', display: 'ben@okta.example' }] },
      ),
      status: 204,
    },
    {
      what: 'removes a member',
      method: 'PATCH',
      path: '/Groups/{group}',
      body: patch({ op: 'remove', path: 'members[value eq "{ben}"]' }),
      status: 204,
    },
    {
      what: 'pushes all members',
      method: 'PUT',
      path: '/Groups/{group}',
      body: {
        schemas: [groupSchema],
        id: '{group}',
        displayName: 'Renamed',
        members: [{ value: '{ben}', display: 'ben@okta.example' }],
      },
      status: 200,
      answer: { displayName: 'Renamed', members: [{ value: '{ben}' }] },
    },
    { what: 'deletes the group', method: 'DELETE', path: '/Groups/{group}', status: 204 },
    { what: 'does not find it', method: 'GET', path: '/Groups/{group}', status: 404, answer: { status: '404' } },
  ])
})
