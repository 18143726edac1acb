import { suite } from 'node:test'
import { enterpriseSchema, groupSchema, userSchema } from '../../src/scim/attribute.ts'
import { playSequence } from '../support/scim-sequence.ts'
import { openScimStage } from '../support/scim-stage.ts'

/** The requests of Microsoft Entra ID’s reference of its provisioning over SCIM, in their order. */
const { directory } = await openScimStage()
const error = 'urn:ietf:params:scim:api:messages:2.0:Error'
const list = 'urn:ietf:params:scim:api:messages:2.0:ListResponse'
const patch = (...Operations: object[]) => ({ schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'], Operations })
const name = 'Test_User_ab6490ee-1e48-479e-a20b-2d77186b5dd1'
const address = `${name}@testuser.example`

const ada = {
  schemas: [userSchema, enterpriseSchema],
  externalId: '0a21f0f2-8d2a-4f8e-bf98-7363c4aed4ef',
  userName: name,
  active: true,
  emails: [{ primary: true, type: 'work', value: address }],
  meta: { resourceType: 'User' },
  name: { formatted: 'givenName familyName', familyName: 'familyName', givenName: 'givenName' },
  roles: [],
}
const kept = { id: '{ada}', userName: name, externalId: ada.externalId, active: true }

suite('Entra ID’s users', () => {
  playSequence(directory, [
    {
      what: 'tests the connection',
      method: 'GET',
      path: '/Users?filter=userName eq "5b0e6b6c-ab9b-4c1a-a7d2-2c58d1ab6b7e"',
      status: 200,
      answer: { schemas: [list], totalResults: 0, itemsPerPage: 0, startIndex: 1, Resources: [] },
    },
    {
      what: 'discovers the schema',
      method: 'GET',
      path: '/Schemas',
      status: 200,
      answer: {
        schemas: [list],
        totalResults: 3,
        Resources: [{ id: userSchema }, { id: enterpriseSchema }, { id: groupSchema }],
      },
    },
    {
      what: 'makes a user',
      method: 'POST',
      path: '/Users',
      body: ada,
      status: 201,
      keep: 'ada',
      answer: { userName: name, name: ada.name, emails: ada.emails, meta: { resourceType: 'User' } },
    },
    { what: 'reads the user', method: 'GET', path: '/Users/{ada}', status: 200, answer: kept },
    {
      what: 'reads a user who is not there',
      method: 'GET',
      path: '/Users/5171a35d82074e068ce2',
      status: 404,
      answer: { schemas: [error], status: '404' },
    },
    {
      what: 'looks for the user by name',
      method: 'GET',
      path: `/Users?filter=userName eq "${name}"`,
      status: 200,
      answer: { totalResults: 1, Resources: [kept] },
    },
    {
      what: 'looks for the user by the external id',
      method: 'GET',
      path: `/Users?filter=externalId eq "${ada.externalId}"`,
      status: 200,
      answer: { totalResults: 1, Resources: [kept] },
    },
    {
      what: 'looks for nobody',
      method: 'GET',
      path: '/Users?filter=userName eq "non-existent user"',
      status: 200,
      answer: { totalResults: 0, Resources: [] },
    },
    {
      what: 'looks for an address of work',
      method: 'GET',
      path: `/Users?filter=emails[type eq "work"].value eq "${address}"`,
      status: 200,
      answer: { totalResults: 1 },
    },
    {
      what: 'changes several attributes',
      method: 'PATCH',
      path: '/Users/{ada}',
      body: patch(
        { op: 'Replace', path: 'emails[type eq "work"].value', value: 'updated@microsoft.example' },
        { op: 'Replace', path: 'name.familyName', value: 'updatedFamilyName' },
      ),
      status: 200,
      answer: {
        ...kept,
        name: { familyName: 'updatedFamilyName', givenName: 'givenName' },
        emails: [{ value: 'updated@microsoft.example', type: 'work', primary: true }],
      },
    },
    {
      what: 'changes the name',
      method: 'PATCH',
      path: '/Users/{ada}',
      body: patch({ op: 'Replace', path: 'userName', value: '5b50642d-79fc-4410-9e90-4c077cdd1a59@testuser.example' }),
      status: 200,
      answer: { id: '{ada}', userName: '5b50642d-79fc-4410-9e90-4c077cdd1a59@testuser.example' },
    },
    {
      what: 'makes the manager',
      method: 'POST',
      path: '/Users',
      body: { ...ada, userName: 'boss', externalId: 'boss', emails: [{ value: 'boss@testuser.example' }] },
      status: 201,
      keep: 'boss',
    },
    {
      what: 'sets the manager',
      method: 'PATCH',
      path: '/Users/{ada}',
      body: patch({
        op: 'Add',
        path: `${enterpriseSchema}:manager`,
        value: [{ $ref: 'https://fabrikam.example/scim/Users/{boss}', value: '{boss}' }],
      }),
      status: 200,
      answer: { [enterpriseSchema]: { manager: { value: '{boss}' } } },
    },
    {
      what: 'asks whether that is the manager',
      method: 'GET',
      path: '/Users?filter=id eq "{ada}" and manager eq "{boss}"&attributes=id',
      status: 200,
      answer: { totalResults: 1, Resources: [{ id: '{ada}' }] },
    },
    {
      what: 'asks whether another is',
      method: 'GET',
      path: '/Users?filter=id eq "{ada}" and manager eq "{ada}"&attributes=id',
      status: 200,
      answer: { totalResults: 0 },
    },
    {
      what: 'adds what is new in one operation',
      method: 'PATCH',
      path: '/Users/{ada}',
      body: patch({
        op: 'Add',
        value: {
          displayName: 'Ada',
          [`${enterpriseSchema}:department`]: 'Ops',
          'phoneNumbers[type eq "work"].value': '1',
        },
      }),
      status: 200,
      answer: {
        displayName: 'Ada',
        phoneNumbers: [{ type: 'work', value: '1' }],
        [enterpriseSchema]: { department: 'Ops', manager: { value: '{boss}' } },
      },
    },
    {
      what: 'removes the manager',
      method: 'PATCH',
      path: '/Users/{ada}',
      body: patch({ op: 'Remove', path: `${enterpriseSchema}:manager` }),
      status: 200,
      answer: { [enterpriseSchema]: { department: 'Ops' } },
    },
    {
      what: 'disables the user',
      method: 'PATCH',
      path: '/Users/{ada}',
      body: patch({ op: 'Replace', path: 'active', value: false }),
      status: 200,
      answer: { id: '{ada}', active: false },
    },
    {
      what: 'enables the user as it once did',
      method: 'PATCH',
      path: '/Users/{ada}',
      body: patch({ op: 'Replace', path: 'active', value: 'True' }),
      status: 200,
      answer: { active: true },
    },
    {
      what: 'disables the user as it once did',
      method: 'PATCH',
      path: '/Users/{ada}',
      body: patch({ op: 'Replace', path: 'active', value: 'False' }),
      status: 200,
      answer: { active: false },
    },
    { what: 'deletes the user', method: 'DELETE', path: '/Users/{ada}', status: 204 },
    { what: 'does not find the user', method: 'GET', path: '/Users/{ada}', status: 404, answer: { schemas: [error] } },
    { what: 'deletes nobody', method: 'DELETE', path: '/Users/{ada}', status: 404, answer: { schemas: [error] } },
  ])
})

suite('Entra ID’s groups', () => {
  const body = {
    schemas: [groupSchema, 'http://schemas.microsoft.com/2006/11/ResourceManagement/ADSCIM/2.0/Group'],
    externalId: '8aa1a0c0-c4c3-4bc0-b4a5-2ef676900159',
    displayName: 'displayName',
    meta: { resourceType: 'Group' },
  }
  playSequence(directory, [
    {
      what: 'makes a user',
      method: 'POST',
      path: '/Users',
      body: { ...ada, userName: 'ben', externalId: 'ben', emails: [{ value: 'ben@testuser.example' }] },
      status: 201,
      keep: 'ben',
    },
    {
      what: 'makes a group',
      method: 'POST',
      path: '/Groups',
      body,
      status: 201,
      keep: 'group',
      answer: { externalId: body.externalId, displayName: 'displayName', meta: { resourceType: 'Group' } },
    },
    {
      what: 'reads the group',
      method: 'GET',
      path: '/Groups/{group}?excludedAttributes=members',
      status: 200,
      answer: { id: '{group}', externalId: body.externalId },
    },
    {
      what: 'looks for the group',
      method: 'GET',
      path: '/Groups?excludedAttributes=members&filter=displayName eq "displayName"',
      status: 200,
      answer: { schemas: [list], totalResults: 1, Resources: [{ id: '{group}' }] },
    },
    {
      what: 'looks for the group by its external id',
      method: 'GET',
      path: `/Groups?excludedAttributes=members&filter=externalId eq "${body.externalId}"`,
      status: 200,
      answer: { totalResults: 1 },
    },
    {
      what: 'renames the group',
      method: 'PATCH',
      path: '/Groups/{group}',
      body: patch({
        op: 'Replace',
        path: 'displayName',
        value: '1879db59-3bdf-4490-ad68-ab880a269474updatedDisplayName',
      }),
      status: 204,
    },
    {
      what: 'adds a member',
      method: 'PATCH',
      path: '/Groups/{group}',
      body: patch({ op: 'Add', path: 'members', value: [{ $ref: null, value: '{ben}' }] }),
      status: 204,
    },
    {
      what: 'asks whether the user is a member',
      method: 'GET',
      path: '/Groups?excludedAttributes=members&filter=id eq "{group}" and members eq "{ben}"',
      status: 200,
      answer: { totalResults: 1, Resources: [{ id: '{group}' }] },
    },
    {
      what: 'removes the member',
      method: 'PATCH',
      path: '/Groups/{group}',
      body: patch({ op: 'Remove', path: 'members', value: [{ $ref: null, value: '{ben}' }] }),
      status: 204,
    },
    {
      what: 'asks whether the user is still a member',
      method: 'GET',
      path: '/Groups?filter=id eq "{group}" and members eq "{ben}"',
      status: 200,
      answer: { totalResults: 0 },
    },
    { what: 'deletes the group', method: 'DELETE', path: '/Groups/{group}', status: 204 },
  ])
})
