import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { suite, test } from 'node:test'
import { operationExamples } from '../src/operation-examples.ts'
import { operations } from '../src/operations.ts'
import { faultsOf } from './guides/against-document.ts'

/** The operations whose examples tell the story; others have none. */
const told = [
  ...['exchangeAuthorizationCode', 'approveRequest', 'updateRole', 'createRule', 'upsertSetting', 'createEmailChannel'],
  ...['upsertCloudAccounts', 'listApiKeys', 'setAiProviderDefault', 'reorderPolicies', 'createUser', 'cancelRequest'],
  ...['addGroupMember', 'updateOwnPreferences', 'getAccessRequestStatus', 'getIdentityProvider', 'revokeApiKey'],
  ...['listPermissions', 'updateOwnProfile', 'listGroups', 'markNotificationRead', 'updateUser'],
]

suite('the examples of the API document', () => {
  test('are those of the operations that they are for', () => {
    assert.deepEqual(Object.keys(operationExamples).toSorted(), told.toSorted())
  })

  for (const [name, { parameters = {}, body, answer }] of Object.entries(operationExamples))
    test(`${name}: every path, body and answer has one, which fits its schema`, () => {
      const operation = operations[name]
      assert.ok(operation !== undefined)
      const { method, path, status, reply } = operation
      assert.deepEqual(
        Array.from(path.matchAll(/\{(\w+)\}/g), ([, one]) => one),
        Object.keys(parameters),
      )
      assert.equal(body !== undefined, operation.body !== undefined)
      assert.equal(answer !== undefined, reply !== null)
      if (body !== undefined) assert.deepEqual(faultsOf(method, path, undefined, body), [])
      if (answer !== undefined) assert.deepEqual(faultsOf(method, path, `${status}`, answer), [])
    })

  test('are in the document, where `/docs` finds them', () => {
    const document = JSON.parse(readFileSync(new URL('../openapi.json', import.meta.url), 'utf8'))
    for (const [name, { body, answer }] of Object.entries(operationExamples)) {
      const { method = '', path = '', status } = operations[name] ?? {}
      const { requestBody, responses } = document.paths[path][method.toLowerCase()]
      const shown = [requestBody, responses[status ?? '']].map((one) => one?.content?.['application/json']?.example)
      assert.deepEqual(shown, [body, answer], name)
    }
  })

  test('are one story: Ada asks, Ben approves, and Ada has the access', () => {
    const answers = Object.fromEntries(
      Object.entries(operationExamples).map(([name, { answer }]) => [name, answer as Record<string, unknown>]),
    )
    const { createUser: ada, approveRequest: request, getAccessRequestStatus: status } = answers
    assert.equal(request?.requester_id, ada?.id)
    assert.deepEqual([status?.id, status?.status], [request?.id, request?.status])
    assert.equal(answers.addGroupMember?.user_id, ada?.id)
    assert.equal(answers.updateOwnProfile?.id, ada?.id)
    assert.equal(answers.markNotificationRead?.resource_id, request?.id)
    assert.equal(operationExamples.approveRequest?.parameters?.id, request?.id)
    const [key] = (answers.listApiKeys as { data: Record<string, unknown>[] }).data
    const { revoked_at, revoked_by } = answers.revokeApiKey ?? {}
    assert.deepEqual(answers.revokeApiKey, { ...key, revoked_at, revoked_by })
  })
})
