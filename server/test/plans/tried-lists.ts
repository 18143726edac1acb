/** A list with the values that a test tries: for each filter such that many rows have, few or none. A list of fewer rows has none. */
export type TriedList = {
  params?: Record<string, string>
  /** Who calls; the owner where absent. */
  as?: 'user'
  /** Sent with every call. */
  always?: Record<string, string>
  filters: Record<string, readonly string[]>
  /** Whether pairs of filters are tried too: not for what reads as another list does. */
  isPaired?: false
  /** Filters that no other may be sent with. */
  alone?: readonly string[]
}

/** Ids in the seeded tenant. */
export type Ids = Record<'owner' | 'user' | 'approver' | 'auditor' | 'provisioner', string> &
  Record<'many' | 'few' | 'channel' | 'run' | 'provider' | 'recent', string>

const nothing = '00000000-0000-4000-8000-000000000000'
const [longAgo, later] = ['2001-01-01T00:00:00Z', '2091-01-01T00:00:00Z']
const created = { created_after: [longAgo, later], created_before: [later, longAgo] }
const resource = {
  resource_type: [
    'cloud_account',
    'cloud_db_instance',
    'cloud_storage_bucket',
    'cloud_db_instance,cloud_storage_bucket',
  ],
  resource_id: ['111122223333', 'rare', 'never'],
}
const q = ['usual', 'rare', 'never']

/** How many rows lists have that are not tried: they are read whole, or by what they belong to. */
export const shortLists: Record<string, string> = {
  '/v1/auth/discovery': 'no list',
  '/v1/auth/authorize': 'no list',
  '/v1/catalogue': 'reads accounts through policy, in turns of a bounded length',
  '/v1/notification-channels': 'capped for a tenant',
  '/v1/identity-providers': 'capped for a tenant',
  '/v1/provisioners': 'capped for a tenant',
  '/v1/provisioners/{id}/orphans': 'begins its own index, and has no filters',
  '/v1/provisioners/{id}/standing-access': 'its filters begin its own indexes, and have no equal order',
  '/v1/provisioners/{id}/standing-access/export': 'as the list',
}

export function triedLists(ids: Ids): Record<string, TriedList> {
  return { ...accessLists(ids), ...otherLists(ids) }
}

function accessLists({ owner, user, approver, auditor, provisioner, recent }: Ids): Record<string, TriedList> {
  const requests = {
    status: ['approved', 'denied', 'cancelled', 'denied,cancelled'],
    requester_id: [user, auditor, owner],
    decided_by: [approver, owner, auditor],
    ...resource,
    break_glass: ['false', 'true'],
    decidable_by: ['me'],
    ...created,
    q,
  }
  const grants = {
    user_id: [user, auditor, owner, `${auditor},${owner}`],
    request_id: [nothing],
    status: ['active', 'failed', 'pending', 'failed,pending'],
    provisioning_status: ['successful', 'failed', 'attempting', 'failed,attempting'],
    ...resource,
    action: ['ReadOnly', 'Rare', 'Never'],
    provisioner_id: ['sandbox', provisioner, nothing],
    drifted: ['false', 'true'],
    ends_before: [later, longAgo],
    ...created,
    q,
  }
  const events = {
    type: ['grant.activated', 'policy.created', 'role.created', 'policy.created,role.created'],
    actor: [user, approver, nothing],
    subject: [recent, nothing],
    from: [longAgo, later],
    to: [later, longAgo],
  }
  const requestList = { filters: requests, alone: ['decidable_by'] }
  return {
    '/v1/requests': requestList,
    '/v1/requests/count': { ...requestList, isPaired: false },
    '/v1/grants': { filters: grants },
    '/v1/grants/count': { filters: grants, isPaired: false },
    '/v1/audit-events': { filters: events },
    '/v1/audit-events/export': { isPaired: false, always: { after: recent }, filters: { ...events, after: [recent] } },
  }
}

function otherLists({ user, many, few, channel, run, provider }: Ids): Record<string, TriedList> {
  return {
    '/v1/users': {
      filters: {
        role: ['user', 'auditor', 'nobody', 'auditor,nobody'],
        group: [many, few, nothing],
        active: ['true', 'false'],
        suspended: ['false', 'true'],
        auth_provider: ['local', 'saml', 'oidc', 'saml,oidc'],
        ...created,
        q,
      },
    },
    '/v1/groups': { filters: { source: ['local', 'scim', 'identity_provider'], ...created, q } },
    '/v1/policies': { filters: { ...created, q } },
    '/v1/api-keys': {
      filters: { identity_provider_id: [provider, few, nothing], revoked: ['true', 'false'], ...created, q },
    },
    '/v1/users/me/notifications': { filters: { unread: ['true', 'false'] } },
    '/v1/users/me/notifications (of a user who reads none)': { as: 'user', filters: { unread: ['true', 'false'] } },
    '/v1/notification-channels/{id}/deliveries': {
      params: { id: channel },
      filters: { status: ['delivered', 'failed', 'pending'] },
    },
    '/v1/identity-providers/{id}/sync-runs/{run_id}/changes': {
      params: { id: provider, run_id: run },
      filters: {
        kind: ['user', 'group'],
        change: ['add', 'adopt'],
        outcome: ['planned', 'refused'],
      },
    },
    '/v1/groups/{id}/members': { params: { id: many }, filters: {} },
    '/v1/users/{id}/groups': { params: { id: user }, filters: {} },
    '/v1/roles/{role_id}/holders': { params: { role_id: 'user' }, filters: {} },
    '/v1/actions': { filters: { q } },
    '/v1/roles': { filters: { q } },
    '/v1/cloud/accounts': { filters: { q } },
    '/v1/settings': { filters: {} },
  }
}

/**
 * The queries that are tried: each value of each filter in the usual order, the first and the last value in the others; and each pair of
 * filters, the first value of one with the last value of the other.
 */
export function queriesOf({ always = {}, filters, isPaired, alone = [] }: TriedList, orders: readonly string[]) {
  const all = Object.entries(filters).flatMap(([name, values]) => values.map((value) => ({ [name]: value })))
  const free = Object.entries(filters).filter(([name]) => !alone.includes(name))
  const ends = free.map(([name, values]) => [{ [name]: values[0] ?? '' }, { [name]: values.at(-1) ?? '' }] as const)
  const one = [{}, ...all, ...orders.flatMap((sort) => [{}, ...ends.flat()].map((query) => ({ ...query, sort })))]
  const two = ends.flatMap(([first], n) => ends.flatMap(([, last], m) => (n >= m ? [] : [{ ...first, ...last }])))
  const sent = (queries: readonly Record<string, string>[]) => queries.map((query) => ({ ...always, ...query }))
  return { one: sent(one), two: isPaired === false ? [] : sent(two) }
}
