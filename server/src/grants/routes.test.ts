import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openHouse } from '../../test/support/house.ts'
import { requestStage } from '../../test/support/request-stage.ts'
import { until } from '../../test/support/wait.ts'
import { startWorkers } from '../../test/support/workers.ts'

/** Of several provisioners that could serve a resource, the most specific line says which one does. */
const house = await openHouse({ EGRESS_ALLOW: '127.0.0.1' })
startWorkers(house)

const [one, other] = ['111111111111', '222222222222']
const database = (account: string, name: string) => `arn:aws:rds:eu-west-1:${account}:db:${name}`
const onSite = (site: string, name: string) => `arn:sallyport:rds:${site}:000000000000:db:${name}`
const databases = { resource_type: 'cloud_db_instance' }
const asks = (type: string, id: string) => ({ resource: { type, id }, action: 'read' })

const on = await requestStage(house, 'routes')
await on.rule('permit (principal, action, resource);')

async function serve(name: string, entry: object): Promise<string> {
  const sandbox = { name, provisioner_type: 'sandbox', serves: [{ ...databases, ...entry }] }
  return String((await on.created(on.owner, '/v1/provisioners', sandbox)).id)
}

await serve('whole id', { resource_ids: [database(one, 'orders'), onSite('berlin', 'orders')] })
await serve('orders of one', { resource_ids: [`arn:aws:rds:*:${one}:db:orders*`] })
await serve('all of Berlin', { resource_ids: ['arn:sallyport:rds:berlin:*'] })
await serve('orders anywhere', { resource_ids: ['*:db:orders*'] })
await serve('in one', { account_ids: [one] })
await serve('databases', {})

/** Requests the database, has it approved, and says which provisioner the grant was planned for. */
async function servedBy(id: string): Promise<string> {
  const request = await on.ask(asks('cloud_db_instance', id))
  await on.approve(request)
  return until('it is planned', async () => {
    const { body } = await on.call(on.people.user, 'GET', `/v1/grants?request_id=${request}`)
    return (body.data as { provisioner_name: string | null }[])[0]?.provisioner_name ?? undefined
  })
}

suite('a grant is given by the provisioner', () => {
  const table: [served_by: string, id: string][] = [
    ['whole id', database(one, 'orders')],
    ['orders of one', database(one, 'orders-2')],
    ['orders of one', `arn:aws:rds:us-east-1:${one}:db:orders`],
    ['orders anywhere', database(other, 'orders')],
    ['in one', database(one, 'shop')],
    ['databases', database(other, 'shop')],
    ['databases', database(other, 'Orders')],
    ['whole id', onSite('berlin', 'orders')],
    ['all of Berlin', onSite('berlin', 'shop')],
    // Both patterns match. The longer one counts.
    ['all of Berlin', onSite('berlin', 'orders-2')],
    ['orders anywhere', onSite('paris', 'orders')],
    ['databases', onSite('paris', 'shop')],
  ]
  for (const [served_by, id] of table) {
    test(`“${served_by}”: ${id}`, async () => assert.equal(await servedBy(id), served_by))
  }

  test('that has the most specific line at the moment', async () => {
    const moment = database(other, 'moment')
    const id = await serve('for a moment', { resource_ids: [moment] })
    assert.equal(await servedBy(moment), 'for a moment')
    const changed = await on.call(on.owner, 'PATCH', `/v1/provisioners/${id}`, { serves: [] })
    assert.deepEqual([changed.status, changed.body.serves], [200, []], changed.text)
    assert.equal(await servedBy(database(other, 'moment-2')), 'databases')
  })
})

test('a live tenant refuses the ids that no line matches', async () => {
  const live = await requestStage(house, 'ids that are served')
  await live.rule('permit (principal, action, resource);')
  const serves = [{ resource_type: 'cloud_storage_bucket', resource_ids: ['logs-*', 'a_c-*', 'a-bucket'] }]
  const webhook = { name: 'Buckets', provisioner_type: 'webhook', config: { url: 'http://127.0.0.1:9/' }, serves }
  await live.created(live.owner, '/v1/provisioners', webhook)
  const statusOf = async (id: string) =>
    (await live.call(live.people.user, 'POST', '/v1/requests/preview', asks('cloud_storage_bucket', id))).status
  for (const id of ['logs-2026', 'logs-x.y', 'a-bucket']) assert.equal(await statusOf(id), 200, id)
  // `_` stands for itself: only `*` stands for other characters.
  for (const id of ['my-logs-1', 'logs', 'a-bucket-2', 'abc-1']) assert.equal(await statusOf(id), 422, id)
})
