import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newId } from '../../src/kernel/id.ts'
import { openScimStage } from '../support/scim-stage.ts'

/** Calls that stop users at the same moment share transactions, and nothing else. */
const { house, acme, directory } = await openScimStage()
const { tenant_id } = acme

test('of many calls that stop users at the same moment, each has its own answer and its own place in the audit log', async () => {
  const names = Array.from({ length: 24 }, () => `${newId()}@example.com`)
  const users = await Promise.all(names.map((userName) => directory.user({ userName })))
  const stop = (id: string, more: object[] = []) =>
    directory.call('PATCH', `/Users/${id}`, {
      Operations: [{ op: 'Replace', path: 'active', value: 'False' }, ...more],
    })
  const taken = { op: 'Replace', path: 'userName', value: names[0] }
  const replies = await Promise.all(
    users.map(({ id }, place) => {
      if (place === 5) return stop(id, [taken])
      if (place === 9) return directory.call('DELETE', `/Users/${id}`)
      if (place === 13)
        return directory.call('DELETE', `/Users/${id}`, undefined, { 'if-match': 'W/"of another time"' })
      return stop(id)
    }),
  )
  const expected = new Map([
    [5, 409],
    [9, 204],
    [13, 412],
  ])
  for (const [place, { status, body, text }] of replies.entries()) {
    assert.equal(status, expected.get(place) ?? 200, text)
    if (status === 200) assert.deepEqual([body.id, body.active], [users[place]?.id, false])
  }
  const events = await house.asSuperuser<{ subject_id: string; request_id: string; type: string }>(
    `select subject_id, request_id, type from event
      where tenant_id = $1 and type in ('user.deactivated', 'user.deleted')`,
    [tenant_id],
  )
  assert.equal(new Set(events.map(({ request_id }) => request_id)).size, 22)
  const stopped = users.filter((_, place) => ![5, 9, 13].includes(place)).map(({ id }) => id)
  assert.deepEqual(
    events.flatMap(({ type, subject_id }) => (type === 'user.deactivated' ? [subject_id] : [])).toSorted(),
    stopped.toSorted(),
  )
})

test('of two calls that stop one user at the same moment, both succeed, and one does it', async () => {
  const { id } = await directory.user({ userName: `${newId()}@example.com` })
  const body = { Operations: [{ op: 'replace', value: { active: false } }] }
  const replies = await Promise.all([1, 2, 3].map(() => directory.call('PATCH', `/Users/${id}`, body)))
  assert.deepEqual(
    replies.map(({ status }) => status),
    [200, 200, 200],
  )
  const events = await house.asSuperuser(`select 1 from event where subject_id = $1 and type = 'user.deactivated'`, [
    id,
  ])
  assert.equal(events.length, 1)
})
