import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Client, clientAt } from '../support/client.ts'
import { dataFolder } from '../support/data-folder.ts'
import { startOnEmbedded, startScript } from '../support/sallyport.ts'
import { builders, forbiddenConditions } from '../support/worst-texts.ts'

/** The heaviest possible rules, sent to the running service by one tenant while another is served. */
const data_dir = await dataFolder()
const service = await startOnEmbedded(data_dir)
const attacker = service.client({ api_key: service.bootstrap.api_key })
const bystander = await anotherTenant()

async function anotherTenant(): Promise<Client> {
  const email = 'owner@bystander.example'
  const made = startScript('admin', ['--json', 'tenant', 'create', 'Bystander', '--owner', email], {
    DATA_DIR: data_dir,
  })
  assert.equal(await made.end(), 0, made.output())
  const { tenant_id, owner } = JSON.parse(made.output()) as { tenant_id: string; owner: { password: string } }
  const headers = { 'x-tenant-id': tenant_id }
  const signIn = clientAt(service.base_url, headers)
  const { body } = await signIn<{ token: string }>('POST', '/v1/auth/login', { email, password: owner.password })
  return clientAt(service.base_url, { ...headers, authorization: `Bearer ${body.token}` })
}

async function policyOf(tenant: Client): Promise<string> {
  return `/v1/policies/${(await tenant<{ id: string }>('POST', '/v1/policies', { name: 'a policy' })).body.id}/rules`
}

const question = { resource: { type: 'cloud_account', id: '111122223333' }, action: 'ReadOnly', reason: 'a look' }
const may = async (tenant: Client) => {
  const { status, body } = await tenant<{ allowed: boolean }>('POST', '/v1/requests/preview', question)
  assert.equal(status, 200)
  return body.allowed
}

test('no rule, refused or evaluated, prevents an answer to another tenant', async (t) => {
  await bystander('POST', await policyOf(bystander), { effect: 'permit' })
  const rules = await policyOf(attacker)
  const conditions = [
    ...Object.values(builders).flatMap((build) => [28, 58, 3_000].map((n) => build('context.has_reason', n))),
    ...forbiddenConditions,
  ]
  let accepted = 0
  for (const condition of conditions) {
    const body = { policy_text: `permit(principal, action, resource) when { ${condition} };` }
    const [{ status, body: rule }, isServed] = await Promise.all([
      attacker<{ id: string }>('POST', rules, body),
      may(bystander),
    ])
    assert.ok(status === 201 || status === 400, `${status} for ${condition.slice(0, 200)}`)
    assert.ok(isServed && (await may(bystander)), condition.slice(0, 200))
    if (status !== 201) continue
    accepted += 1
    await may(attacker)
    assert.equal((await attacker('DELETE', `${rules}/${rule.id}`)).status, 204)
  }
  t.diagnostic(`${accepted} of ${conditions.length} were accepted, decided with and deleted`)
  assert.ok(accepted > 40)
  assert.equal(service.exitCode(), undefined, service.output())
})
