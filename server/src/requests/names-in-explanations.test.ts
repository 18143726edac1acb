import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openHouse, type Person } from '../../test/support/house.ts'
import { requestStage } from '../../test/support/request-stage.ts'

/** Who may read a noun is shown its names in explanations; nobody else is, and what is stored holds none. */
const house = await openHouse()
const on = await requestStage(house, 'names')
const { owner, people } = on
const { id: group } = await on.created(owner, '/v1/groups', { name: 'Databases' })
await on.cache({ '500000000001': {} })

/** A caller with an API key that has these scopes. */
async function keyWith(scopes: string[]): Promise<string> {
  const { key } = await on.created(owner, '/v1/api-keys', { name: 'names', scopes: ['requests:create', ...scopes] })
  return String(key)
}
const previewBy = async (by: Person | string, body: object) => {
  const credential = typeof by === 'string' ? { api_key: by } : { token: by.token }
  const url = '/v1/requests/preview'
  const reply = await house.call({ method: 'POST', url, tenant_id: on.tenant_id, body, ...credential })
  assert.equal(reply.status, 200, reply.text)
  return reply.body as { reasoning: string; nearest?: { words: string }[] }
}
/** The near misses of people, not of other actions. */
const wordsBy = async (by: Person | string, body: object) =>
  ((await previewBy(by, body)).nearest ?? []).map(({ words }) => words).filter((words) => words.endsWith('you are not'))

test('groups, roles and people are shown by name to callers who may read them', async () => {
  const eve = people.auditor.user_id
  const take = [
    await on.rule(`permit (principal in Group::"${group}", action == Action::"Tend", resource);`),
    await on.rule('permit (principal in Role::"approver", action == Action::"Rule", resource);'),
    await on.rule(`permit (principal == User::"${eve}", action == Action::"Own", resource);`),
  ]
  const [row] = await house.asSuperuser<{ name: string; email: string }>(
    'select name, email from tenant_user where id = $1',
    [eve],
  )
  const asked = (action: string) => on.account('500000000001', { action })
  const rule = 'of the policy “names” permits this to'
  const all = await keyWith(['policies:read', 'groups:read', 'roles:read', 'users:read'])
  assert.deepEqual(await wordsBy(all, asked('Tend')), [`rule 0 ${rule} members of the group “Databases”; you are not`])
  const [role] = await wordsBy(all, asked('Rule'))
  assert.match(role ?? '', /to holders of the role “[^”]+”; you are not$/)
  assert.deepEqual(await wordsBy(all, asked('Own')), [`rule 2 ${rule} ${row?.name} (${row?.email}); you are not`])

  const rulesOnly = await keyWith(['policies:read'])
  assert.deepEqual(await wordsBy(rulesOnly, asked('Tend')), [`rule 0 ${rule} members of a group; you are not`])
  assert.deepEqual(await wordsBy(rulesOnly, asked('Rule')), [`rule 1 ${rule} holders of a role; you are not`])
  assert.deepEqual(await wordsBy(rulesOnly, asked('Own')), [`rule 2 ${rule} ${row?.name}; you are not`])
  assert.deepEqual(await wordsBy(people.user, asked('Own')), [])
  for (const undo of take) await undo()
})

test('the rules that decided are named beside the reasoning to callers who may read rules, and never stored', async () => {
  const undo = await on.rule('@notice("Closed.") forbid (principal, action == Action::"Shut", resource);')
  const body = on.account('500000000001', { action: 'Shut' })
  const forbids = 'a rule (Closed.) forbids `Shut` on cloud_account `500000000001` (account 500000000001)'
  assert.equal((await previewBy(people.user, body)).reasoning, forbids)
  assert.match((await previewBy(owner, body)).reasoning, /^a rule \(Closed\.\) .* \(rule \d of the policy “names”\)$/)
  const refused = await on.call(owner, 'POST', '/v1/requests', body)
  assert.equal(refused.status, 403)
  assert.match(String(refused.body.message), /\(rule \d of the policy “names”\)$/)
  const stored = await house.asSuperuser('select reasoning from decision where tenant_id = $1', [on.tenant_id])
  assert.deepEqual(stored, [{ reasoning: forbids }])
  await undo()
})

test('a preview and a refusal say the same of a mistyped action, and of an account that nobody knows', async () => {
  const undo = await on.rule('permit (principal, action == Action::"Restart", resource);')
  const typo = on.account('500000000001', { action: 'Restrat' })
  const unknown = on.account('500000000009', { action: 'Nothing' })
  for (const [body, says] of [
    [typo, /; did you mean `Restart`\?$/],
    [unknown, /; the account `500000000009` is not in the account cache; an administrator can tell you/],
  ] as const) {
    const { reasoning } = await previewBy(people.user, body)
    assert.match(reasoning, says)
    const refused = await on.call(people.user, 'POST', '/v1/requests', body)
    assert.deepEqual([refused.status, refused.body.message], [403, reasoning])
  }
  await undo()
})
