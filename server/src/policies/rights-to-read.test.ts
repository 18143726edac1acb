import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openHouse } from '../../test/support/house.ts'
import { requestStage } from '../../test/support/request-stage.ts'
import { newId } from '../kernel/id.ts'

/** The outcome of a rule tells of what it reads by name: nobody saves such a rule who may not read that. */
const house = await openHouse()
const on = await requestStage(house, 'rights to read')
const { tenant_id, owner } = on

async function author(...scopes: string[]) {
  const { key } = await on.created(owner, '/v1/api-keys', {
    ...{ name: newId(), scopes: ['policies:read', 'policies:write', ...scopes] },
  })
  return (method: string, url: string, body?: unknown) =>
    house.call({ method, url, api_key: String(key), tenant_id, ...(body !== undefined && { body }) })
}
const [plain, reader] = [await author(), await author('users:read', 'cloud_accounts:read')]

const policyOf = async (texts: string[], enabled = true) => {
  const { id } = await on.created(owner, '/v1/policies', { name: newId(), enabled })
  const url = `/v1/policies/${id}`
  const rules: string[] = []
  for (const policy_text of texts)
    rules.push(`${url}/rules/${(await on.created(owner, `${url}/rules`, { policy_text })).id}`)
  return { url, rules }
}
const permit = (condition: string) => `permit (principal, action == Action::"Any", resource) when { ${condition} };`

for (const [what, scope, one] of [
  ['a user', 'users:read', `User::"${owner.user_id}"`],
  ['an account', 'cloud_accounts:read', 'cloud_account::"600000000001"'],
] as const)
  suite(`a rule that reads ${what} by name, without ${scope}`, () => {
    /** Each time another rule: one that is in force already tells nothing new. */
    const reads = (text: string = newId()) =>
      permit(one.startsWith('User') ? `${one}.email like "${text}*"` : `${one}.hasTag("${text}")`)
    const refused = async (method: string, url: string, body: unknown) => {
      const before = (await on.call(owner, 'GET', '/v1/policies?limit=200')).text
      const reply = await plain(method, url, body)
      assert.deepEqual([reply.status, reply.body.code], [403, 'forbidden'], reply.text)
      assert.ok(reply.text.includes(scope), reply.text)
      assert.equal((await on.call(owner, 'GET', '/v1/policies?limit=200')).text, before, 'nothing is changed')
      const allowed = await reader(method, url, body)
      assert.ok(allowed.status < 300, allowed.text)
    }

    test('cannot be created (D7)', async () => {
      const { url } = await policyOf([])
      await refused('POST', `${url}/rules`, { policy_text: reads() })
    })

    test('cannot be made of another rule, nor read something else of the same entity', async () => {
      const { rules } = await policyOf([permit('true'), reads()])
      for (const rule of rules) await refused('PATCH', rule, { policy_text: reads() })
    })

    test('cannot be imported, with nor without a dry run', async () => {
      const { url } = await policyOf([])
      const cedar = reads()
      await refused('PUT', `${url}/cedar?dry_run=true`, { cedar })
      await refused('PUT', `${url}/cedar`, { cedar })
    })

    test('cannot be enabled with its policy', async () => {
      const { url } = await policyOf([reads()], false)
      await refused('PATCH', url, { enabled: true })
    })

    test('can be sent back unchanged, beside a change of another, moved, disabled and deleted', async () => {
      const { url, rules } = await policyOf([reads(), permit('true')])
      const [rule = '', other = ''] = rules
      const shown = await plain('GET', rule)
      const { cedar } = (await plain('GET', `${url}/cedar`)).body
      const added = `${cedar}\n${permit('context.has_reason')}\n`
      for (const [method, path, body, status] of [
        ['PATCH', rule, shown.body, 200],
        ['PATCH', other, { policy_text: permit('false') }, 200],
        ['PUT', `${url}/cedar`, { cedar }, 200],
        ['PUT', `${url}/cedar`, { cedar: added }, 200],
        ['PATCH', url, { name: newId() }, 200],
        ['PATCH', url, { enabled: false }, 200],
        ['DELETE', rule, undefined, 204],
      ] as const) {
        const reply = await plain(method, path, body)
        assert.equal(reply.status, status, `${method} ${path} ${JSON.stringify(body)}: ${reply.text}`)
      }
    })
  })
