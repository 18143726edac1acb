import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { scimOutcome } from '../../test/support/scim-fault.ts'
import { groupKind, userKind } from './attribute.ts'
import { type ListRequest, listResponse, readListRequest } from './list-request.ts'

const usual: ListRequest = { filter: undefined, sort: undefined, start: 1, count: 100, selection: {} }

suite('a list request', () => {
  const cases: [Record<string, unknown>, Partial<ListRequest> | string][] = [
    [{}, {}],
    [
      { startIndex: '3', count: '7' },
      { start: 3, count: 7 },
    ],
    [
      { startIndex: 3, count: 7 },
      { start: 3, count: 7 },
    ],
    [{ startIndex: '', count: null }, {}],
    // RFC 7644: less than 1 is 1, and less than 0 is 0.
    [{ startIndex: '0' }, { start: 1 }],
    [{ startIndex: '-5' }, { start: 1 }],
    [{ count: '0' }, { count: 0 }],
    [{ count: '-1' }, { count: 0 }],
    [{ count: '201' }, { count: 200 }],
    [{ startIndex: '999999999' }, { start: 1_000_000 }],
    ...['1.5', '1e3', 'ten', '0x10', ' 1', '10abc', '9999999999', ['1', '2'], {}, true].flatMap(
      (sent): [Record<string, unknown>, string][] => [
        [{ startIndex: sent }, '400 invalidValue'],
        [{ count: sent }, '400 invalidValue'],
      ],
    ),
    [{ filter: 'title pr' }, { filter: { op: 'pr', path: 'title' } }],
    [{ filter: '  ' }, {}],
    [{ filter: 'nope pr' }, '400 invalidFilter'],
    // Not a list of everybody.
    [{ filter: ['title pr', 'userName pr'] }, '400 invalidFilter'],
    [{ filter: 7 }, '400 invalidFilter'],
    [{ sortBy: 'userName' }, { sort: { path: 'userName', descending: false } }],
    [{ sortBy: 'NAME.familyname', sortOrder: 'Descending' }, { sort: { path: 'name.familyName', descending: true } }],
    [{ sortBy: 'emails' }, { sort: { path: 'emails.value', descending: false } }],
    [{ sortBy: 'meta.created', sortOrder: 'ascending' }, { sort: { path: 'meta.created', descending: false } }],
    [{ sortBy: 'id', sortOrder: 'upwards' }, { sort: { path: 'id', descending: false } }],
    ...['nope', 'roles', '', '__proto__', "userName'; drop table tenant_user; --", ['userName']].map(
      (sortBy): [Record<string, unknown>, Partial<ListRequest>] => [{ sortBy, sortOrder: 'descending' }, {}],
    ),
    [{ attributes: 'title' }, { selection: { only: ['title'] } }],
  ]
  for (const [query, result] of cases) {
    test(JSON.stringify(query), () => {
      const expected = typeof result === 'string' ? result : { ...usual, ...result }
      assert.deepEqual(
        scimOutcome(() => readListRequest(userKind, query)),
        expected,
      )
    })
  }

  test('of groups knows what groups have', () => {
    assert.equal(readListRequest(groupKind, { sortBy: 'userName' }).sort, undefined)
    assert.equal(
      scimOutcome(() => readListRequest(groupKind, { filter: 'userName pr' })),
      '400 invalidFilter',
    )
  })
})

test('a page says how many there are in all, and how many it has', () => {
  assert.deepEqual(listResponse({ total: 12, resources: [{ id: '1' }] }, 12), {
    schemas: ['urn:ietf:params:scim:api:messages:2.0:ListResponse'],
    totalResults: 12,
    startIndex: 12,
    itemsPerPage: 1,
    Resources: [{ id: '1' }],
  })
})
