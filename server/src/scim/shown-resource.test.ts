import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { scimOutcome } from '../../test/support/scim-fault.ts'
import { enterpriseSchema, groupKind, userKind, userSchema } from './attribute.ts'
import { isShown, readSelection, selected } from './shown-resource.ts'

const work = { value: 'a@b.example', type: 'work' }
const whole = {
  schemas: [userSchema],
  id: '1',
  userName: 'ada',
  name: { givenName: 'Ada', familyName: 'L' },
  emails: [work, { value: 'c@d.example' }],
  [enterpriseSchema]: { department: 'Ops', manager: { value: 'm' } },
  meta: { resourceType: 'User', version: 'W/"1"' },
}
const shown = (query: Record<string, unknown>) => scimOutcome(() => selected(whole, readSelection(userKind, query)))
const { schemas, id } = whole
const always = { schemas, id }

suite('an answer shows', () => {
  const cases: [string, Record<string, unknown>, unknown][] = [
    ['everything', {}, whole],
    ['everything, for an empty list', { attributes: '', excludedAttributes: ' , ' }, whole],
    ['what is asked for, and always the id', { attributes: 'userName' }, { ...always, userName: 'ada' }],
    ['it in whatever case', { attributes: ' USERNAME ' }, { ...always, userName: 'ada' }],
    ['it by its URI', { attributes: `${userSchema}:userName` }, { ...always, userName: 'ada' }],
    ['several', { attributes: 'userName,meta' }, { ...always, userName: 'ada', meta: whole.meta }],
    ['several, as a list', { attributes: ['userName', 'meta'] }, { ...always, userName: 'ada', meta: whole.meta }],
    ['a part', { attributes: 'name.givenName' }, { ...always, name: { givenName: 'Ada' } }],
    ['a part of each value', { attributes: 'emails.type' }, { ...always, emails: [{ type: 'work' }] }],
    ['no list of which nothing is left', { attributes: 'emails.display' }, always],
    ['an extension', { attributes: enterpriseSchema }, { ...always, [enterpriseSchema]: whole[enterpriseSchema] }],
    [
      'an attribute of it',
      { attributes: `${enterpriseSchema}:department` },
      { ...always, [enterpriseSchema]: { department: 'Ops' } },
    ],
    [
      'an attribute of it, without the URI',
      { attributes: 'manager.value' },
      { ...always, [enterpriseSchema]: { manager: { value: 'm' } } },
    ],
    ['only the id, for what is not known', { attributes: 'nope' }, always],
    ['only the id, for what is not kept', { attributes: 'roles,password' }, always],
    [
      'not what is left out',
      { excludedAttributes: 'name,emails,meta' },
      { ...always, userName: 'ada', [enterpriseSchema]: whole[enterpriseSchema] },
    ],
    [
      'not a part that is left out',
      { excludedAttributes: 'name.givenName,emails.value' },
      { ...whole, name: { familyName: 'L' }, emails: [{ type: 'work' }] },
    ],
    [
      'not an extension that is left out',
      { excludedAttributes: enterpriseSchema, attributes: '' },
      { ...always, userName: 'ada', name: whole.name, emails: whole.emails, meta: whole.meta },
    ],
    ['the id, even if it is left out', { excludedAttributes: 'id,schemas' }, whole],
    ['what is not named, even if something unknown is left out', { excludedAttributes: 'nope' }, whole],
    ['nothing of JavaScript', { attributes: '__proto__,constructor' }, always],
    ['nothing, for both lists', { attributes: 'userName', excludedAttributes: 'name' }, '400 invalidValue'],
  ]
  for (const [what, query, result] of cases) test(what, () => assert.deepEqual(shown(query), result))
})

test('the members of a group are read only where they are shown', () => {
  const shows = (query: Record<string, unknown>) => isShown(readSelection(groupKind, query), 'members')
  for (const query of [
    {},
    { attributes: 'members' },
    { attributes: 'id,members.value' },
    { excludedAttributes: 'displayName' },
  ]) {
    assert.equal(shows(query), true, JSON.stringify(query))
  }
  for (const query of [
    { attributes: 'displayName' },
    { excludedAttributes: 'members' },
    { excludedAttributes: 'MEMBERS' },
  ]) {
    assert.equal(shows(query), false, JSON.stringify(query))
  }
})

test('an answer reads at most a hundred paths, in whatever form they come', () => {
  for (const attributes of [Array(100_000).fill('title'), Array(90).fill(Array(90).fill('title').join())]) {
    assert.equal(readSelection(userKind, { attributes }).only?.length, 100)
  }
})
