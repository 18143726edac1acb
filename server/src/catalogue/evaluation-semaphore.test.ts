import assert from 'node:assert/strict'
import { test } from 'node:test'
import { evaluateInTurn } from './evaluation-semaphore.ts'

test('a user has one batch running and three waiting, and takes one place among those of the tenant', async () => {
  const ended: string[] = []
  const first = Promise.withResolvers<void>()
  const call = (user_id: string, work: Promise<void> = Promise.resolve()) =>
    evaluateInTurn({ tenant_id: 'tenant', user_id }, () => work).then(
      () => ended.push(user_id),
      (error: Error) => ended.push(error.message),
    )
  const calls = [call('many', first.promise), ...Array.from({ length: 199 }, () => call('many')), call('one')]
  calls.push(evaluateInTurn({ tenant_id: 'other', user_id: 'many' }, async () => ended.push('elsewhere')))
  await calls.at(-1)
  first.resolve()
  await Promise.all(calls)
  const refused = ended.filter((one) => one.startsWith('too many of your calls'))
  assert.equal(refused.length, 196)
  const answered = ended.filter((one) => !refused.includes(one))
  assert.deepEqual(answered, ['elsewhere', 'many', 'one', 'many', 'many', 'many'])
})
