import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { enterpriseSchema, groupKind, userKind } from './attribute.ts'
import type { Resource } from './read-resource.ts'
import { searchedValues } from './searched-values.ts'

/** The values of a user, as `path[element]=key`, without that they are active. */
const found = (resource: Resource) =>
  searchedValues(userKind, { active: true, ...resource })
    .map(({ path, key, element }) => `${path}[${element}]=${key}`)
    .filter((text) => text !== 'active[0]=true')

suite('a user is found by', () => {
  const cases: [string, Resource, string[]][] = [
    [
      'texts in lower case, unless case counts',
      { userName: 'ADA', externalId: 'AbC', profileUrl: 'H' },
      ['userName[0]=ada', 'externalId[0]=AbC', 'profileUrl[0]=H'],
    ],
    ['texts in their normal form', { title: 'E\u0301' }, ['title[0]=é']],
    ['parts', { name: { givenName: 'Ada' } }, ['name.givenName[0]=ada']],
    [
      'each value of a list',
      { emails: [{ value: 'A', primary: true }, { value: 'b' }] },
      ['emails.value[0]=a', 'emails.primary[0]=true', 'emails.value[1]=b'],
    ],
    [
      'the extension',
      { [enterpriseSchema]: { department: 'Ops', manager: { value: 'M' } } },
      ['department[0]=ops', 'manager.value[0]=M'],
    ],
    ['whether they are active', { active: false }, ['active[0]=false']],
    ['nothing that the schema does not have', { nope: 'x', __proto__: null, [enterpriseSchema]: 'x' } as Resource, []],
  ]
  for (const [what, resource, values] of cases) test(what, () => assert.deepEqual(found(resource), values))
})

test('a user of whom nothing is said is found as active, and a group is not', () => {
  assert.deepEqual(searchedValues(userKind, {}), [{ path: 'active', key: 'true', element: 0 }])
  assert.deepEqual(searchedValues(groupKind, {}), [])
})
