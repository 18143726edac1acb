import { setTimeout as pause } from 'node:timers/promises'
import type { Client, Page } from '../support/client.ts'
import type { Query } from './acknowledged.ts'
import type { Chance } from './chance.ts'
import type { Company } from './company.ts'
import type { ApprovalMode, Place } from './field-target.ts'

type Grant = { id: string; status: string }

/** A short sequence of calls about one request, by a random user; `over` is set once its result no longer matters. */
type Story = (stage: Stage) => Promise<unknown>
type Stage = {
  company: Company
  chance: Chance
  ada: Client
  ben: Client
  at(mode: ApprovalMode): Place
  over(): boolean
}

/** The service is overloaded at the moment, and has said so. */
class Busy extends Error {}

/**
 * Requests access to a place; returns the request's id.
 * @throws Busy
 */
export async function ask(ada: Client, place: Place, more: object = {}): Promise<string> {
  const body = { ...place, duration_seconds: 3_600, reason: 'a look', ...more }
  const { status, body: reply } = await ada('POST', '/v1/requests', body)
  if (status === 429 || status === 503) throw new Busy(`asking answered ${status}`)
  if (status !== 201) throw new Error(`asking answered ${status}: ${JSON.stringify(reply)}`)
  return String(reply.id)
}

async function grantsOf(ada: Client, request_id: string): Promise<Grant[]> {
  return (await ada<Page<Grant>>('GET', `/v1/grants?request_id=${request_id}`)).body.data ?? []
}

/** Waits until none of a request's grants is in progress. */
async function given({ ada, over }: Stage, request_id: string): Promise<Grant[]> {
  for (;;) {
    const grants = await grantsOf(ada, request_id)
    if (over() || grants.every(({ status }) => status !== 'pending')) return grants
    await pause(20)
  }
}

/**
 * Moves the end of grants to some seconds from now, of the hour that they were given for, as if they had been requested earlier. Their entitlements are locked in the
 * order in which the service locks them, to avoid a deadlock.
 */
export async function endSoon(query: Query, grant_ids: readonly string[], seconds = 0.1): Promise<void> {
  await query(
    `with locked as materialized (
        select id from entitlement
        where id in (select entitlement_id from access_grant where id = any($1) and status = 'active')
        order by id for no key update),
      looked as (
        update entitlement e set next_look_at = clock_timestamp() + make_interval(secs => $2)
        from locked where e.id = locked.id returning e.id)
      update access_grant g set activated_at = clock_timestamp() - make_interval(secs => 3600 - $2),
        expiring_at = null,
        expires_at = clock_timestamp() + make_interval(secs => $2)
      from looked where g.entitlement_id = looked.id and g.id = any($1) and g.status = 'active'`,
    [grant_ids, seconds],
  )
}

function hasten({ company }: Stage, grants: readonly Grant[]): Promise<void> {
  return endSoon(
    company.query,
    grants.map(({ id }) => id),
  )
}

const stories: readonly [Story, ...Story[]] = [
  async function approvedAndEndedOnTime(stage) {
    const { ada, ben, at } = stage
    const id = await ask(ada, at('require'))
    await ben('POST', `/v1/requests/${id}/approve`, {})
    await hasten(stage, await given(stage, id))
  },
  async function givenByRuleAndGivenBack(stage) {
    const { ada, at } = stage
    const [grant] = await given(stage, await ask(ada, at('auto')))
    if (grant !== undefined) await ada('POST', `/v1/grants/${grant.id}/revoke`, {})
  },
  async function revokedWhileItIsBeingGiven({ ada, at }) {
    const [grant] = await grantsOf(ada, await ask(ada, at('auto')))
    if (grant !== undefined) await ada('POST', `/v1/grants/${grant.id}/revoke`, {})
  },
  async function twoOfOneThing(stage) {
    const { ada, chance, at } = stage
    const place = at('auto')
    const first = await given(stage, await ask(ada, place))
    const second = await given(stage, await ask(ada, place))
    await hasten(stage, first)
    if (chance.below(2) === 0) await hasten(stage, second)
  },
  async function takenInAnEmergency(stage) {
    const { ada, chance, at } = stage
    const id = await ask(ada, at('break_glass'), { break_glass: true, reason: 'the shop is down' })
    const grants = await given(stage, id)
    if (chance.below(2) === 0) await hasten(stage, grants)
  },
  async function oneSetOnSeveralAccounts(stage) {
    const { ada, at, company } = stage
    if (company.target.setOnAccounts === undefined) return
    const resource = { type: 'cloud_permission_set', id: company.target.setOnAccounts }
    const account_ids = [at('auto'), at('auto'), at('auto')].map((place) => place.resource.id)
    const grants = await given(stage, await ask(ada, { ...at('auto'), resource }, { metadata: { account_ids } }))
    await hasten(stage, grants.slice(1))
  },
  async function approvedAndCancelledAtOnce({ ada, ben, at }) {
    const id = await ask(ada, at('require'))
    await Promise.all([ben('POST', `/v1/requests/${id}/approve`, {}), ada('DELETE', `/v1/requests/${id}`)])
  },
  async function denied({ ada, ben, at }) {
    await ben('POST', `/v1/requests/${await ask(ada, at('require'))}/deny`, { reasoning: 'not today' })
  },
  async function cancelled({ ada, at }) {
    await ada('DELETE', `/v1/requests/${await ask(ada, at('require'))}`)
  },
  async function decidedByNobody({ ada, company, at }) {
    const id = await ask(ada, at('require'))
    await company.query('update access_request set next_look_at = clock_timestamp() where id = $1', [id])
  },
]

/**
 * Runs stories, a few at a time, until they are `over`; returns when the last has ended. `onFault` receives every unexpected
 * result.
 */
export async function play(
  company: Company,
  chance: Chance,
  over: () => boolean,
  onFault: (what: string) => void,
): Promise<void> {
  const actor = async () => {
    while (!over()) {
      const story = chance.oneOf(stories)
      const people = { ada: chance.oneOf(company.asking), ben: chance.oneOf(company.deciding) }
      const stage = { company, chance, ...people, at: company.target.place, over }
      await story(stage).catch(async (error: unknown) => {
        if (error instanceof Busy) await pause(200)
        else if (!over()) onFault(`${story.name}: ${String(error)}`)
      })
    }
  }
  await Promise.all([actor(), actor(), actor()])
}
