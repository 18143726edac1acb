import assert from 'node:assert/strict'
import type { DecisionInput, DecisionResult } from '../../src/requests/bulk-decision.ts'
import type { House, Person } from './house.ts'
import { requestStage } from './request-stage.ts'

type Decider = Partial<Pick<Person, 'token' | 'api_key'>>

/** A tenant of its own where everybody may ask and every approver may decide: for tests that decide several requests in one call. */
export async function bulkStage(house: House, name: string) {
  const on = await requestStage(house, name)
  await on.rule('permit (principal, action, resource);')
  let asked = 0

  /** Pending requests of the person, each for another account. */
  async function pending(count: number, person = on.people.user): Promise<string[]> {
    const ids: string[] = []
    for (let n = 0; n < count; n += 1) {
      asked += 1
      ids.push(await on.ask(on.account(String(100_000_000_000 + asked)), person))
    }
    return ids
  }

  /** Sends the decisions; `sent` may be anything. */
  function send(person: Decider, sent: unknown, headers: Record<string, string> = {}) {
    const { token, api_key } = person
    const credential = token === undefined ? { api_key: api_key ?? '' } : { token }
    const [url, tenant_id] = ['/v1/requests/decisions', on.tenant_id]
    return house.call({ method: 'POST', url, tenant_id, ...credential, headers, body: { decisions: sent } })
  }

  /** Sends the decisions, which are answered; returns the results. */
  async function decide(person: Decider, decisions: readonly DecisionInput[], headers?: Record<string, string>) {
    const reply = await send(person, decisions, headers)
    assert.equal(reply.status, 200, reply.text)
    return reply.body.results as DecisionResult[]
  }

  /** The number of the person's decisions about the request in the audit log, and its status. */
  async function decidedSoFar(request_id: string): Promise<[status: string, events: number]> {
    const [row] = await house.asSuperuser<{ status: string; events: number }>(
      `select a.status, (select count(*)::int from event e where e.tenant_id = a.tenant_id
          and e.subject_id = a.id::text and e.type in ('request.approved', 'request.denied')) as events
        from access_request a where a.id = $1`,
      [request_id],
    )
    return [row?.status ?? 'unknown', row?.events ?? 0]
  }

  async function decidedOf(ids: readonly string[]) {
    const all: Awaited<ReturnType<typeof decidedSoFar>>[] = []
    for (const id of ids) all.push(await decidedSoFar(id))
    return all
  }

  return { ...on, pending, send, decide, decidedSoFar, decidedOf, breakWrites: () => breakWrites(house) }
}

/** The decision to approve each of the requests. */
export function approving(ids: readonly string[]): DecisionInput[] {
  return ids.map((id) => ({ id, decision: 'approve' }))
}

/** What was made of each decision, as its status and the code of its error. */
export function outcomesOf(results: readonly DecisionResult[]) {
  return results.map(({ status, error }) => (error === undefined ? status : `${status} ${error.code}`))
}

/** Makes the database fail when a decision about this request is written, as no code expects. */
async function breakWrites(house: House) {
  await house.asSuperuser(`create table broken_request (id uuid)`)
  await house.asSuperuser(`create function break_request() returns trigger language plpgsql security definer as $$ begin
    if exists (select from broken_request where id = new.request_id) then raise exception 'a fault of the test'; end if;
    return new; end $$`)
  await house.asSuperuser(
    'create trigger break_request before insert on decision for each row execute function break_request()',
  )
  return {
    of: (id: string) => house.asSuperuser('insert into broken_request values ($1)', [id]),
    repair: () => house.asSuperuser('delete from broken_request'),
  }
}
