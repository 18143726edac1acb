import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { sql } from '../server/src/db/sql.ts'
import { openDatabase } from '../server/src/db/transaction.ts'
import { systemActor, type Tx } from '../server/src/kernel/context.ts'
import { changeRulesAtOnce } from '../server/src/policies/cases/change-rules.flow.ts'
import { insertPolicy } from '../server/src/policies/policy-store.ts'
import { insertRule } from '../server/src/policies/rule-store.ts'
import { statementFromInput } from '../server/src/policy-engine/cedar/statement.ts'
import { createTenant } from '../server/src/tenants/create-tenant.flow.ts'
import type { Bench, Effort } from './bench.ts'
import { embeddedTarget } from './embedded.ts'
import { spread } from './ends.ts'
import { type Caller, callerOf, meanwhile } from './meanwhile.ts'
import { gather, startService } from './sallyport.ts'

const accounts = 500
const actions = 20
/** One of this many questions is about an approval. */
const everyApproval = 5

/**
 * A replay on the real service with the embedded database: its duration, and the latency for another tenant meanwhile. All
 * questions differ and a rule depends on the minute, so no answer comes from a cache.
 */
export const replays: Bench = {
  summary: 'a replay of 10,000 questions by 1,000 rules: its duration, and the latency for another tenant meanwhile',
  async run(effort, say) {
    const size = effort.isMiniature ? { questions: 300, rules: 20 } : { questions: 10_000, rules: 1_000 }
    const folder = await mkdtemp(join(tmpdir(), 'sallyport-bench-'))
    const service = await startService({ DATA_DIR: folder, LOG_LEVEL: 'warn' })
    try {
      const other = await gather(service.base_url, folder)
      const owner = await seed(folder, service.base_url, size)
      say(`${size.questions} questions, ${size.rules} rules are ready`)
      return await measure(service.base_url, other, owner, effort, size)
    } finally {
      await service.stop()
      await rm(folder, { recursive: true, force: true })
    }
  },
}

type Size = { questions: number; rules: number }

async function measure(
  base_url: string,
  other: Awaited<ReturnType<typeof gather>>,
  owner: Caller & { policy_id: string; gone: string[] },
  effort: Effort,
  size: Size,
) {
  const call = callerOf(base_url)
  const preview = async () => {
    const resource = { type: 'cloud_account', id: '111122223333' }
    await call({ tenant_id: other.tenant_id, token: other.owner.token }, 'POST', '/v1/requests/preview', {
      ...{ resource, action: 'ReadOnlyAccess', reason: 'a look at the logs', duration_seconds: 3600 },
    })
  }
  await meanwhile(preview, pause(effort.seconds * 500))
  const quiet = await meanwhile(preview, pause(effort.seconds * 1_000))
  const added = 'forbid (principal, action, resource) when { context.weekday > 5 && context.minute > 600 };'
  const draft = {
    changes: [
      { create_rule: { policy_id: owner.policy_id, rule: { policy_text: added } } },
      ...owner.gone.map((rule_id) => ({ delete_rule: { rule_id } })),
    ],
  }
  type Seen = { id: string; status: string; asked: number; total: number; started_at: string; finished_at: string }
  const { id } = await call<Seen>(owner, 'POST', '/v1/policies/replay', { draft })
  const over = async () => {
    for (;;) {
      const seen = await call<Seen & { result: { counts: Record<string, number> } }>(
        ...([owner, 'GET', `/v1/policies/replay/${id}`] as const),
      )
      if (seen.status === 'failed') throw new Error(JSON.stringify(seen))
      if (seen.status === 'done') return seen
      await pause(50)
    }
  }
  const done = over()
  const busy = await meanwhile(preview, done)
  const { started_at, finished_at, asked, result } = await done
  if (asked !== size.questions) throw new Error(`${asked} questions were evaluated`)
  const ms = new Date(finished_at).getTime() - new Date(started_at).getTime()
  const seconds = (ms / 1000).toFixed(1)
  return {
    columns: ['ms', 'p50', 'p90', 'p99', 'max', 'count'],
    rows: [
      ['another tenant’s preview meanwhile', ...spread(busy)],
      ['the same, quiet', ...spread(quiet)],
    ],
    notes: [
      `The replay of ${size.questions} questions by ${size.rules} rules and by a draft of them took ${seconds} s; ${result.counts.changed} questions had another answer.`,
    ],
  }
}

/** A new tenant with this many rules, and questions evaluated in the last days; signs its owner in. */
async function seed(data_dir: string, base_url: string, size: Size) {
  const database = openDatabase(await embeddedTarget(data_dir), { writes: 1, long: 1 })
  try {
    const account = { email: 'owner@replay.example', password: 'a long enough password' }
    const { tenant_id } = await createTenant(database, { name: 'Replay', owner: { ...account, name: 'Owner' } })
    const tx = database.tenant(tenant_id)
    const { policy_id, gone } = await seedRules(tx, size)
    await seedQuestions(tx, size)
    const { token } = await callerOf(base_url)<{ token: string }>(
      ...([{ tenant_id, token: '' }, 'POST', '/v1/auth/login', account] as const),
    )
    return { tenant_id, token, policy_id, gone }
  } finally {
    await database.close()
  }
}

const accountOf = (number: number) => String(100_000_000_000 + number)

/** Rules for single accounts and actions, some of them forbids; returns those that the draft will leave out. */
async function seedRules(tx: Tx, { rules }: Size): Promise<{ policy_id: string; gone: string[] }> {
  const ctx = { tx, actor: systemActor, request_id: 'bench' }
  const policy = await insertPolicy(ctx, { name: 'Bench', description: '', enabled: true })
  if (policy === undefined) throw new Error('the policy was not made')
  const gone: string[] = []
  for (let number = 0; number < rules; number += 1) {
    const scope = `principal, action == Action::"action ${number % actions}", resource == cloud_account::"${accountOf((number * 7) % accounts)}"`
    const mode = number % 10 === 0 ? '@approval_mode("auto") ' : ''
    const condition = number % 3 === 0 ? 'when { context.has_reason }' : 'unless { context.duration_seconds > 86400 }'
    const effect = number % 25 === 24 ? 'forbid' : `${mode}permit`
    const statement = statementFromInput({ policy_text: `${effect} (${scope}) ${condition};` })
    const [made] = await changeRulesAtOnce(ctx, insertRule(ctx, { policy_id: policy.id, statement }))
    if (!made?.rule) throw new Error('the rule was not inserted')
    if (number % 50 === 0) gone.push(made.rule.id)
  }
  return { policy_id: policy.id, gone }
}

/** Raw rows: requests of a hundred users, each evaluated by policy once, some of which another user decided. */
async function seedQuestions(tx: Tx, { questions }: Size): Promise<void> {
  const { tenant_id } = tx
  await tx.write([
    sql`insert into tenant_user (tenant_id, id, email, email_key, name, auth_provider)
      select ${tenant_id}::uuid, gen_random_uuid(), 'p' || n || '@replay.example', 'p' || n || '@replay.example',
        'P' || n, 'local'
      from generate_series(1, 100) n`,
    sql`insert into user_role (tenant_id, user_id, role_id)
      select tenant_id, id, 'approver' from tenant_user where tenant_id = ${tenant_id}::uuid and not is_owner`,
  ])
  const requests = questions - Math.floor(questions / everyApproval)
  await tx.write([
    sql`with people as (select array_agg(id order by email) as ids from tenant_user
          where tenant_id = ${tenant_id}::uuid and not is_owner),
        asked as (
          insert into access_request (tenant_id, id, requester_id, resource_type, resource_id, action, status,
            approval_mode, break_glass, duration_seconds, metadata, audit_session, places, asked_via,
            source_ip, created_at)
          select ${tenant_id}::uuid,
            (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || '7' || substr(md5(n::text), 1, 3)
              || '8' || substr(md5(n::text), 4, 15))::uuid,
            ids[1 + n % 100], 'cloud_account', account, 'action ' || n % ${actions}::int,
            'denied', 'require', false, 600 + n, '{}', false,
            jsonb_build_array(jsonb_build_object('type', 'cloud_account', 'id', account, 'account_id', account)),
            'token', '192.0.2.1', at
          from people, generate_series(1, ${requests}::int) n, lateral (select
            now() - n * interval '3 minutes' as at, (100000000000 + (n * 13) % ${accounts}::int)::text as account) row
          returning *),
        kept as (
          select 'ask' as kind, requester_id as principal, asked.* from asked
          union all
          select 'approve', (select id from tenant_user u where u.tenant_id = ${tenant_id}::uuid and not u.is_owner
            and u.id <> requester_id limit 1),
            latest.* from (select * from asked order by id desc limit ${questions - requests}) latest)
      insert into decision (tenant_id, id, request_id, question_kind, principal_id, question, allowed, rule_set_version,
        rule_ids, errors, decided_at)
      select tenant_id, (substr(id::text, 1, 15) || substr(md5(kind || id::text), 1, 3)
          || '-8' || substr(md5(kind || id::text), 4, 3) || '-' || substr(md5(kind || id::text), 7, 12))::uuid,
        id, kind, principal,
        jsonb_build_object('resource', jsonb_build_object('type', resource_type, 'id', resource_id), 'action', action,
          'places', places, 'duration_seconds', duration_seconds, 'break_glass', false, 'has_reason', true,
          'now', to_char(created_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'via', 'token',
          'source_ip', source_ip), true, 1, '{}', '[]', created_at
      from kept`,
  ])
}
