import assert from 'node:assert/strict'
import { ageGrants } from './age-grants.ts'
import type { House, Person, Reply } from './house.ts'
import { requestStage } from './request-stage.ts'

export const [minute, hour] = [60, 3_600]

/** The status and the code of a refusal. */
export const codeOf = ({ status, body }: Reply) => [status, body.code]

/** The moment so many seconds later. */
export const after = (moment: string, seconds: number) => new Date(Date.parse(moment) + seconds * 1_000).toISOString()

/** A grant, its request and its end. */
type Given = { id: string; request: string; expires_at: string }

/**
 * A tenant where `List` is approved by a rule, any other action by a person, and `Admin` in an emergency, and where access is extended.
 * Its workers must run.
 */
export async function extensionStage(house: House, name: string) {
  const on = await requestStage(house, name)
  const { people } = on
  await on.rule('@approval_mode("auto") permit (principal, action == Action::"List", resource);')
  await on.rule('permit (principal, action, resource);')
  await on.rule('@approval_mode("break_glass") permit (principal, action == Action::"Admin", resource);')

  /** Active access of an hour that began so many minutes ago. */
  async function given(
    account: string,
    { minutes = 30, action = 'List', ...more }: Record<string, unknown> = {},
  ): Promise<Given> {
    const request = await on.ask(on.account(account, { action, duration_seconds: hour, ...more }))
    return active(request, Number(minutes))
  }

  async function active(request: string, minutes: number): Promise<Given> {
    const [grant] = await on.grantsAre(request, 'active', 'successful')
    assert.ok(grant)
    await age(request, minutes)
    return { id: grant.id, request, expires_at: (await endOf(grant.id)) ?? '' }
  }

  /** Lets so many minutes pass for the grants of a request. */
  const age = (request: string, minutes: number) => ageGrants(house.asSuperuser, 'request_id', request, minutes)

  async function endOf(grant: string): Promise<string | undefined> {
    return (await on.call(people.user, 'GET', `/v1/grants/${grant}`)).body.expires_at as string | undefined
  }

  const extend = (grant: string, body: object = { duration_seconds: hour }, person: Person = people.user) =>
    on.call(person, 'POST', `/v1/grants/${grant}/extend`, body)

  /** Extends the grant; returns the extending grant once it is active. */
  async function extended(grant: string, body: object = { duration_seconds: hour }): Promise<Given> {
    const reply = await extend(grant, body)
    assert.equal(reply.status, 201, reply.text)
    const request = String(reply.body.id)
    const [extending] = await on.grantsAre(request, 'active', 'successful')
    assert.ok(extending)
    return { id: extending.id, request, expires_at: (await endOf(extending.id)) ?? '' }
  }

  /** The requests that extend the grant. */
  const requestsExtending = (grant: string) =>
    house.asSuperuser<{ status: string }>('select status from access_request where extends = $1 order by id', [grant])

  /** Active access of an hour that a person approved, and of which half is over. */
  const givenByPerson = async (account: string) =>
    active(await on.approve(await on.ask(on.account(account, { duration_seconds: hour }))), 30)

  return { ...on, given, givenByPerson, active, age, endOf, extend, extended, requestsExtending }
}
