import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connectAlone } from '../server/src/db/client/connect.ts'
import { newId } from '../server/src/kernel/id.ts'
import { keyOf } from '../server/src/provisioners/aws-identity-center/target.ts'
import { operatorEnvironment, startAws } from '../server/test/support/aws/aws.ts'
import { embeddedTarget } from './embedded.ts'
import { allGone, type Database, spread, until } from './ends.ts'
import { gather, type People, startService } from './sallyport.ts'

/** The driver's own limit per instance; AWS accepts 20. */
const callsASecond = 18
const leadSeconds = 5

/**
 * Grants at the simulated AWS, with the real rate limits, that end at one instant: the time until the last one ends, compared
 * with the minimum for the needed calls at that rate.
 */
export async function endAtItsRate(count: number): Promise<{ rows: string[][]; note: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'sallyport-bench-'))
  const aws = await startAws({ acts: { ms: 0, checks: 0 } })
  const env = { DATA_DIR: folder, LOG_LEVEL: 'warn', EGRESS_ALLOW: '127.0.0.1', ...operatorEnvironment }
  const service = await startService(env)
  try {
    const people = await gather(service.base_url, folder)
    const provisioner_id = await setUp(service.base_url, people, aws)
    const database = await connectAlone(await embeddedTarget(folder))
    const instant = await seedAssignments(database, aws, people, provisioner_id, count)
    await until(database, 'select clock_timestamp() >= $1::timestamptz as met', instant, 10)
    const before = aws.entries().filter(({ service }) => service === 'sso').length
    await until(database, allGone, instant, 100)
    const used = aws
      .entries()
      .filter(({ service }) => service === 'sso')
      .slice(before)
    const { rows: late } = await database.query<{ ms: number }>(
      `select extract(epoch from updated_at - expires_at)::float8 * 1000 as ms from access_grant
        where expires_at = $1::timestamptz`,
      [instant],
    )
    await database.end()
    const took = Math.max(...late.map(({ ms }) => ms))
    const atRate = (used.length / callsASecond) * 1_000
    const throttled = used.filter(({ outcome }) => outcome === 'ThrottlingException').length
    return {
      rows: [[`the simulated AWS: gone after its end`, ...spread(late.map(({ ms }) => ms))]],
      note:
        `At the simulated AWS ${count} ends took ${used.length} calls, ${(used.length / count).toFixed(2)} each, and ` +
        `${(took / 1000).toFixed(1)} s; at ${callsASecond} calls a second these need at least ${(atRate / 1000).toFixed(1)} s: ` +
        `${(took / atRate).toFixed(2)} times that. ${throttled} calls were throttled.`,
    }
  } finally {
    await service.stop()
    await aws.close()
    await rm(folder, { recursive: true, force: true })
  }
}

type Aws = Awaited<ReturnType<typeof startAws>>

/** Returns the id of the provisioner. */
async function setUp(base_url: string, { tenant_id, owner }: People, aws: Aws): Promise<string> {
  const role_arn = aws.addRole(null)
  const { region, instance_arn, identity_store_id, origin: endpoint } = aws
  const config = { region, instance_arn, identity_store_id, role_arn, endpoint }
  const reply = await fetch(`${base_url}/v1/provisioners`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-tenant-id': tenant_id, authorization: `Bearer ${owner.token}` },
    body: JSON.stringify({ name: 'Bench', provisioner_type: 'aws-identity-center', config }),
  })
  if (!reply.ok) throw new Error(`the provisioner was refused: ${await reply.text()}`)
  const made = (await reply.json()) as { id: string; shown_once: { external_id: string } }
  aws.setExternalId(role_arn, made.shown_once.external_id)
  return made.id
}

/** Active grants, each on its own account, held there and known to the ledger. Returns the instant at which they end. */
async function seedAssignments(
  database: Database,
  aws: Aws,
  { tenant_id, owner }: People,
  provisioner_id: string,
  count: number,
): Promise<string> {
  const principal_id = aws.addUser('ada@bench.example')
  const permission_set_arn = aws.addPermissionSet('Bench')
  const seeded = Array.from({ length: count }, () => {
    const target = { account_id: aws.addAccount(), principal_id, permission_set_arn }
    aws.assignByHand(target.account_id, permission_set_arn, principal_id)
    return { id: newId(), key: keyOf(aws.instance_arn, target), account: target.account_id, target }
  })
  const { rows } = await database.query<{ ends: string }>(
    `with seeded as (select * from jsonb_to_recordset($4::jsonb) as s (id uuid, key text, account text, target jsonb)),
      moment as (select clock_timestamp() + make_interval(secs => $5) as ends),
      request as (select id from access_request where tenant_id = $1 and status = 'approved' limit 1),
      entitlements as (
        insert into entitlement (tenant_id, id, provisioner, provisioner_id, target_key, target, held_before, observed,
          next_look_at)
        select $1, s.id, 'aws-identity-center', $2, s.key, s.target, false, 'present', m.ends from seeded s, moment m),
      grants as (
        insert into access_grant (tenant_id, id, request_id, user_id, name, resource_type, resource_id, action,
          duration_seconds, status, provisioning_status, entitlement_id, activated_at, expires_at, activate_by)
        select $1, s.id, r.id, $3, 'Bench on ' || s.account, 'cloud_account', s.account, 'Bench', 3600, 'active',
          'successful', s.id, m.ends - interval '1 hour', m.ends, m.ends from seeded s, moment m, request r)
      select ends::text from moment`,
    [tenant_id, provisioner_id, owner.id, JSON.stringify(seeded), leadSeconds],
  )
  return rows[0]?.ends ?? ''
}
