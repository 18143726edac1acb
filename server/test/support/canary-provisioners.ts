import assert from 'node:assert/strict'
import type { openCanaryRun } from './canary-run.ts'

/** No server listens at this address. */
export const databaseServer = {
  host: '127.0.0.1',
  port: 9,
  tls: 'off',
  database: 'shop',
  user: 'sallyport',
  resource_ids: ['arn:aws:rds:eu-west-1:123456789012:db:orders'],
  roles: { read: 'app_readonly' },
}
/** A provisioner with this config. */
export const provisioner = (config: unknown) => ({ name: 'a server', provisioner_type: 'postgresql', config })

/** Sets up servers and receivers with secrets; changes, rotates and tests the secrets. */
export async function giveToProvisioners({
  secrets,
  owned,
  send,
  asOwner,
  plantShownOnce,
}: Awaited<ReturnType<typeof openCanaryRun>>): Promise<void> {
  for (let server = 0; server < 8; server += 1) {
    const config = () => ({ ...databaseServer, password: secrets.plant('password of a database server') })
    const made = await owned('POST', '/v1/provisioners', provisioner(config()))
    assert.equal(made.status, 201, JSON.stringify(made.body))
    assert.equal((await owned('PATCH', `/v1/provisioners/${made.body.id}`, { config: config() })).status, 200)
    const tested = await owned('POST', `/v1/provisioners/${made.body.id}/test`)
    assert.deepEqual([tested.status, tested.body.ok], [200, false])
  }
  for (let receiver = 0; receiver < 4; receiver += 1) {
    const headers = { authorization: secrets.plant('header of a webhook') }
    const body = {
      name: 'a receiver',
      provisioner_type: 'webhook',
      config: { url: 'http://127.0.0.1:9/hooks', headers },
    }
    const made = await send('POST', '/v1/provisioners', { body, headers: asOwner, shown: plantShownOnce })
    assert.equal(made.status, 201, JSON.stringify(made.body))
    const at = (verb: string) => `/v1/provisioners/${made.body.id}/${verb}`
    const rotated = await send('POST', at('rotate-secret'), { body: {}, headers: asOwner, shown: plantShownOnce })
    assert.equal(rotated.status, 200, JSON.stringify(rotated.body))
    assert.equal((await owned('POST', at('test'))).body.ok, false)
  }
}
