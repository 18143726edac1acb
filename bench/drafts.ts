import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Bench } from './bench.ts'
import { spread } from './ends.ts'
import { type Caller, callerOf, meanwhile } from './meanwhile.ts'
import { gather, startService } from './sallyport.ts'
import { addTenant } from './tenant.ts'

const rule = (n: number) => `permit(principal, action, resource == cloud_account::"${String(n).padStart(12, '0')}");`
const times = <Item>(count: number, make: (n: number) => Item) => Array.from({ length: count }, (_, n) => make(n))

/** A valid statement of nearly 10,000 bytes that costs the engine much. */
const heavy = `permit(principal, action, resource) when { [${times(1_400, () => '1+1').join(',')}].contains(context.minute) };`
/** A file that is refused, and whose annotations are many. */
const annotated = '@id("x")'.repeat(10_000) + rule(0)

/** Work of one tenant on the text of rules, and the latency for another tenant meanwhile. */
export const drafts: Bench = {
  summary: 'drafts, imports and rules of one tenant: how long they take, and the latency for another tenant meanwhile',
  async run(effort, say) {
    const folder = await mkdtemp(join(tmpdir(), 'sallyport-bench-'))
    const service = await startService({ DATA_DIR: folder, LOG_LEVEL: 'warn' })
    try {
      const other = await gather(service.base_url, folder)
      const author = await addTenant(folder, service.base_url, 'author')
      const answered = new Map<number, number>()
      const works = await worksOf(service.base_url, author, effort.isMiniature ? 10 : 100, answered)
      const call = callerOf(service.base_url)
      const read = async () => {
        await call({ tenant_id: other.tenant_id, token: other.owner.token }, 'GET', '/v1/groups?limit=50')
      }
      await meanwhile(read, pause(effort.seconds * 1_000))
      const rows = [['quiet', ...spread(await meanwhile(read, pause(effort.seconds * 2_000))), '', '']]
      for (const [name, work] of Object.entries(works)) {
        say(name)
        const began = performance.now()
        answered.clear()
        const took = await meanwhile(read, work())
        const statuses = [...answered].map(([status, times]) => `${times} × ${status}`).join(', ')
        rows.push([name, ...spread(took), ((performance.now() - began) / 1_000).toFixed(1), statuses])
      }
      return { columns: ['ms of a read', 'p50', 'p90', 'p99', 'max', 'count', 'work, s', 'answers'], rows, notes: [] }
    } finally {
      await service.stop()
      await rm(folder, { recursive: true, force: true })
    }
  },
}

/** `answered`: counts the answers by status. */
async function worksOf(base_url: string, author: Caller, count: number, answered: Map<number, number>) {
  const call = callerOf(base_url)
  const policy = await call<{ id: string }>(author, 'POST', '/v1/policies', { name: 'Bench' })
  const headers = {
    'x-tenant-id': author.tenant_id,
    authorization: `Bearer ${author.token}`,
    'content-type': 'application/json',
  }
  const send = async (method: string, path: string, body: string) => {
    const reply = await fetch(base_url + path, { method, headers, body })
    const text = await reply.text()
    answered.set(reply.status, (answered.get(reply.status) ?? 0) + 1)
    if (reply.status >= 500 && reply.status !== 503) throw new Error(`${method} ${path}: ${text}`)
  }
  /** Sends all bodies at once; they are made before, so that the latency meanwhile is the service's own. */
  const all = (method: string, path: string, bodies: readonly object[]) => {
    const texts = bodies.map((body) => JSON.stringify(body))
    return () => Promise.all(texts.map((text) => send(method, path, text)))
  }
  const rules = times(20, (n) => ({ policy_text: n % 10 === 0 ? heavy : rule(n) }))
  const draft = { changes: [{ create_policy: { name: 'draft', rules } }] }
  const cases = [{ case: 'a', asks: 'Read', resource: { type: 'cloud_account', id: '000000000001' }, expect: 'permit' }]
  const cedar = (size: number) => times(size, rule).join('\n')
  const checks = [{ permits_nothing_new: true }]
  const path = `/v1/policies/${policy.id}/cedar`
  const trial = `${path}?dry_run=true`
  const rulesPath = `/v1/policies/${policy.id}/rules`
  return {
    [`${count} drafts tested at once`]: all(
      'POST',
      '/v1/policies/test',
      times(count, () => ({ draft, cases })),
    ),
    [`${count} drafts checked at once`]: all(
      'POST',
      '/v1/policies/invariants',
      times(count, () => ({ draft, checks })),
    ),
    'an import of 300 rules': all('PUT', path, [{ cedar: cedar(300) }]),
    [`${count} trial imports of 300 rules at once`]: all(
      'PUT',
      trial,
      times(count, (n) => ({ cedar: cedar(300 + n) })),
    ),
    [`${count} imports of 10,000 annotations at once`]: all(
      'PUT',
      trial,
      times(count, () => ({ cedar: annotated })),
    ),
    [`${count} heavy rules at once`]: all(
      'POST',
      rulesPath,
      times(count, () => ({ policy_text: heavy })),
    ),
  }
}
