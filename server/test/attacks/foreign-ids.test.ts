import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { Operation } from '../../src/http/operation.ts'
import { newId } from '../../src/kernel/id.ts'
import { fullBody } from '../support/full-bodies.ts'
import { operations } from '../support/house.ts'
import { inTurns } from '../support/in-turns.ts'
import { picturesOf } from '../support/picture.ts'
import { placesOnce } from '../support/places-once.ts'
import { presentedTo } from '../support/presented.ts'
import { addressed } from '../support/samples.ts'
import { openStage } from '../support/stage.ts'
import { textFields, type Way, withText } from '../support/text-fields.ts'

/**
 * Tries every place for text in every query and body: a name of another tenant's record gets the same answer as an unknown
 * name. isolation.test.ts covers paths.
 */
const { house, ours, theirs, ourRecords, theirRecords } = await openStage()

/** Texts of each form that the other tenant uses and we do not, each with one that no tenant uses. */
const forms = {
  id: {
    nothing: newId(),
    theirs: new Set([
      ...[theirs.tenant_id, theirs.owner.user_id],
      ...Object.entries(theirRecords).flatMap(([path, ids]) => (path.includes('settings') ? [] : Object.values(ids))),
    ]),
  },
  address: { nothing: 'only.nobodys@example.com', theirs: new Set(['only.theirs@example.com']) },
  entry: { nothing: 'noone-entry', theirs: new Set(['their-entry']) },
  number: { nothing: '987654321099', theirs: new Set(['987654321098']) },
}
const words = new RegExp(
  Object.values(forms)
    .flatMap(({ nothing, theirs }) => [nothing, ...theirs])
    .join('|')
    .replaceAll('.', '[.]'),
  'gi',
)
const asTheirs = (method: string, url: string, body: unknown) =>
  house.call({ method, url, api_key: theirs.owner.api_key, tenant_id: theirs.tenant_id, body })
await asTheirs('POST', '/v1/users', {
  email: 'only.theirs@example.com',
  name: 'Theirs',
  roles: ['user'],
  auth_provider: 'oidc',
})
await asTheirs('PUT', '/v1/cloud/accounts', { resources: [{ id: 'their-entry', account_id: '987654321098' }] })

/** Ignores moments, new ids and counters, which always differ, and echoed input. */
function comparable(text: string): string {
  return text
    .replaceAll(words, '<word>')
    .replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<id>')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<moment>')
    .replaceAll(/"(priority|ordinal|version)":\d+/g, '"$1":0')
    .replaceAll(/"(key|token|secret|next_cursor)":"[^"]*"/g, '"$1":"<made>"')
    .replaceAll(/secret=[A-Z2-7]+/g, 'secret=<made>')
    .replaceAll(/#k=[\w-]+/g, '#k=<made>')
}

async function send(operationId: string, operation: Operation, where: 'query' | 'body', way: Way, text: string) {
  const body = operation.body === undefined ? undefined : fullBody(operationId)
  const url = addressed(operation.path, ourRecords)
  const who = { ...presentedTo(operation, ours.owner), tenant_id: ours.tenant_id }
  const reply = await house.call({
    method: operation.method,
    url: where === 'query' ? `${url}?${way.join('.')}=${encodeURIComponent(text)}` : url,
    body: where === 'body' ? withText(body, way, text) : body,
    ...who,
  })
  // Many rules would slow down the evaluation of each further one; the number of channels and of second factors is limited.
  const made = /^(?:create(?:Rule|\w+Channel)|beginSecondFactor)$/.test(operationId) && reply.status === 201
  if (made) {
    const among = url.replace(/(?<=notification-channels)\/\w+$/, '')
    await house.call({ method: 'DELETE', url: `${among}/${reply.body.id}`, ...who })
  }
  return { status: reply.status, text: comparable(reply.text) }
}

const picture = picturesOf(house, [
  'api_key',
  'cloud_account',
  'group_member',
  'policy',
  'policy_rule',
  'role',
  'tenant_user',
  'user_role',
  'user_session',
])

/** Their ids of the kind that a place names: `group_ids` and `group` are groups, and `ids` what the operation's path addresses. */
function sameKind(path: string, way: Way): string[] {
  const field = way.findLast((step) => step !== '[]') ?? ''
  const [word = ''] = field
    .replace(/_ids?$/, '')
    .split('_')
    .slice(-1)
  const [, collection = ''] = /^\/v1\/([\w-]+)/.exec(path) ?? []
  const kind = /^ids?$/.test(field) ? collection : word.replace(/y$/, 'ie')
  const isOfKind = (one: string) => one.split('/').some((part) => part === kind || part === `${kind}s`)
  const found = Object.entries(theirRecords).filter(([of]) => isOfKind(of) && !of.includes('settings'))
  return found.flatMap(([, ids]) => Object.values(ids))
}

const isWalked = placesOnce()
/** In a usual run each place is tried with ids of its kind, one other id and one other form. */
const { id, ...others } = forms
const turnsOf = (one: { nothing: string; theirs: ReadonlySet<string> }) => ({
  ...one,
  take: inTurns([...one.theirs], 1),
})
const ids = turnsOf(id)
const someOthers = inTurns(Object.values(others).map(turnsOf), 1)
/** Each place leaves their records as the place before it did. */
const before = await picture(theirs.tenant_id)
// Queries first: a search would find words that the bodies store with us.
for (const where of ['query', 'body'] as const) {
  for (const [operationId, operation] of Object.entries(operations)) {
    if (operation.credential === 'none' || operation.credential === 'tenant') continue
    const places = textFields(operation[where]).filter(
      (way) => !way.join().includes('password') && isWalked(operationId, way),
    )
    if (places.length === 0) continue
    suite(operationId, () => {
      for (const way of places) {
        test(`treats their records as unknown, in its ${where} at ${way.join('/')} (T2)`, async () => {
          // A first call makes the changes that any call makes.
          await send(operationId, operation, where, way, newId())
          // A warning tells whether an action was used before, by us in an earlier test: all names take part there.
          const isAction = way.join().includes('action')
          const kind = sameKind(operation.path, way)
          for (const { nothing, theirs: foreign, take } of [ids, ...someOthers()]) {
            const expected = await send(operationId, operation, where, way, nothing)
            assert.ok(expected.status < 500, expected.text)
            for (const text of isAction ? foreign : new Set([...take(), ...(nothing === id.nothing ? kind : [])])) {
              assert.deepEqual(await send(operationId, operation, where, way, text), expected, text)
            }
          }
          assert.deepEqual(await picture(theirs.tenant_id), before)
        })
      }
    })
  }
}
