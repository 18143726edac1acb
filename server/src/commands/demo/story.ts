import { type Cast, type Person, playground, production } from './cast.ts'
import { require, type Stage, until } from './stage.ts'

type AccessRequest = {
  id: string
  status: string
  approval_mode: string | null
  decided_by: string | null
  decision_reasoning: string | null
}
type Grant = { id: string; name: string; status: string; activated_at?: string; expires_at?: string }
type Notification = { event_type: string; title: string; resource_id?: string }

/** An engineer's request: ReadOnlyAccess, unless something is broken. */
type NewRequest = { account: string; action?: string; reason?: string; duration_seconds: number; break_glass?: boolean }

const minutes = 60

/** A request that a person decides: approvers are notified, another user decides it once, and the access is given. */
export async function requestAndApprove(
  stage: Stage,
  { ada, ben, cleo }: Cast,
): Promise<{ request: string; grant: Grant }> {
  stage.scene('Ada requests access, Ben approves')
  const request = await stage.step('Ada requests ReadOnlyAccess to production, for 30 minutes: pending', async () => {
    const reason = 'looking at last night’s errors'
    const asked = await requestAccess(ada, { account: production.id, reason, duration_seconds: 30 * minutes })
    return requireAnswer(asked, 'pending', 'require')
  })
  await stage.step('Ben and Cleo are notified; Ada is not asked to decide her own request', async () => {
    await Promise.all([ben, cleo].map((approver) => untilNotified(approver, 'request.created', request.id)))
    const own = (await notificationsOf(ada)).filter(({ event_type }) => event_type === 'request.created')
    require(own.length === 0, 'Ada was asked to decide her own request')
  })
  await stage.step(
    'Ada, an approver herself, cannot approve it: no user decides their own request',
    () => ada.refused(403, 'forbidden', 'POST', `/v1/requests/${request.id}/approve`),
    ({ code, message }) => `403 ${code}: ${message}`,
  )
  await stage.step('Ben approves', async () => {
    const reasoning = 'Go ahead, and tell us what it was.'
    const decided = await ben.ask<AccessRequest>(200, 'POST', `/v1/requests/${request.id}/approve`, { reasoning })
    require(decided.status === 'approved', `the request is ${decided.status}, not approved`)
    require(decided.decided_by === ben.id, `\`decided_by\` is ${decided.decided_by}, not Ben`)
    require(decided.decision_reasoning === reasoning, `the reasoning reads \`${decided.decision_reasoning}\``)
  })
  await stage.step('Cleo approves a moment later: refused, since Ben has already decided', async () => {
    const refusal = await cleo.refused(409, 'request_not_pending', 'POST', `/v1/requests/${request.id}/approve`)
    require(refusal.details?.decided_by === ben.id, `the refusal does not name Ben: ${JSON.stringify(refusal)}`)
  })
  const grant = await stage.step(
    'The sandbox confirms: Ada’s access is active, and its end is set',
    () => untilActive(ada, request.id, 30 * minutes),
    deadlineOf,
  )
  await stage.step('Ada is notified', () => untilNotified(ada, 'grant.activated', grant.id))
  return { request: request.id, grant }
}

/** A request that a rule approves by itself. */
export async function approveByRule(stage: Stage, { dan }: Cast): Promise<{ request: string; grant: Grant }> {
  stage.scene('A rule approves by itself')
  const request = await stage.step(
    'Dan requests ReadOnlyAccess to the playground, for 30 minutes: approved at once',
    async () => {
      const asked = requireAnswer(
        await requestAccess(dan, { account: playground.id, reason: 'trying a query', duration_seconds: 30 * minutes }),
        'approved',
        'auto',
      )
      require(asked.decided_by === null, 'a person seems to have decided it')
      return asked
    },
    ({ decision_reasoning }) => `${decision_reasoning}`,
  )
  const grant = await stage.step(
    'The sandbox confirms: active',
    () => untilActive(dan, request.id, 30 * minutes),
    deadlineOf,
  )
  return { request: request.id, grant }
}

/** A refusal with its notice, and break-glass access. */
export async function breakGlass(stage: Stage, { ada, ben, cleo, dan }: Cast) {
  stage.scene('A refusal, and an emergency')
  const silent = { account: production.id, action: 'AdministratorAccess', duration_seconds: 15 * minutes }
  const asked = { ...silent, reason: 'the checkout answers 500 to everybody' }
  await stage.step(
    'Dan requests AdministratorAccess to production: refused, and the rule says why',
    async () => {
      const { notices } = await dan.refused(403, 'policy_denied', 'POST', '/v1/requests', bodyOf(asked))
      require(notices?.length === 1, `the refusal carries the notices ${JSON.stringify(notices)}`)
      return notices[0]
    },
    (notice) => `“${notice}”`,
  )
  await stage.step('Break-glass without a reason is refused', () => {
    return dan.refused(400, 'invalid_input', 'POST', '/v1/requests', bodyOf({ ...silent, break_glass: true }))
  })
  const request = await stage.step('The shop is down. Dan uses break-glass: approved at once', async () => {
    const emergency = { ...asked, break_glass: true }
    return requireAnswer(await requestAccess(dan, emergency), 'approved', 'break_glass')
  })
  await stage.step('Every approver is notified: Ada, Ben and Cleo', () =>
    Promise.all([ada, ben, cleo].map((approver) => untilNotified(approver, 'request.break_glass', request.id))),
  )
  const grant = await stage.step(
    'The sandbox confirms: active',
    () => untilActive(dan, request.id, 15 * minutes),
    deadlineOf,
  )
  return { request: request.id, grant }
}

/** Access that ends early, and a request that is cancelled. */
export async function endEarly(stage: Stage, { ada, ben, dan }: Cast, grant: Grant): Promise<{ request: string }> {
  stage.scene('Early ends')
  await stage.step('Ada ends her access early: revoked at once', async () => {
    const revoked = await ada.ask<Grant>(200, 'POST', `/v1/grants/${grant.id}/revoke`, { reason: 'found it' })
    require(revoked.status === 'revoked', `the grant is ${revoked.status}, not revoked`)
  })
  await stage.step('The sandbox confirms that the access is gone', () =>
    until('the target has taken it away', async () => {
      const { data } = await ada.ask<{ data: { id: string; provisioning_status: string }[] }>(200, 'GET', '/v1/grants')
      return data.find(({ id, provisioning_status }) => id === grant.id && provisioning_status === 'deprovisioned')
    }),
  )
  const request = await stage.step(
    'Dan requests ReadOnlyAccess to production and withdraws the request: cancelled',
    async () => {
      const asked = requireAnswer(
        await requestAccess(dan, { account: production.id, reason: 'reading a bill', duration_seconds: 60 * minutes }),
        'pending',
        'require',
      )
      await dan.ask(204, 'DELETE', `/v1/requests/${asked.id}`)
      return asked
    },
  )
  await stage.step('Ben tries to approve it a moment later: refused', async () => {
    const refusal = await ben.refused(409, 'request_not_pending', 'POST', `/v1/requests/${request.id}/approve`)
    require(refusal.details?.status === 'cancelled', `the request is ${refusal.details?.status}, not cancelled`)
  })
  return { request: request.id }
}

/** Checks that each user got exactly the expected notifications. `ids` are the requests and grants of the demo. */
export async function showNotifications(
  stage: Stage,
  { ada, ben, cleo, dan }: Cast,
  ids: readonly string[],
): Promise<void> {
  stage.scene('Notifications of each user')
  const asApprover = ['request.created', 'request.break_glass', 'request.created']
  const expected: [Person, string[]][] = [
    [ada, ['request.approved', 'grant.activated', 'request.break_glass', 'grant.revoked', 'request.created']],
    [ben, asApprover],
    [cleo, asApprover],
    [dan, ['request.approved', 'grant.activated', 'request.approved', 'grant.activated']],
  ]
  for (const [person, events] of expected) {
    const notifications = await until(`${person.name} is notified of ${events.join(', ')}`, async () => {
      const all = (await notificationsOf(person)).filter(({ resource_id }) => ids.includes(resource_id ?? ''))
      return all.length >= events.length ? all : undefined
    }).catch(async (error: unknown) => {
      throw new Error(`${(error as Error).message}; so far: ${titles(await notificationsOf(person))}`)
    })
    await stage.step(
      person.name,
      async () => {
        const seen = notifications.map(({ event_type }) => event_type)
        const isAll = seen.toSorted().join() === events.toSorted().join()
        require(isAll, `${person.name} should be notified of ${events.join(', ')}, but was notified of ${seen.join(', ')}`)
      },
      () => notifications.map(({ title }) => title).join('\n'),
    )
  }
}

function titles(notifications: readonly Notification[]): string {
  return notifications.map(({ title }) => title).join(' · ')
}

function requestAccess(person: Person, asked: NewRequest): Promise<AccessRequest> {
  return person.ask<AccessRequest>(201, 'POST', '/v1/requests', bodyOf(asked))
}

function bodyOf({ account, action = 'ReadOnlyAccess', ...rest }: NewRequest): unknown {
  return { resource: { type: 'cloud_account', id: account }, action, ...rest }
}

function requireAnswer(request: AccessRequest, status: string, mode: string): AccessRequest {
  const { status: is, approval_mode } = request
  require(is === status && approval_mode === mode, `the request is ${is} (${approval_mode}), not ${status} (${mode})`)
  return request
}

/** The one grant of a request, once its target has confirmed it, with an end `seconds` after its beginning. */
async function untilActive(person: Person, request_id: string, seconds: number): Promise<Grant> {
  const path = `/v1/access/requests/${request_id}`
  const grant = await until('the target has confirmed the access', async () => {
    const { grants } = await person.ask<{ grants: Grant[] }>(200, 'GET', path)
    require(grants.length === 1, `the request has ${grants.length} grants, not one`)
    return grants.find(({ status }) => status !== 'pending')
  })
  require(grant.status === 'active', `the grant is ${grant.status}, not active`)
  const lasts = (Date.parse(grant.expires_at ?? '') - Date.parse(grant.activated_at ?? '')) / 1000
  require(lasts === seconds, `the access would last ${lasts} seconds, not ${seconds}`)
  return grant
}

/** A day and a time to the second, in UTC. */
function deadlineOf({ name, expires_at = '' }: Grant): string {
  return `${name}, until ${expires_at.slice(0, 10)} ${expires_at.slice(11, 19)} UTC`
}

function untilNotified(person: Person, event_type: string, resource_id: string): Promise<Notification> {
  return until(`${person.name} is notified of ${event_type}`, async () =>
    (await notificationsOf(person)).find((one) => one.event_type === event_type && one.resource_id === resource_id),
  )
}

/** A user's notifications, the oldest first. The warning that access ends soon depends on the clock and is left out. */
async function notificationsOf(person: Person): Promise<Notification[]> {
  const { data } = await person.ask<{ data: Notification[] }>(200, 'GET', '/v1/users/me/notifications?limit=200')
  return data.filter(({ event_type }) => event_type !== 'grant.expiring').toReversed()
}
