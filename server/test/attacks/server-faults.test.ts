import assert from 'node:assert/strict'
import { test } from 'node:test'
import { operations, type Reply } from '../support/house.ts'
import { presentedTo } from '../support/presented.ts'
import { sampleBodies } from '../support/sample-bodies.ts'
import { addressed } from '../support/samples.ts'
import { openStage } from '../support/stage.ts'

/** The service fails below every operation: callers learn that it failed, and nothing about its internals. */
const { house, ours: tenant, ourRecords: records } = await openStage()

/** The headers of an internal error; none names a program or a version. */
const allowedHeaders = [
  ...['cache-control', 'connection', 'content-length', 'content-type', 'date', 'x-request-id', 'retry-after'],
  ...['cross-origin-opener-policy', 'cross-origin-resource-policy', 'origin-agent-cluster', 'referrer-policy'],
  ...['strict-transport-security', 'x-content-type-options', 'x-dns-prefetch-control', 'x-download-options'],
  ...['x-frame-options', 'x-permitted-cross-domain-policies', 'x-xss-protection'],
]

test('an internal error is answered with only a code and a request id, wherever it happens (S5)', async () => {
  const walk = async () => {
    const replies: (Reply & { operationId: string })[] = []
    for (const [operationId, operation] of Object.entries(operations)) {
      const { method, path, body, credential } = operation
      const reply = await house.call({
        ...{ method, url: addressed(path, records), tenant_id: tenant.tenant_id },
        ...(credential !== 'none' && credential !== 'tenant' && presentedTo(operation, tenant.owner)),
        ...(body !== undefined && { body: sampleBodies[operationId] }),
      })
      replies.push({ operationId, ...reply })
    }
    return replies
  }
  // Two failures: a column is missing, and no table may be read.
  await house.asSuperuser('alter table tenant_user rename column name to nobodys_name')
  await house.asSuperuser('alter table policy rename to policy_gone')
  await house.asSuperuser('alter table event rename to event_gone')
  const broken = await walk()
  await house.asSuperuser('revoke all on all tables in schema public from sallyport_app, sallyport_work')
  const refused = await walk()
  const faults = [...broken, ...refused].filter(({ status }) => status >= 500)
  assert.ok(new Set(faults.map(({ operationId }) => operationId)).size > 40, `only ${faults.length} broke`)
  for (const { operationId, status, text, headers, body } of faults) {
    assert.ok(['internal', 'unavailable'].includes(String(body.code)), `${operationId}: ${status} ${text}`)
    assert.deepEqual(Object.keys(body), ['code', 'message'], operationId)
    assert.doesNotMatch(
      text,
      /select|insert|table|column|relation|permission|policy_gone|tenant_user|postgres|\bat |\.ts/i,
    )
    assert.match(String(headers['x-request-id']), /^[0-9a-f-]{36}$/)
    assert.deepEqual(
      Object.keys(headers).filter((name) => !allowedHeaders.includes(name)),
      [],
    )
  }
})
